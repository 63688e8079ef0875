"""The commands of agreement, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "agreement": ("agreement", mark("Show how far the raters agree, on cards and on quality.")),
    "conflicts": ("conflicts", mark("Show where verdicts by hand differ from run to run.")),
}
"""The name of each command, its module here, and what it does."""
