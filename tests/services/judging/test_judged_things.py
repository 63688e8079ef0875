"""One judged thing stands for the same property in every run that shows it."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.judging.rater_rows import summary
from tests.services.runs.runs import YES, card, click, count, query, run, store
from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome, Relevance
from webapp.services.judging import events, live_metrics
from webapp.services.judging.events import AnswerRating
from webapp.services.rating import pages
from webapp.services.rating.pool import QueryFilter
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels


def test_emptiness_is_a_verdict_on_the_question_and_holds_for_every_empty_run(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    read = run(query(1, card("z")), query(2, card("z")), query(3), method="api_only")
    other = imports.store(session, study, read, Labels(), NOW).id
    rating = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    events.rate(session, rater, run_id, 3, rating, click("e1"))

    for each in (run_id, other):
        row = summary(session, rater, each, 3)
        made = live_metrics.summary(row)
        assert (made.complete, made.success.value) == (True, 0)
        assert made.empty_outcome is EmptyOutcome.FALSE_NEGATIVE


def test_one_verdict_serves_every_run_of_a_standalone_question(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    read = run(query(1, card("b"), card("a")), query(2), query(3), method="api_only")
    other = imports.store(session, study, read, Labels(), NOW).id
    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))

    row = summary(session, rater, other, 1)
    assert (row.relevant_count, row.first_relevant_rank, row.open_judgments) == (1, 2, 1)
    assert live_metrics.check(session) == []


def test_a_context_dependent_question_keeps_its_verdicts_to_its_run(
    session: Session, study: Study, rater: Rater
) -> None:
    ids = [
        imports.store(
            session,
            study,
            run(query(1, card("a")), query(2, card("b"), context_dependent=True), method=method),
            Labels(),
            NOW,
        ).id
        for method in ("hybrid", "api_only")
    ]
    events.judge(session, rater, ids[0], 2, 1, YES, click("e1"))
    events.judge(session, rater, ids[0], 1, 1, YES, click("e2"))

    assert summary(session, rater, ids[1], 2).judged_count == 0
    assert summary(session, rater, ids[1], 1).judged_count == 1


def test_another_price_is_another_judged_thing_and_the_earlier_verdict_is_shown(
    session: Session, study: Study, rater: Rater
) -> None:
    cheap = store(session, study, run(query(1, card("a", price=100))))
    dear = store(session, study, run(query(1, card("a", price=200)), method="b"))
    events.judge(session, rater, cheap.id, 1, 1, Relevance.RELEVANT, click("e1"))

    (shown,) = pages.rating_page(session, rater, dear.id, 1, QueryFilter()).cards
    assert shown.relevance is None
    assert shown.earlier is not None
    assert shown.earlier.relevance is Relevance.RELEVANT
    assert shown.earlier.card.price == 100
    assert shown.earlier.differing == ("price",)


@pytest.mark.parametrize(
    ("one", "other", "things"),
    [
        ({"price": 1}, {"price": 1}, 1),
        ({"price": 1}, {}, 1),
        ({"price_note": "sale"}, {"price_note": "rent"}, 2),
        ({"bedrooms": 2}, {"bedrooms": 3}, 2),
        ({"bathrooms": 2}, {"bathrooms": 3}, 1),
        ({"location": "Jl. Cemara"}, {"location": "Jl. Cemara, Kec. Medan Timur"}, 1),
        ({"location": "Jl. Cemara"}, {"location": "Jl. Krakatau"}, 2),
    ],
)
def test_only_what_matters_makes_another_content(
    session: Session, study: Study, one: dict[str, object], other: dict[str, object], things: int
) -> None:
    store(session, study, run(query(1, card("a", **one))))
    store(session, study, run(query(1, card("a", **other)), method="b"))

    assert count(session, JudgedThing) == things
