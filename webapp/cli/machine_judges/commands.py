"""The commands of machine judges, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "judge": ("judging", mark("Let a language model judge as a rater marked as a machine.")),
}
"""The name of each command, its module here, and what it does."""
