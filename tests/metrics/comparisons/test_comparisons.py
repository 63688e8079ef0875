"""Runs are paired by question, and their order is tried otherwise, by hand."""

from __future__ import annotations

import pytest
import scipy  # type: ignore[import-untyped]
from msgspec.structs import replace

from relevansi.metrics.comparisons.comparisons import compare
from relevansi.metrics.comparisons.differences import (
    MCNEMAR,
    SMALL,
    ComparedRun,
    Difference,
    averaged_value,
    conversations,
    ranked,
    value_of,
)
from relevansi.metrics.comparisons.stability import Stability, StabilityLine, VariedPart, stability
from tests.metrics.comparisons.compared import compared, differences_of


def test_a_figure_averages_the_number_it_has_for_a_question() -> None:
    (listed, false_negative, failed, unreadable) = compared("a", "10", "f", "!", "~").queries

    assert averaged_value(listed, "mean_precision_at_5") == 0.5
    assert [averaged_value(query, "coverage") for query in (listed, false_negative, failed)] == [
        1,
        0,
        0,
    ]
    assert averaged_value(unreadable, "coverage") is None
    assert (
        averaged_value(listed, "original_composite") is None
    )  # it averages no numbers of questions


def test_a_false_negative_is_at_zero_only_on_request() -> None:
    (false_negative, correct) = compared("a", "f", "c").queries

    figure = "mean_precision_at_5"
    assert ranked({"a": 0.1 + 0.2, "b": 0.3, "c": None}) == (("a", "b"),)
    assert value_of(false_negative, figure, false_negatives_at_zero=False) is None
    assert value_of(false_negative, figure, false_negatives_at_zero=True) == 0.0
    assert value_of(correct, figure, false_negatives_at_zero=True) is None


def test_what_a_run_lacks_is_listed_and_a_question_not_run_is_in_no_pair() -> None:
    first = compared("a", "1", ".", "!", "~", None, qualities=[4])
    second = compared("b", "1", "1", "1", "1", "1")

    comparison = compare([first, second], rule="majority")

    lacks = comparison.contenders[0].missing
    assert (lacks.not_run, lacks.incomplete, lacks.failed, lacks.unreadable) == (
        (5,),
        (2,),
        (3,),
        (4,),
    )
    assert lacks.unrated_quality == (2, 3)  # a failed call has a quality too
    assert lacks.partial
    assert not comparison.contenders[1].missing.partial
    assert comparison.questions[4].answers[0] is None
    assert differences_of(comparison, "success_rate")[0].n == 2  # questions 1 and 3
    assert [line.spread for line in comparison.questions] == [0.0, None, None, None, None]
    bare = compare([compared("a", ".", "!"), compared("b", "1", "0")], rule="majority")
    assert [contender.rated for contender in bare.contenders] == [False, True]
    assert bare.order("mean_precision_at_5") == (("b",),)


def difference(figure: str, *rows: tuple[str, str], at_zero: bool = False) -> Difference:
    """Return what two runs with these rows differ by in one figure."""
    first = compared("a", *(row[0] for row in rows))
    second = compared("b", *(row[1] for row in rows))
    differences = differences_of(compare([first, second], rule="majority"), figure)
    return next(entry for entry in differences if entry.false_negatives_at_zero == at_zero)


@pytest.mark.parametrize(
    ("figure", "rows", "at_zero", "counts", "mean", "headline"),
    [
        (  # (1 - 0.5) and (1 - 1) over 2; (1 + .5 + 0 + 1) / 4 against (.5 + 1) / 2
            "mean_precision_at_5",
            [("11", "10"), ("10", "c"), ("00", "0."), ("1", "1")],
            False,
            (2, 1, 1, 0),
            0.25,
            0.625 - 0.75,
        ),
        (  # (1 - 0) and (0 - 0) over 2
            "mean_precision_at_5",
            [("11", "f"), ("10", "c"), ("f", "f")],
            True,
            (2, 1, 1, 0),
            0.5,
            None,
        ),
        ("mrr_answerable", [("01", "f"), ("1", "1")], True, (2, 1, 1, 0), 0.25, 0.25),
        ("mean_precision_at_5", [("1", "c"), ("c", "1")], False, (0, 0, 0, 0), None, 0.0),
    ],
)
def test_a_pair_is_a_question_where_both_have_a_value(
    figure: str,
    rows: list[tuple[str, str]],
    at_zero: bool,
    counts: tuple[int, ...],
    mean: float | None,
    headline: float | None,
) -> None:
    result = difference(figure, *rows, at_zero=at_zero)

    assert (result.n, result.wins, result.ties, result.losses) == counts
    assert (result.mean, result.headline) == (mean, headline)
    assert (result.p is None) == (result.p_holm is None) == (result.n == 0)
    assert result.small == (result.n < SMALL)


def test_tested_are_deciding_figures_of_runs_that_share_a_question() -> None:
    runs = [compared("a", "1", None), compared("b", None, "0"), compared("c", "1", "0")]
    comparison = compare(runs, rule="majority")

    pairs = [(test.first, test.second) for test in comparison.tests if test.figure == "mrr"]
    assert pairs == [("a", "c"), ("b", "c")]
    assert {test.figure for test in comparison.tests} == {
        *("mean_precision_at_5", "mrr", "success_rate")
    }
    assert not any(test.false_negatives_at_zero for test in comparison.tests)


