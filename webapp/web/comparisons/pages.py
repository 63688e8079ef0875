"""The pages of comparisons, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.comparisons import comparisons, rated_comparisons
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages

PAGES = Pages(
    blueprints=(
        comparisons.blueprint,
        rated_comparisons.blueprint,
    ),
    doors={
        "comparisons": Door.OWNER,
        "rated_comparisons": Door.OWNER,
    },
    entries=(
        MenuEntry(
            "owner",
            30,
            "comparisons.show",
            mark("Comparison"),
            sections=("comparisons", "rated_comparisons"),
        ),
    ),
)
