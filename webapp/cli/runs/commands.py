"""The commands of runs, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "import": ("importing", mark("Import run files or folders of them.")),
    "delete-run": ("importing", mark("Delete a run, after saying what goes and what stays.")),
    "runs": ("importing", mark("List the runs of the study.")),
}
"""The name of each command, its module here, and what it does."""
