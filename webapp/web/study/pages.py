"""The pages of the study, and who may open them."""

from __future__ import annotations

from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages
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
)
