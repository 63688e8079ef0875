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
        MenuEntry("study", 40, "agreement.show", mark("Agreement"), pages="agreement"),
        MenuEntry(
            "agreement",
            10,
            "agreement.show",
            mark("Between raters"),
            sections=("agreement",),
        ),
        MenuEntry(
            "agreement",
            20,
            "adjudications.show",
            mark("Adjudication"),
            sections=("adjudications",),
        ),
        MenuEntry(
            "agreement", 30, "conflicts.show", mark("Conflict report"), sections=("conflicts",)
        ),
    ),
)
