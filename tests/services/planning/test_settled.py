"""Which orders of two runs no open verdict can turn any more."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.metrics.planning.settled import SettledOrder, SettledOrders
from relevansi.records import EmptyOutcome, QueryState, Scale
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.planning import samples, settled
from relevansi.services.runs import reports
from relevansi.services.runs.reports import MAJORITY, Rule
from relevansi.services.study import assignments, studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import NO, UNSURE, YES, card, click, query

P5, SUCCESS = "mean_precision_at_5", "success_rate"


def orders_of(session: Session, study: Study, rule: Rule | None = None) -> SettledOrders:
    (question_set,) = samples.question_sets(session, study)
    ordered_runs = samples.runs_of(session, study, question_set.id)
    return settled.settled_orders(
        session, study, ordered_runs, rule or reports.rule_of(session, study)
    )


def order(session: Session, study: Study, figure: str, rule: Rule | None = None) -> SettledOrder:
    orders = {order.figure: order for order in orders_of(session, study, rule).orders}
    return orders[figure]


def judge(
    session: Session, rater: Rater, run: str, query_id: int, rank: int, verdict: str | None
) -> None:
    name = f"{rater.id}-{run}-{query_id}-{rank}-{verdict}"
    judgments.judge(session, rater, run, query_id, rank, verdict, click(name))


@pytest.fixture(name="hybrid")
def _hybrid(session: Session, study: Study) -> str:
    stored(
        session, study, "api_only", *[query(n, card(f"a{n}")) for n in (1, 2)], query(3, card("s"))
    )
    return stored(
        session, study, "hybrid", *[query(n, card(f"h{n}")) for n in (1, 2)], query(3, card("s"))
    )


def test_an_empty_list_is_one_open_outcome_for_all_runs_and_cannot_tell_stays(
    session: Session, study: Study, rater: Rater
) -> None:
    set_study(session, study, cannot_tell="left_out")
    first = stored(session, study, "api_only", query(1), query(2, card("a")))
    stored(session, study, "hybrid", query(1), query(2, state=QueryState.FAILED))

    success = order(session, study, SUCCESS)
    # Question 1 is the same in both runs; question 2 is 0 or 1 against the failed call's 0.
    assert (success.low, success.high, success.open_questions) == (0.0, 0.5, (2,))
    outcome = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    judgments.rate(session, rater, first, 1, outcome, click("empty"))
    judge(session, rater, first, 2, 1, UNSURE)

    success = order(session, study, SUCCESS)
    assert (success.settled, success.higher, success.low, success.n) == (True, None, 0.0, 1)
    set_study(session, study, cannot_tell="not_relevant")
    success = order(session, study, SUCCESS)
    # Question 2 is a pair too: 0 for the card that is not relevant, and 0 for the failed call.
    assert (success.settled, success.higher, success.low, success.n) == (True, None, 0.0, 2)


def test_cannot_tell_as_not_relevant_settles_precision_with_it_in_the_denominator(
    session: Session, study: Study, rater: Rater
) -> None:
    """One lists a, b, c, the other a: a relevant, b cannot tell, c open."""
    first = stored(session, study, "api_only", query(1, card("a"), card("b"), card("c")))
    stored(session, study, "hybrid", query(1, card("a")))
    judge(session, rater, first, 1, 1, YES)
    judge(session, rater, first, 1, 2, UNSURE)

    # 1/3 - 1 to 2/3 - 1; left out 1/2 - 1 to 2/2 - 1.
    precision = order(session, study, "mean_overall_precision")
    assert (precision.low, precision.high) == pytest.approx((-2 / 3, -1 / 3))
    set_study(session, study, cannot_tell="left_out")
    precision = order(session, study, "mean_overall_precision")
    assert (precision.low, precision.high) == pytest.approx((-1 / 2, 0))


def test_a_majority_counts_once_the_raters_at_work_cannot_turn_it(
    session: Session, study: Study, rater: Rater, hybrid: str
) -> None:
    majority = Rule(MAJORITY)
    second = studies.add_rater(session, study, "Ani", NOW)
    studies.add_rater(session, study, "never begins", NOW)
    judge(session, rater, hybrid, 1, 1, YES)
    assert orders_of(session, study, majority).judged == 1  # one rater is at work
    judge(session, second, hybrid, 2, 1, YES)

    assert orders_of(session, study, majority).judged == 0  # each waits for the other
    judge(session, second, hybrid, 1, 1, YES)
    assert orders_of(session, study, majority).judged == 1
    judge(session, rater, hybrid, 2, 1, NO)
    assert orders_of(session, study, majority).judged == 1  # a tie stays open
    set_study(session, study, overlap=1)
    judge(session, rater, hybrid, 3, 1, UNSURE)
    assert orders_of(session, study, majority).judged == 2  # nobody else gets the question


def test_of_two_middle_grades_the_lower_settles_an_item(
    session: Session, study: Study, rater: Rater, hybrid: str
) -> None:
    set_study(session, study, scale=Scale(3, 2))
    second = studies.add_rater(session, study, "Ani", NOW)
    for number, grade in enumerate(("3", "0"), 1):
        judge(session, rater, hybrid, number, 1, grade)
    judge(session, second, hybrid, 1, 1, "1")

    assert orders_of(session, study, Rule(MAJORITY)).judged == 2  # whatever is said beside the 0
    judge(session, second, hybrid, 2, 1, "unsure")
    assert orders_of(session, study, Rule(MAJORITY)).judged == 2


def test_each_grade_has_votes_of_its_own_where_the_majority_of_grades_counts(
    session: Session, study: Study, rater: Rater, hybrid: str
) -> None:
    """Two relevant grades that differ leave an item open, as they do in the figures."""
    set_study(session, study, scale=Scale(3, 2), merging="majority")
    second = studies.add_rater(session, study, "Ani", NOW)
    for number, grades in enumerate((("2", "3"), ("3", "3"), ("2", "unsure")), 1):
        for judging_rater, grade in zip((rater, second), grades, strict=True):
            judge(session, judging_rater, hybrid, number, 1, grade)

    # The second and the third: nobody is left to turn them.
    assert orders_of(session, study, Rule(MAJORITY)).judged == 2
    judge(session, second, hybrid, 1, 1, "2")
    assert orders_of(session, study, Rule(MAJORITY)).judged == 3


def test_only_raters_who_get_a_question_are_waited_for(
    session: Session, study: Study, rater: Rater, hybrid: str
) -> None:
    second = studies.add_rater(session, study, "Ani", NOW)
    (numbered,) = assignments.numbered(session, study)
    assignments.assign(session, second, frozenset({numbered.ids[2]}), NOW)
    judge(session, rater, hybrid, 1, 1, YES)
    judge(session, second, hybrid, 2, 1, YES)

    assert orders_of(session, study, Rule(MAJORITY)).judged == 1


def test_questions_outside_a_sample_have_no_part_in_an_order(
    session: Session, study: Study, rater: Rater, hybrid: str
) -> None:
    (question_set,) = samples.question_sets(session, study)
    rule = samples.draw_sample(session, rater, question_set, 2, NOW, seed=1)
    assert sorted(samples.chosen_rule(session, rule).sample) == [2, 3]

    assert order(session, study, P5).n == 2
    assert order(session, study, P5).open_questions == (2,)
    samples.end_rule(session, study, question_set, NOW)
    assert order(session, study, P5).n == 3
    assert hybrid
