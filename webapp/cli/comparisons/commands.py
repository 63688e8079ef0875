"""The commands of comparisons, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "compare": ("comparing", mark("Compare runs: figures, intervals, tests, stability.")),
}
"""The name of each command, its module here, and what it does."""
