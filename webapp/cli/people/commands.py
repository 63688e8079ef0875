"""The commands of raters and the owner, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "invite": ("raters", mark("Make a link by which a rater comes in.")),
    "raters": ("raters", mark("List the raters, their progress and how they sign in.")),
}
"""The name of each command, its module here, and what it does."""
