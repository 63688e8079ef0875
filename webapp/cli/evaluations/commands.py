"""The commands of evaluations of files, each module read when its command is called."""

from __future__ import annotations

from webapp.i18n import mark

COMMANDS = {
    "score": ("scoring", mark("Score files: constraints, cited answers, chunks, JSON answers.")),
    "answer": ("answering", mark("Put questions with contexts to a model, for score json-v2.")),
    "eval-set": ("answering", mark("Draw a small set of questions from a large one.")),
}
"""The name of each command, its module here, and what it does."""
