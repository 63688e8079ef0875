from __future__ import annotations

import random

import numpy as np
import pytest

from relevansi.metrics.judging import queries
from relevansi.metrics.judging.figures import (
    COUNTS,
    HEADLINES,
    Figure,
    QueryRow,
    RunReport,
    Totals,
    category_totals,
    figures,
    totals,
)
from relevansi.metrics.judging.list_counts import ListCounts, Placing, placings, summarise_counts
from relevansi.metrics.judging.queries import (
    MEANS,
    QueryJudgments,
    QuerySummary,
    Span,
    Undefined,
    summarise,
    why_undefined,
)
from relevansi.metrics.judging.registry import MEASURES, measure_of
from relevansi.metrics.numbers import Numbers
from relevansi.records import CannotTell, EmptyOutcome, QueryState
from tests.metrics.judging.verdicts import SEED_5_2, empty, failed, listed, unreadable, verdicts


def figure(name: str, *summaries: QuerySummary) -> Figure:
    return figures(Totals.of(summaries))[name]


@pytest.mark.parametrize(
    ("name", "value", "n"),
    [
        ("mean_precision_at_5", 0.8, 3),  # (0.8 + 1 + 0.6) / 3
        ("mean_overall_precision", 0.8, 3),
        ("mrr", 2.5 / 3, 3),  # 1 + 1 + 1/2 over queries with results
        ("mrr_answerable", 2.5 / 4, 4),  # and the false negative at 0
        ("success_rate", 0.8, 5),  # 1, 1, 1, 0, 1
        ("coverage", 0.6, 5),
        ("mean_response_quality", 2.4, 5),  # (4 + 5 + 0 + 0 + 3) / 5
        ("composite", 0.79, 5),  # 0.32 + 0.25 + 0.16 + 0.06
    ],
)
def test_figures_of_the_sample_in_the_method(name: str, value: float, n: int) -> None:
    result = figure(name, *SEED_5_2)

    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.lower == result.upper == result.value
    assert result.n == result.of == n
    assert not result.is_provisional


def test_the_value_so_far_may_lie_outside_its_bounds() -> None:
    """One of two queries rated, all relevant; the other's two results are open."""
    result = figure("mean_overall_precision", listed("RR"), listed("N."))

    assert result == Figure(value=1.0, lower=0.5, upper=0.75, n=1, of=2)
    assert result.is_provisional


def test_nothing_rated_leaves_the_widest_bounds_and_a_reason() -> None:
    run = [listed("..."), listed("."), empty()]

    assert figure("mrr", *run) == Figure(None, 0.0, 1.0, 0, of=2)
    assert figure("success_rate", *run) == Figure(None, 0.0, 1.0, 0, of=3)
    assert figure("mean_response_quality", *run) == Figure(None, 0.0, 5.0, 0, of=3)
    assert figure("coverage", *run) == Figure(2 / 3, 2 / 3, 2 / 3, 3, of=3)
    assert figure("mrr", *run).why_undefined is Undefined.INCOMPLETE


def test_the_bounds_of_the_composite_are_made_of_its_parts_bounds() -> None:
    """Coverage is 2/3 whatever is judged: 0.1 x 2/3 = 1/15 at least, 0.9 + 1/15 at most."""
    result = figure("composite", listed("..."), listed("."), empty())

    assert (result.value, result.n) == (None, 0)
    assert result.lower == pytest.approx(1 / 15)
    assert result.upper == pytest.approx(0.9 + 1 / 15)


def test_an_unclassified_empty_list_is_at_0_in_one_bound_and_absent_from_the_other() -> None:
    result = figure("mrr_answerable", listed("NR"), empty())

    assert result == Figure(value=0.5, lower=0.25, upper=0.5, n=1, of=2)


def test_a_list_that_can_only_succeed_or_stay_undefined_is_absent_from_the_lower_bound() -> None:
    result = figure("success_rate", listed("R"), listed("N"), listed("U."))

    assert result == Figure(value=0.5, lower=0.5, upper=2 / 3, n=2, of=3)


