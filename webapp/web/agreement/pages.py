"""The pages of agreement, and who may open them."""

from __future__ import annotations

from webapp.web.agreement import adjudications, agreement, conflicts
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages

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
)
