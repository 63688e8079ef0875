"""The pages of long work, and who may open them."""

from __future__ import annotations

from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages
from webapp.web.workers import long_work

PAGES = Pages(
    blueprints=(long_work.blueprint,),
    doors={"long_work": Door.OWNER},
    under={"long_work": "runs.index"},
)
