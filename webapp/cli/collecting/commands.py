"""The commands of collecting answers, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "collect": ("collecting", mark("Put the questions to a chatbot and import its answers.")),
    "chatbot": ("collecting", mark("Run the demo chatbot over the sample's catalogue.")),
}
"""The name of each command, its module here, and what it does."""
