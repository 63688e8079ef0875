from __future__ import annotations

import pytest

from tests.metrics.comparisons.compared import QUICK, compared, differences_of
from webapp.metrics.comparisons.comparisons import compare


def test_what_a_run_lacks_is_said_and_a_question_not_run_is_in_no_pair() -> None:
    first = compared("a", "1", ".", "!", "~", None, qualities=[4])
    second = compared("b", "1", "1", "1", "1", "1")

    found = compare([first, second], rule="majority", settings=QUICK)

    lacks = found.contenders[0].missing
    assert (lacks.not_run, lacks.incomplete, lacks.failed, lacks.unreadable) == (
        (5,),
        (2,),
        (3,),
        (4,),
    )
    assert lacks.unrated_quality == (2, 3)  # a failed call has a quality too
    assert lacks.partial
    assert not found.contenders[1].missing.partial
    assert found.questions[4].answers[0] is None
    assert differences_of(found, "success_rate")[0].n == 2  # questions 1 and 3


def test_a_run_that_nobody_judged_is_not_rated_even_where_calls_failed() -> None:
    found = compare([compared("a", ".", "!"), compared("b", "1", "0")], rule="majority")

    assert [contender.rated for contender in found.contenders] == [False, True]
    assert found.order("mean_precision_at_5") == (("b",),)


def test_questions_stand_in_set_order_with_how_far_the_runs_lie_apart() -> None:
    runs = [compared("a", "10", "f", "c"), compared("b", "11", "1", "c")]

    found = compare(runs, rule="majority", settings=QUICK)

    assert [line.position for line in found.questions] == [1, 2, 3]
    assert [line.spread for line in found.questions] == [0.5, 1.0, None]


def test_categories_have_their_own_figures() -> None:
    categories = ["price", "place", "price"]
    runs = [
        compared("a", "1", "0", "0", categories=categories),
        compared("b", "1", "1", "1", categories=categories),
    ]

    found = compare(runs, rule="majority", settings=QUICK)

    assert found.categories == ("price", "place")
    assert found.contenders[0].categories["price"]["mean_precision_at_5"].value == 0.5


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"]])
def test_a_comparison_takes_two_different_runs(names: list[str]) -> None:
    with pytest.raises(ValueError, match="two runs or more"):
        compare([compared(name, "1") for name in names], rule="majority")
