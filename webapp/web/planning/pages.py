"""The pages of planning, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages
from webapp.web.planning import planning, sample

PAGES = Pages(
    blueprints=(planning.blueprint, sample.blueprint),
    doors={
        "planning": Door.OWNER,
        "samples": Door.OWNER,
    },
    entries=(
        MenuEntry(
            "more",
            40,
            "planning.show",
            mark("Rating plan"),
            sections=("planning",),
            about=mark(
                "For those who decide how much is rated: how many questions and hours a "
                "difference takes, and when rating may end."
            ),
        ),
    ),
)
