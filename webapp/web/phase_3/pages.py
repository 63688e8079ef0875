"""The pages of phase 3, and who may open them."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.web.frame.doors import Door
from webapp.web.frame.rooms import MenuEntry, Pages
from webapp.web.phase_3 import findings, own_questions, participants, questionnaires, user_studies

PAGES = Pages(
    blueprints=(
        user_studies.blueprint,
        findings.blueprint,
        participants.blueprint,
        own_questions.blueprint,
        questionnaires.blueprint,
    ),
    doors={
        "user_studies": Door.OWNER,
        "findings": Door.OWNER,
        "participants": Door.ANYBODY,
        "participants.rename": Door.GUESTS,
        "participants.link": Door.GUESTS,
        "own_questions": Door.GUESTS,
        "questionnaires": Door.GUESTS,
    },
    entries=(
        MenuEntry(
            "people",
            30,
            "user_studies.show",
            mark("Phase 3"),
            pages="phase 3",
        ),
        MenuEntry(
            "phase 3",
            10,
            "user_studies.show",
            mark("Set-up and links"),
            sections=("user_studies",),
        ),
        MenuEntry(
            "phase 3",
            20,
            "findings.show",
            mark("Participants and figures"),
            sections=("findings",),
        ),
        MenuEntry("phase 3", 30, "findings.questions", mark("Questions")),
        MenuEntry("phase 3", 40, "findings.comments", mark("Comments")),
    ),
    parts={
        "others in the demo": "phase_3/participants/_in_demo.html",
        "phases": "phase_3/findings/_phase.html",
    },
    kept=(
        "joined/rating/rating.css+phase_3/taking_part.css",
        "joined/rating/rating.js+phase_3/taking_part.js",
    ),
)
