"""The pages of gold questions, and who may open them."""

from __future__ import annotations

from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import Pages
from webapp.web.gold import card_decisions, constraint_agreement, constraints, gold

PAGES = Pages(
    blueprints=(
        constraint_agreement.blueprint,
        constraints.blueprint,
        card_decisions.blueprint,
        gold.blueprint,
    ),
    doors={
        "constraints": Door.OWNER,
        "card_decisions": Door.OWNER,
        "card_decisions.decide_blind": Door.RATERS,
        "constraint_agreement": Door.OWNER,
        "gold": Door.OWNER,
    },
    parts={"run": "gold/_run.html"},
    under={"constraints": "runs.index", "constraint_agreement": "runs.index", "gold": "runs.index"},
    kept=("gold/card_badges.css", "gold/card_badges.js"),
)
