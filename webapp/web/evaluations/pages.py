"""The pages of evaluations, and who may open them."""

from __future__ import annotations

from webapp.web.evaluations import evaluations, item_rating, machine_agreement
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages

PAGES = Pages(
    blueprints=(
        evaluations.blueprint,
        machine_agreement.blueprint,
        item_rating.blueprint,
    ),
    doors={
        "evaluations": Door.OWNER,
        "machine_agreement": Door.OWNER,
        "item_rating": Door.RATERS,
    },
)
