"""The commands of the study, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {"study": ("settings", mark("Show the settings of the study, or change one."))}
"""The name of each command, its module here, and what it does."""