def test_a_bound_that_no_query_reaches_takes_the_only_value_there_can_be() -> None:
    assert figure("mrr_answerable", empty()) == Figure(None, 0.0, 0.0, 0, of=1)
    assert figure("success_rate", listed("U.")) == Figure(None, 1.0, 1.0, 0, of=1)


def test_everything_cannot_tell_leaves_precision_and_success_undefined_for_good() -> None:
    run = [listed("UU"), listed("U")]

    assert figure("mean_precision_at_5", *run) == Figure(None, None, None, 0)
    assert figure("success_rate", *run) == Figure(None, None, None, 0)
    assert figure("mrr", *run) == Figure(0.0, 0.0, 0.0, 2, of=2)
    assert figure("composite", *run) == Figure(None, None, None, 0, of=2)
    assert figure("composite", *run).why_undefined is Undefined.NO_QUERY


def test_a_run_in_which_every_call_failed_succeeds_and_covers_nothing() -> None:
    run = [failed(), failed()]

    assert figure("success_rate", *run) == Figure(0.0, 0.0, 0.0, 2, of=2)
    assert figure("coverage", *run) == Figure(0.0, 0.0, 0.0, 2, of=2)
    assert figure("mean_precision_at_5", *run) == Figure(None, None, None, 0)
    assert figure("mrr_answerable", *run) == Figure(None, None, None, 0)


def test_the_mean_is_exact_in_any_order() -> None:
    """1e16 + 1 - 1e16 loses the 1 when it is summed naively."""
    values = [1e16, 1.0, -1e16, 1.0] * 3
    result = set()
    for seed in range(20):
        random.Random(seed).shuffle(values)
        numbers = Numbers()
        for value in values:
            numbers.add(value)
        result.add(numbers.mean)

    assert result == {0.5}


def test_nothing_has_no_mean_and_no_percentile() -> None:
    assert Numbers().mean is None
    assert Numbers().at(0.5, 0.95) == (None, None)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 10, 101])
def test_percentiles_are_numpy_s(n: int) -> None:
    values = random.Random(n).sample(range(10_000), n)
    result = Numbers()
    for value in values:
        result.add(value)
    expected = np.percentile(values, [0, 50, 95, 100])
    assert result.at(0, 0.5, 0.95, 1) == pytest.approx(list(expected), rel=1e-12)


REPORT = RunReport(
    run="a",
    rule="rater Ani",
    rows=(
        QueryRow(1, "rumah di cemara", "location_simple", "", listed("RN")),
        QueryRow(2, "gudang di KIM", "property_type", "", failed()),
        QueryRow(3, "rumah di ringroad", "location_simple", "", listed("R")),
    ),
)


def test_categories_keep_their_order_of_first_appearance_and_add_up() -> None:
    result = category_totals(REPORT)

    assert list(result) == ["location_simple", "property_type"]
    assert Totals.together(result.values()) == totals(REPORT)


def test_totals_count_every_kind_of_query_and_verdict() -> None:
    result = Totals.of([*SEED_5_2, failed(), unreadable(), listed("UN."), empty()])
    expected = {
        "n_queries": 9,
        "n_complete": 6,
        "n_with_results": 4,
        "n_empty": 3,
        "n_failed": 1,
        "n_unreadable": 1,
        "n_correct_empty": 1,
        "n_false_negative": 1,
        "n_results": 18,
        "n_judged": 17,
        "n_relevant": 12,
        "n_not_relevant": 4,
        "n_unsure": 1,
    }

    assert {name: getattr(result, name) for name in COUNTS} == expected
    assert (result.n_counted, result.n_unjudged, result.n_unclassified) == (8, 1, 1)


