"""The commands of planning, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "plan": ("planning", mark("Say how many questions, verdicts and hours a difference takes.")),
    "sample": ("planning", mark("Draw questions at random, or say how far the sample is.")),
    "estimate": ("planning", mark("Estimate a figure from a sample of the questions.")),
}
"""The name of each command, its module here, and what it does."""
