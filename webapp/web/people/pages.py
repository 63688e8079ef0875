"""The pages of people: who comes in, and what they did, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages
from webapp.web.people import history, raters, sign_in

PAGES = Pages(
    blueprints=(
        history.blueprint,
        raters.blueprint,
        sign_in.blueprint,
    ),
    doors={
        "sign_in": Door.ANYBODY,
        "sign_in.ask_to_change": Door.OWNER,
        "sign_in.change": Door.OWNER,
        "history": Door.RATERS,
        "raters": Door.OWNER,
    },
    entries=(
        MenuEntry("rater", 30, "history.show", mark("History"), sections=("history",)),
        MenuEntry("study", 20, "raters.index", mark("People"), pages="people"),
        MenuEntry("people", 10, "raters.index", mark("Raters"), sections=("raters",)),
        MenuEntry("results", 40, "history.show", mark("History"), sections=("history",)),
    ),
)
