"""The pages of the one-file page, and who may open them."""

from __future__ import annotations

from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages
from webapp.web.offline import offline

PAGES = Pages(
    blueprints=(offline.blueprint,),
    doors={
        "offline": Door.OWNER,
    },
    parts={"exports of a run": "offline/_export.html"},
)
