"""One question of a comparison shows every run's list with the verdicts of one rule."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.services.comparisons.stored_runs import stored
from tests.services.runs.runs import YES, card, click, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.services.comparisons import chosen_runs
from webapp.services.comparisons.chosen_runs import Side
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating, UnknownQuery
from webapp.services.runs import reports
from webapp.services.runs.runs import UnknownRun

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture(name="pair")
def _pair(session: Session, study: Study) -> tuple[str, str]:
    """Hybrid answered questions 1 to 3; API answered 1 and 3 with lists of its own."""
    hybrid = stored(
        session, study, "hybrid", query(1, card("a"), card("b")), query(2, card("c")), query(3)
    )
    asked = query(1, card("b"), card("d")), query(3, card("e"))
    return hybrid, stored(session, study, "api_only", *asked, hour=1)


def test_a_card_of_both_lists_has_one_verdict_and_names_its_rank_in_the_other(
    session: Session, study: Study, rater: Rater, pair: tuple[str, str]
) -> None:
    events.judge(session, rater, pair[0], 1, 2, YES, click("b"))
    events.rate(session, rater, pair[1], 1, AnswerRating(notes="fine"), click("n"))

    found = chosen_runs.find(session, study, pair, 1, reports.of_rater(rater))
    hybrid, api = found.sides
    shown = [(card.slug, verdict, elsewhere) for _, card, verdict, elsewhere in hybrid.results]
    assert shown == [("a", None, []), ("b", YES, [("API Only", 1)])]
    assert [one[2] for one in api.results] == [YES, None]
    assert api.results[0][3] == [("Hybrid", 2)]
    assert (hybrid.notes, api.notes) == ("", "fine")
    assert api.answer is not None
    assert api.answer.summary.first_relevant_rank == 1


def test_neighbours_are_the_questions_of_any_of_the_runs(
    session: Session, study: Study, rater: Rater, pair: tuple[str, str]
) -> None:
    rule = reports.of_rater(rater)
    found = [chosen_runs.find(session, study, pair, position, rule) for position in (1, 2, 3)]

    assert [(one.previous, one.next) for one in found] == [(None, 2), (1, 3), (2, None)]
    assert found[1].sides[1] == Side("API Only")  # it was not asked question 2
    alone = chosen_runs.find(session, study, [pair[1]], 1, rule)
    assert (alone.previous, alone.next) == (None, 3)  # API alone was never asked question 2


def test_a_place_without_a_question_and_an_unknown_run_are_not_found(
    session: Session, study: Study, rater: Rater, pair: tuple[str, str]
) -> None:
    with pytest.raises(UnknownQuery):
        chosen_runs.find(session, study, pair, 4, reports.of_rater(rater))
    with pytest.raises(UnknownRun):
        chosen_runs.find(session, study, [*pair, "gone"], 1, reports.of_rater(rater))
