"""The commands of proof packs, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "verify": ("verifying", mark("Recompute a proof pack and say equal or what differs.")),
}
"""The name of each command, its module here, and what it does."""
