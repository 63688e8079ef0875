"""The pages of the study, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages
from webapp.web.study import assignments, home, study

PAGES = Pages(
    blueprints=(
        home.blueprint,
        study.blueprint,
        assignments.blueprint,
    ),
    doors={
        "home": Door.OWNER,
        "home.show": Door.RATERS,
        "study": Door.OWNER,
        "assignments": Door.OWNER,
    },
    entries=(
        MenuEntry("owner", 10, "home.show", mark("Home"), sections=("home",)),
        MenuEntry("rater", 5, "home.show", mark("Home"), sections=("home",)),
        MenuEntry("owner", 60, "study.show", mark("Study"), pages="study"),
        MenuEntry("study", 10, "study.show", mark("Set-up"), pages="set-up"),
        MenuEntry("set-up", 10, "study.show", mark("Guidelines and rules"), sections=("study",)),
        MenuEntry(
            "people", 20, "assignments.show", mark("Who judges what"), sections=("assignments",)
        ),
        MenuEntry("study", 30, "study.standing", mark("Results"), pages="results"),
        MenuEntry("study", 40, "study.more", mark("More"), pages="more"),
        MenuEntry("results", 10, "study.standing", mark("Progress")),
    ),
)
