"""Who may come in where: every address has one of four doors, all in one table.

A door is stated for a whole blueprint or for one endpoint of it, which then comes first. An
address without a stated door is the owner's, and a test asks for one to be stated.
"""

from __future__ import annotations

from enum import StrEnum


class Door(StrEnum):
    """Whom an address answers."""

    ANYBODY = "anybody"
    RATERS = "raters"
    PARTICIPANTS = "participants"
    OWNER = "owner"


DOORS = {
    "static": Door.ANYBODY,
    "health": Door.ANYBODY,
    "language": Door.ANYBODY,
    "ratios": Door.ANYBODY,
    "shell": Door.ANYBODY,
    "sign_in": Door.ANYBODY,
    "sign_in.ask_to_change": Door.OWNER,
    "sign_in.change": Door.OWNER,
    "home": Door.OWNER,
    "home.show": Door.RATERS,
    "rate": Door.RATERS,
    "history": Door.RATERS,
    "agreement": Door.OWNER,
    "adjudications": Door.OWNER,
    "runs": Door.OWNER,
    "offline": Door.OWNER,
    "imports": Door.OWNER,
    "judgments": Door.OWNER,
    "study": Door.OWNER,
    "assignments": Door.OWNER,
    "question_notes": Door.OWNER,
    "conflicts": Door.OWNER,
    "constraints": Door.OWNER,
    "card_decisions": Door.OWNER,
    "card_decisions.decide_blind": Door.RATERS,
    "constraint_agreement": Door.OWNER,
    "gold": Door.OWNER,
    "comparisons": Door.OWNER,
    "rated_comparisons": Door.OWNER,
    "evaluations": Door.OWNER,
    "machine_agreement": Door.OWNER,
    "machine_judges": Door.OWNER,
    "machine_beside_people": Door.OWNER,
    "item_rating": Door.RATERS,
    "measures": Door.RATERS,
    "proof_packs": Door.OWNER,
    "raters": Door.OWNER,
    "user_studies": Door.OWNER,
    "findings": Door.OWNER,
    "participants": Door.ANYBODY,
    "participants.rename": Door.PARTICIPANTS,
    "participants.link": Door.PARTICIPANTS,
    "own_questions": Door.PARTICIPANTS,
    "questionnaires": Door.PARTICIPANTS,
}


def stated(endpoint: str) -> Door | None:
    """Return the door of an endpoint, its own or its blueprint's; ``None`` if there is none."""
    return DOORS.get(endpoint) or DOORS.get(endpoint.partition(".")[0])


def door(endpoint: str | None) -> Door:
    """Return the door of an endpoint; where nothing is, there is nothing to close."""
    if endpoint is None:
        return Door.ANYBODY
    return stated(endpoint) or Door.OWNER
