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
            "more",
            30,
            "machine_judges.index",
            mark("Machine judges"),
            sections=("machine_judges", "machine_beside_people"),
            about=mark(
                "For studies in which a language model judges the same cards as people do, "
                "and is compared with them."
            ),
        ),
    ),
    parts={"standing": "machine_judges/_standing.html", "rater": "machine_judges/_rater.html"},
)
