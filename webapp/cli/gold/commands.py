"""The commands of gold questions, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "gold": ("gold", mark("Take gold questions in or out: what each question asks.")),
    "manual-input": ("manual_input", mark("Take decisions by hand on a run's cards in or out.")),
}
"""The name of each command, its module here, and what it does."""