def summary(counts: ListCounts, cannot_tell: CannotTell = "left_out") -> QuerySummary:
    return summarise_counts(counts, placings(counts), quality=None, cannot_tell=cannot_tell)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (ListCounts(3, 0), [Placing(None, 0)]),
        (ListCounts(3, 3), [Placing(1, 3)]),
        (ListCounts(6, 1), [*(Placing(rank, 1) for rank in range(1, 6)), Placing(6, 0)]),
        (ListCounts(6, 1, first_relevant_rank=6), [Placing(6, 0)]),
        (ListCounts(6, 5, relevant_in_top=5), [Placing(1, 5)]),
        (ListCounts(2, 1, unsure_ranks=frozenset({1})), [Placing(2, 1)]),
        (ListCounts(2, 1, first_relevant_rank=3), []),
        (ListCounts(6, 3, relevant_in_top=1), []),  # only one rank lies below the top five
    ],
)
def test_placings_are_those_that_a_list_can_have(
    counts: ListCounts, expected: list[Placing]
) -> None:
    assert list(placings(counts)) == expected


def test_an_unknown_first_rank_leaves_the_reciprocal_rank_between_bounds() -> None:
    result = summary(ListCounts(results=3, relevant=1))

    assert (result.first_relevant_rank, result.figures["mrr"]) == (None, Span(None, 1 / 3, 1.0))
    assert result.figures["mean_precision_at_5"] == Span.settled(1 / 3)


def test_cannot_tell_is_left_out_and_success_waits_for_it() -> None:
    result = summary(ListCounts(results=3, relevant=0, unsure_ranks=frozenset({2})))

    assert (result.judged_count, result.not_relevant_count, result.unsure_count) == (3, 2, 1)
    assert result.figures["mean_precision_at_5"] == Span.settled(0.0)
    assert result.figures["success_rate"] == Span.settled(None)


@pytest.mark.parametrize("name", [*HEADLINES, "trec_precision_at_5"])
def test_every_figure_states_formula_denominator_edge_cases_and_source(name: str) -> None:
    measure = MEASURES[name]

    assert all([measure.formula, measure.denominator, measure.edge_cases, measure.source])


def test_every_figure_of_a_query_belongs_to_one_headline_figure() -> None:
    assert list(listed("R").figures) == [*MEANS]
    assert {measure_of(figure).name for figure in MEANS.values()} == {*MEANS}


CORRECT, MISSED = EmptyOutcome.CORRECT_EMPTY, EmptyOutcome.FALSE_NEGATIVE


def listed_as(letters: str) -> list[bool | None]:
    return queries.relevances(verdicts(letters))


def values(summary: QuerySummary) -> list[float | None]:
    return [summary.figures[figure].value for figure in MEANS]


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        # P@5, overall, RR, answerable RR, success, quality: the rows of seed 5.2
        (listed("RRRRN", 4), [0.8, 0.8, 1.0, 1.0, 1, 4]),
        (listed("RRRRR", 5), [1.0, 1.0, 1.0, 1.0, 1, 5]),
        (empty(CORRECT, 0), [None, None, None, None, 1, 0]),
        (empty(MISSED, 0), [None, None, None, 0.0, 0, 0]),
        (listed("NRRRN", 3), [0.6, 0.6, 0.5, 0.5, 1, 3]),
        # beyond the sample
        (failed(), [None, None, None, None, 0, None]),
        (unreadable(), [None] * 6),
        (empty(), [None] * 6),
        (listed("R."), [None] * 6),
        (listed("UU", 2), [None, None, 0.0, 0.0, None, 2]),
        (listed("UN"), [0.0, 0.0, 0.0, 0.0, None, None]),
    ],
)
def test_values_of_a_query(summary: QuerySummary, expected: list[float | None]) -> None:
    assert values(summary) == expected


NOT_RELEVANT: CannotTell = "not_relevant"


