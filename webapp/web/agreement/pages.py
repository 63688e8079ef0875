"""The pages of agreement, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.agreement import adjudications, agreement, conflicts
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages

PAGES = Pages(
    blueprints=(
        agreement.blueprint,
        adjudications.blueprint,
        conflicts.blueprint,
    ),
    doors={
        "agreement": Door.OWNER,
        "adjudications": Door.OWNER,
        "conflicts": Door.OWNER,
    },
    entries=(
        MenuEntry("results", 20, "agreement.show", mark("Agreement"), sections=("agreement",)),
        MenuEntry(
            "results", 30, "adjudications.show", mark("Adjudication"), sections=("adjudications",)
        ),
        MenuEntry(
            "more",
            20,
            "conflicts.show",
            mark("Conflict report"),
            sections=("conflicts",),
            about=mark(
                "For those whose runs were judged by hand one at a time before: where those "
                "verdicts contradict each other."
            ),
        ),
    ),
)
