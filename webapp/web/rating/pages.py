"""The pages of rating: where verdicts are given, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages
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
    entries=(
        MenuEntry("rater", 10, "rate.next_one", mark("Rating"), sections=("rate",)),
        MenuEntry(
            "set-up",
            20,
            "question_notes.show",
            mark("Notes on questions"),
            sections=("question_notes",),
        ),
    ),
    under={"judgments": "runs.index"},
    kept=("joined/rating/rating.css", "joined/rating/rating.js"),
)
