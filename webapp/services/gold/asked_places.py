"""The places that gold questions ask for: cards show how far they are from them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import ColumnElement, exists
from sqlalchemy.orm import Session

from webapp.db.tables.gold import GoldVersion
from webapp.db.tables.runs import Query, Run
from webapp.importers.gold import known_places
from webapp.importers.gold.gold_questions import GoldFile
from webapp.metrics.gold.constraints import GoldQuestion
from webapp.services.gold import gold
from webapp.services.rating.particulars import AskedPlace

_WORD = re.compile(r"\w+")


def knows_any() -> ColumnElement[bool]:
    """Return the condition on ``Run`` that its question set has gold questions."""
    return exists().where(GoldVersion.question_set_id == Run.question_set_id)


def of_queries(session: Session, queries: Sequence[Query]) -> dict[int, AskedPlace]:
    """Return the places that the questions of one question set ask for, by their numbers."""
    file = gold.asked_in(session, queries)
    if file is None:
        return {}
    found = {question.query_id: _place(file, question) for question in file.questions}
    return {number: place for number, place in found.items() if place is not None}


def _place(file: GoldFile, question: GoldQuestion) -> AskedPlace | None:
    """Return the place that a gold question asks for: its own point, else a known place."""
    asked = question.constraints.location
    if asked and asked.latitude is not None and asked.longitude is not None:
        name = asked.keywords[0] if asked.keywords else ""
        return AskedPlace(name, asked.latitude, asked.longitude)
    return _known_place(file, question)


def _known_place(file: GoldFile, question: GoldQuestion) -> AskedPlace | None:
    """Return the known place that the question names, in its constraint or in its text."""
    asked = question.constraints.location
    words = asked.keywords if asked else (question.text,)
    said = _spelled(" ".join(words))
    for place in known_places.places(file.extra.get(known_places.PLACES)):
        for name in (place.name, *place.keywords):
            if _spelled(name) in said:
                return AskedPlace(place.name, place.latitude, place.longitude)
    return None


def _spelled(text: str) -> str:
    """Return the words of `text` with a blank around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