@pytest.mark.parametrize(
    ("letters", "cannot_tell", "expected"),
    [
        # P@5, overall, RR, answerable RR, success: by hand
        ("RRRRNNNRRN", NOT_RELEVANT, [4 / 5, 6 / 10, 1.0, 1.0, 1]),  # without cannot tell the same
        ("RRRRNNNRRN", "left_out", [4 / 5, 6 / 10, 1.0, 1.0, 1]),
        ("NNRNRRRNNU", NOT_RELEVANT, [2 / 5, 4 / 10, 1 / 3, 1 / 3, 1]),
        ("NNRNRRRNNU", "left_out", [2 / 5, 4 / 9, 1 / 3, 1 / 3, 1]),
        ("UNRN", NOT_RELEVANT, [1 / 4, 1 / 4, 1 / 3, 1 / 3, 1]),  # it holds its rank
        ("UNRN", "left_out", [1 / 3, 1 / 3, 1 / 3, 1 / 3, 1]),
        ("UUUUUR", NOT_RELEVANT, [0.0, 1 / 6, 1 / 6, 1 / 6, 1]),
        ("UU", NOT_RELEVANT, [0.0, 0.0, 0.0, 0.0, 0]),
        ("UN", NOT_RELEVANT, [0.0, 0.0, 0.0, 0.0, 0]),
    ],
)
def test_cannot_tell_is_not_relevant_or_left_out_as_the_study_says(
    letters: str, cannot_tell: CannotTell, expected: list[float | None]
) -> None:
    summary = listed(letters, cannot_tell=cannot_tell)

    assert values(summary)[:-1] == expected
    assert summary.unsure_count == letters.count("U")
    assert summary.not_relevant_count == letters.count("N")


@pytest.mark.parametrize(
    ("summary", "figure", "lower", "upper"),
    [
        (listed("R.N."), "mean_precision_at_5", 1 / 4, 3 / 4),
        (listed("RRRRR.."), "mean_precision_at_5", 1.0, 1.0),  # what is open lies below rank 5
        (listed("RRRRR.."), "mean_overall_precision", 5 / 7, 1.0),
        (listed("N.R"), "mrr", 1 / 3, 1 / 2),
        (listed("N.R"), "success_rate", 1.0, 1.0),
        (listed("U."), "success_rate", None, 1.0),  # not relevant would leave it undefined
        (listed("U."), "mean_overall_precision", 0.0, 1.0),
        (listed("UUUUU."), "mean_precision_at_5", None, None),
        (empty(), "success_rate", 0.0, 1.0),
        (empty(), "mrr_answerable", 0.0, None),
        (empty(), "mrr", None, None),
        (listed("R."), "mean_response_quality", 0.0, 5.0),
        (failed(), "success_rate", 0.0, 0.0),
        (failed(), "mean_response_quality", 0.0, 5.0),
        (unreadable(), "success_rate", None, None),
        (unreadable(), "mean_response_quality", None, None),
    ],
)
def test_bounds_of_a_query_are_what_the_finished_rating_can_reach(
    summary: QuerySummary, figure: str, lower: float | None, upper: float | None
) -> None:
    span = summary.figures[figure]

    assert (span.lower, span.upper) == (lower, upper)


def test_the_outcome_of_a_question_is_ignored_for_a_list_with_results() -> None:
    judgments = QueryJudgments(QueryState.RESULTS, verdicts("NN"), empty_outcome=CORRECT)

    result = summarise(judgments, cannot_tell="left_out")

    assert result.empty_outcome is None
    assert result.figures["success_rate"] == Span.settled(0.0)