def test_success_is_tested_by_exact_mcnemar() -> None:
    rows = [("1", "0")] * 6 + [("0", "1")] * 1 + [("1", "1")] * 3 + [("c", "c"), ("!", "1")]

    result = difference("success_rate", *rows)

    # 6 against 1 + 1 failed: the binomial of the 8 discordant questions.
    assert (result.n, result.wins, result.ties, result.losses) == (12, 6, 4, 2)
    assert result.p == pytest.approx(scipy.stats.binomtest(6, 8).pvalue, abs=1e-12)
    assert (result.test, result.exact) == (MCNEMAR, True)


def test_holm_is_over_the_run_pairs_of_one_figure() -> None:
    runs = [compared("a", *["1"] * 8), compared("b", *["0"] * 8), compared("c", *["1"] * 7, "0")]

    result = differences_of(compare(runs, rule="majority"), "success_rate")

    # 8:0 gives 2/256, 1:0 gives 1, 0:7 gives 2/128; times 3, then 2, then 1.
    assert [entry.p for entry in result] == [2 / 256, 1.0, 2 / 128]
    assert [entry.p_holm for entry in result] == [6 / 256, 1.0, 4 / 128]


def line(result: Stability, change: VariedPart, figure: str) -> StabilityLine:
    return next(entry for entry in result.lines if (entry.change, entry.figure) == (change, figure))


def test_an_order_that_rests_on_one_question_does_not_survive_leaving_it_out() -> None:
    # P@5: a 1, 0, .5 = .5; b 0, .5, .5 = .333. Without question 1: a .25, b .5.
    result = stability([compared("a", "1", "0", "10"), compared("b", "0", "10", "10")])

    questions = line(result, VariedPart.QUESTION, "mean_precision_at_5")
    assert questions.tried == 3
    assert [moved.what for moved in questions.moved] == ["1"]
    assert [moved.what for moved in questions.unseated] == ["1"]
    assert not questions.survives
    assert result.tried == sum(entry.tried for entry in result.lines)
    assert result.moved >= result.unseated >= 1
    level = stability([compared("a", "1", "10"), compared("b", "0", "10")])
    assert line(level, VariedPart.QUESTION, "mean_precision_at_5").survives  # both at 0.5


def test_a_category_is_left_out_whole() -> None:
    categories = ["x", "x", "y"]
    result = stability(
        [
            compared("a", "1", "1", "0", categories=categories),
            compared("b", "0", "0", "1", categories=categories),
        ]
    )

    assert [v.what for v in line(result, VariedPart.CATEGORY, "success_rate").moved] == ["x"]


def test_another_cutoff_may_change_the_order_of_precision_alone() -> None:
    # a is right at rank 1 and wrong after, b the other way round.
    result = stability([compared("a", "10000"), compared("b", "01111")])

    cutoffs = line(result, VariedPart.CUTOFF, "mean_precision_at_5")
    assert (cutoffs.tried, [moved.what for moved in cutoffs.moved]) == (3, ["1"])
    assert not [entry for entry in result.lines if entry.change is VariedPart.CUTOFF][1:]


def test_empty_lists_counted_or_not() -> None:
    # P@5: a 1 over one list, b 0.5 over two. With its false negative at 0, a has 0.5 of 2,
    # b 0.5; with two, a third.
    result = stability([compared("a", "1", "f", "f"), compared("b", "10", "10", "c")])

    assert [v.what for v in line(result, VariedPart.EMPTIES, "mean_precision_at_5").moved] == [
        "counted"
    ]
    # Success: a 1/3, b 3/3; with results only both are 1.
    assert line(result, VariedPart.EMPTIES, "success_rate").survives


def test_another_rater_and_another_rule_are_tried_as_given() -> None:
    base = [compared("a", "1"), compared("b", "0")]
    turned = [compared("a", "0"), compared("b", "1")]

    result = stability(
        base, without_rater={"Ani": base, "Budi": turned}, other_rules={"majority": base}
    )

    raters = line(result, VariedPart.RATER, "mrr")
    assert (raters.tried, [moved.what for moved in raters.moved]) == (2, ["Budi"])
    assert line(result, VariedPart.RULE, "mrr").survives


def test_each_conversation_counts_as_one() -> None:
    """Questions 2 and 3 follow up 1: they are one conversation, and 4 is another."""

    def in_conversations(run: ComparedRun) -> ComparedRun:
        back = conversations({1: False, 2: True, 3: True, 4: False})
        queries = [replace(query, conversation=back.get(query.position)) for query in run.queries]
        return replace(run, queries=tuple(queries))

    # P@5 by question: a 3/4, b 1/4. By conversation a (1 + 0) / 2, b (1/3 + 1) / 2.
    runs = [compared("a", "1", "1", "1", "0"), compared("b", "1", "0", "0", "1")]
    assert not any(entry.change is VariedPart.CONVERSATION for entry in stability(runs).lines)

    result = stability([in_conversations(run) for run in runs])

    moved = line(result, VariedPart.CONVERSATION, "mean_precision_at_5").moved
    assert result.orders["mean_precision_at_5"] == (("a",), ("b",))
    assert [variation.orders["mean_precision_at_5"] for variation in moved] == [(("b",), ("a",))]


def test_the_effect_size_is_the_mean_by_the_deviation() -> None:
    # P@5: 1 - 0, 1 - 1, 0 - 0, 1 - 0: mean 1/2, deviation sqrt(4 x 1/4 / 3).
    runs = [compared("a", "1", "1", "0", "1"), compared("b", "0", "1", "0", "0")]
    (result, *_) = differences_of(compare(runs, rule="majority"), "mean_precision_at_5")
    assert result.d_z == pytest.approx(0.5 / (1 / 3) ** 0.5)
    equal = compare([runs[0], replace(runs[0], run="c")], rule="majority")
    assert differences_of(equal, "mrr")[0].d_z is None
