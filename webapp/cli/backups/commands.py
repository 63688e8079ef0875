"""The commands of backups and moves, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "backup": ("backing_up", mark("Write everything to one file, while it is in use.")),
    "restore": ("backing_up", mark("Put a backup in the place of the database.")),
    "move": ("moving", mark("Take everything into another, empty database.")),
}
"""The name of each command, its module here, and what it does."""