@pytest.mark.parametrize(
    ("summary", "figure", "reason"),
    [
        (listed("R"), "success_rate", None),
        (listed("R."), "mean_precision_at_5", Undefined.INCOMPLETE),
        (listed("UU"), "mean_precision_at_5", Undefined.NOTHING_DECIDED),
        (listed("UUUUUR"), "mean_precision_at_5", Undefined.NOTHING_DECIDED),
        (listed("NU"), "success_rate", Undefined.CANNOT_TELL),
        (listed("R"), "mean_response_quality", Undefined.UNRATED),
        (empty(), "mean_overall_precision", Undefined.NO_RESULTS),
        (empty(), "mrr", Undefined.NO_RESULTS),
        (empty(), "success_rate", Undefined.UNCLASSIFIED),
        (empty(), "mrr_answerable", Undefined.UNCLASSIFIED),
        (empty(CORRECT), "mrr_answerable", Undefined.CORRECT_EMPTY),
        (empty(MISSED), "mrr_answerable", None),
        (failed(), "mrr", Undefined.FAILED),
        (failed(), "success_rate", None),
        (failed(), "mean_response_quality", Undefined.UNRATED),
        (unreadable(), "success_rate", Undefined.UNREADABLE),
        (unreadable(), "mean_response_quality", Undefined.UNREADABLE),
    ],
)
def test_missing_values_have_a_reason(
    summary: QuerySummary, figure: str, reason: Undefined | None
) -> None:
    assert why_undefined(summary, figure) is reason


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("RRRRN", 4 / 5),  # seed 1.1: 4 relevant of 5
        ("RRRNN" + "RRR", 3 / 5),  # only the first five of eight
        ("RN", 1 / 2),  # seed 1.1, note: shorter than 5, divided by its length
        ("R", 1.0),
        ("NNNNNR", 0.0),  # the relevant one is at rank 6
        ("RUNUU" + "R", 1 / 2),  # decided among five: R, N
        ("R.N..", 1 / 2),  # unjudged is not decided
        ("UUUUU" + "R", None),
        ("UUUUU" + "UR", None),
        (".....", None),
        ("", None),
    ],
)
def test_precision_at_5_divides_by_the_decided(letters: str, expected: float | None) -> None:
    assert queries.precision_at(listed_as(letters), 5) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("RRRRRRNN", 6 / 8),  # seed 1.2: 6 relevant of 8
        ("NNNNNR", 1 / 6),
        ("RUUN", 1 / 2),
        ("NN", 0.0),
        ("UU", None),
        ("", None),
    ],
)
def test_overall_precision_counts_the_decided(letters: str, expected: float | None) -> None:
    assert queries.precision_at(listed_as(letters)) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("RNN", 1.0),  # seed 1.3: Q1 first at 1, Q2 at 3, Q3 at 2, Q4 nowhere
        ("NNR", 1 / 3),
        ("NRR", 1 / 2),
        ("NNN", 0.0),
        ("N" * 12 + "R", 1 / 13),  # the whole list, however long
        ("UR", 1 / 2),  # cannot tell takes up its rank
        (".R", 1 / 2),
        ("UU", 0.0),
        ("", 0.0),
    ],
)
def test_reciprocal_rank_is_one_over_the_rank(letters: str, expected: float | None) -> None:
    assert queries.reciprocal_rank(listed_as(letters)) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("NNR", 1.0),
        ("NN", 0.0),
        ("UUR", 1.0),
        ("NU", None),
        ("U.", None),
        ("N.", None),
        (".R", 1.0),
        ("", 0.0),
    ],
)
def test_success_needs_one_relevant_result(letters: str, expected: float | None) -> None:
    assert queries.success(listed_as(letters)) == expected


@pytest.mark.parametrize(
    ("letters", "grade"),
    [
        ("NNN", 1),  # 0 %
        ("RNNN", 2),  # 25 %
        ("R" * 49 + "N" * 51, 2),  # 49 %
        ("RN", 3),  # 50 %
        ("R" * 7 + "N" * 3, 3),  # 70 %
        ("R" * 14 + "N" * 6, 3),  # 70 %
        ("R" * 71 + "N" * 29, 4),  # 71 %
        ("RRRN", 4),  # 75 %
        ("RRR", 5),  # 100 %
        ("RRUU", 5),  # all that is decided
        ("UU", None),
        ("RR.", None),
    ],
)
def test_suggested_quality_follows_the_rubric_to_its_edges(letters: str, grade: int | None) -> None:
    assert queries.suggested_quality(QueryState.RESULTS, verdicts(letters)) == grade


@pytest.mark.parametrize(
    ("state", "grade"),
    [(QueryState.EMPTY, 0), (QueryState.FAILED, 0), (QueryState.UNREADABLE, None)],
)
def test_suggested_quality_without_results_is_0(state: QueryState, grade: int | None) -> None:
    assert queries.suggested_quality(state, ()) == grade
