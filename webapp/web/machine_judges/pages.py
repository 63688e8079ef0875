"""The pages of machine judges, and who may open them."""

from __future__ import annotations

from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages
from webapp.web.machine_judges import beside_people, judges

PAGES = Pages(
    blueprints=(
        judges.blueprint,
        beside_people.blueprint,
    ),
    doors={
        "machine_judges": Door.OWNER,
        "machine_beside_people": Door.OWNER,
    },
)
