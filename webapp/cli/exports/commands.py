"""The commands of exports and figures, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "metrics": ("exporting", mark("Print the figures of a run or of a rated CSV.")),
    "export": (
        "exporting",
        mark("Write a run as CSV, XLSX, TREC files or JSON, or all in one file."),
    ),
    "export-tree": ("exporting", mark("Write every run as the folders of the original scripts.")),
    "check": (
        "exporting",
        mark("Recompute every figure and compare source files with their SHA-256."),
    ),
}
"""The name of each command, its module here, and what it does."""
