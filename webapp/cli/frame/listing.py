"""The commands of serving and the database, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "demo": ("demo", mark("Open the demo, a finished study, in the browser.")),
    "serve": ("serving", mark("Serve the app on the configured database.")),
    "upgrade": ("serving", mark("Bring the database to this version of the program.")),
}
"""The name of each command, its module here, and what it does."""
