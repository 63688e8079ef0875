"""The pages of proof packs, and who may open them."""

from __future__ import annotations

from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages
from webapp.web.proof_packs import packs

PAGES = Pages(
    blueprints=(packs.blueprint,),
    doors={
        "proof_packs": Door.OWNER,
    },
    parts={
        "exports of a run": "proof_packs/_export.html",
        "exports of the study": "proof_packs/_study.html",
    },
)
