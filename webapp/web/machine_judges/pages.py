"""The pages of machine judges, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages
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
    entries=(
        MenuEntry(
            "people",
            30,
            "machine_judges.index",
            mark("Machine judges"),
            sections=("machine_judges", "machine_beside_people"),
        ),
    ),
    parts={"standing": "machine_judges/_standing.html", "rater": "machine_judges/_rater.html"},
)
