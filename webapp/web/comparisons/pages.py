"""The pages of comparisons, and who may open them."""

from __future__ import annotations

from webapp.web.comparisons import comparisons, rated_comparisons
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages

PAGES = Pages(
    blueprints=(
        comparisons.blueprint,
        rated_comparisons.blueprint,
    ),
    doors={
        "comparisons": Door.OWNER,
        "rated_comparisons": Door.OWNER,
    },
)
