"""The pages of evaluations, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.services.evaluations.item_rating import has_items
from webapp.web.evaluations import downloads, evaluations, item_rating, machine_agreement
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages

PAGES = Pages(
    blueprints=(
        evaluations.blueprint,
        downloads.blueprint,
        machine_agreement.blueprint,
        item_rating.blueprint,
    ),
    doors={
        "evaluations": Door.OWNER,
        "evaluation_downloads": Door.OWNER,
        "machine_agreement": Door.OWNER,
        "item_rating": Door.RATERS,
    },
    entries=(
        MenuEntry(
            "more",
            10,
            "evaluations.index",
            mark("Evaluation"),
            sections=("evaluations", "evaluation_downloads", "machine_agreement"),
            about=mark(
                "For studies that score cited answers, retrieved chunks or answers in JSON by "
                "fixed rules, with people beside the machine."
            ),
        ),
        MenuEntry(
            "rater",
            20,
            "item_rating.index",
            mark("Items"),
            sections=("item_rating",),
            needs=has_items,
        ),
    ),
)
