from __future__ import annotations

from tests.metrics.comparisons.compared import compared
from webapp.metrics.comparisons.stability import (
    Stability,
    StabilityLine,
    VariedPart,
    stability,
)


def line(found: Stability, change: VariedPart, figure: str) -> StabilityLine:
    (one,) = [entry for entry in found.lines if (entry.change, entry.figure) == (change, figure)]
    return one


def test_an_order_that_rests_on_one_question_does_not_survive_leaving_it_out() -> None:
    # P@5: a 1, 0, .5 = .5; b 0, .5, .5 = .333. Without question 1: a .25, b .5.
    found = stability([compared("a", "1", "0", "10"), compared("b", "0", "10", "10")])

    questions = line(found, VariedPart.QUESTION, "mean_precision_at_5")
    assert questions.tried == 3
    assert [moved.what for moved in questions.moved] == ["1"]
    assert [moved.what for moved in questions.unseated] == ["1"]
    assert not questions.survives
    assert found.tried == sum(entry.tried for entry in found.lines)
    assert found.moved >= found.unseated >= 1
    level = stability([compared("a", "1", "10"), compared("b", "0", "10")])
    assert line(level, VariedPart.QUESTION, "mean_precision_at_5").survives  # both at 0.5


def test_a_category_is_left_out_whole() -> None:
    categories = ["x", "x", "y"]
    found = stability(
        [
            compared("a", "1", "1", "0", categories=categories),
            compared("b", "0", "0", "1", categories=categories),
        ]
    )

    assert [v.what for v in line(found, VariedPart.CATEGORY, "success_rate").moved] == ["x"]


def test_another_cutoff_may_change_the_order_of_precision_alone() -> None:
    # a is right at rank 1 and wrong after, b the other way round.
    found = stability([compared("a", "10000"), compared("b", "01111")])

    cutoffs = line(found, VariedPart.CUTOFF, "mean_precision_at_5")
    assert (cutoffs.tried, [moved.what for moved in cutoffs.moved]) == (3, ["1"])
    assert not [entry for entry in found.lines if entry.change is VariedPart.CUTOFF][1:]


def test_empty_lists_counted_or_not() -> None:
    # P@5: a 1 over one list, b 0.5 over two. With its false negative at 0, a has 0.5 of 2,
    # b 0.5; with two, a third.
    found = stability([compared("a", "1", "f", "f"), compared("b", "10", "10", "c")])

    assert [v.what for v in line(found, VariedPart.EMPTIES, "mean_precision_at_5").moved] == [
        "counted"
    ]
    # Success: a 1/3, b 3/3; with results only both are 1.
    assert line(found, VariedPart.EMPTIES, "success_rate").survives


def test_another_rater_and_another_rule_are_tried_as_given() -> None:
    base = [compared("a", "1"), compared("b", "0")]
    turned = [compared("a", "0"), compared("b", "1")]

    found = stability(
        base, without_rater={"Ani": base, "Budi": turned}, other_rules={"majority": base}
    )

    raters = line(found, VariedPart.RATER, "mrr")
    assert (raters.tried, [moved.what for moved in raters.moved]) == (2, ["Budi"])
    assert line(found, VariedPart.RULE, "mrr").survives


def test_a_single_question_cannot_be_left_out() -> None:
    found = stability([compared("a", "1"), compared("b", "0")])

    assert {entry.change for entry in found.lines} == {VariedPart.CUTOFF, VariedPart.EMPTIES}
