"""The pages of rating: where verdicts are given, and who may open them."""

from __future__ import annotations

from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages
from webapp.web.rating import judgments, question_notes, rate

PAGES = Pages(
    blueprints=(
        judgments.blueprint,
        rate.blueprint,
        question_notes.blueprint,
    ),
    doors={
        "rate": Door.RATERS,
        "judgments": Door.OWNER,
        "question_notes": Door.OWNER,
    },
)
