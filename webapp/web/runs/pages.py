"""The pages of runs, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages
from webapp.web.runs import imports, measures, runs

PAGES = Pages(
    blueprints=(
        imports.blueprint,
        runs.blueprint,
        measures.blueprint,
    ),
    doors={
        "runs": Door.OWNER,
        "imports": Door.OWNER,
        "measures": Door.ANYBODY,
    },
    entries=(
        MenuEntry("owner", 20, "runs.index", mark("Runs"), sections=("runs",)),
        MenuEntry("owner", 50, "imports.show", mark("Import"), sections=("imports",)),
    ),
)
