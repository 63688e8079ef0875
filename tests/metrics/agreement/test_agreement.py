"""The coefficients are those of the references, hold for every table, or say why they are none."""

from __future__ import annotations

import math
import random
from datetime import timedelta
from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi.metrics.agreement.agreement import (
    EXPLANATIONS,
    Agreement,
    Coefficient,
    NoAgreement,
    NoShare,
    Scale,
    Table,
    agreement,
    binary_agreement,
)
from relevansi.metrics.agreement.conflicts import JudgedRun, SignTest, VerdictByHand, conflicts
from relevansi.metrics.agreement.report import (
    CannotTell,
    ItemKind,
    LabelledItem,
    coefficients,
    consistency,
    of_kind,
)
from relevansi.metrics.intervals import estimate_interval
from tests.conftest import NOW
from tests.metrics.agreement import agreement_oracles as oracles

N = None
Rows = list[list[int | None]]
scales = st.sampled_from(Scale)


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-9, nan_ok=True)


FOUR_RATERS: Table = [
    [1, 1, N, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [N, 5, 5, 5], [N, N, 1, 1], [N, N, 3, N],
]  # fmt: skip
"""The data with published results: Hayes & Krippendorff (2007), Gwet (2014)."""


class Case(NamedTuple):
    """A table and the labels of its scale."""

    table: Table
    labels: range


RANDOM = {
    f"{raters}-raters-{labels}-labels-{missing}-{skew}": Case(
        oracles.random_table(seed, raters=raters, labels=labels, missing=missing, skew=skew),
        range(labels),
    )
    for seed, (raters, labels, missing, skew) in enumerate(
        product((2, 4), (2, 6), (0.0, 0.3), (0.0, 0.9)), start=1
    )
}

SKEWED = {
    "one-disagreement": Case([[1, 1]] * 29 + [[1, 0]], range(2)),
    "one-disagreement-of-three": Case([[1, 1, 1]] * 29 + [[1, 0, 1]], range(2)),
    "one-other-label": Case([[0, 0, 0]] * 20 + [[1, 1, 1]], range(2)),
    "total-disagreement": Case([[1, 0], [0, 1], [1, 0]], range(2)),
    "single-ratings": Case([[1, N, N], [1, 1, N], [0, N, N], [N, 0, 1], [0, 0, 0]], range(2)),
    "the-other-label-only-alone": Case([[1, 1, N], [1, 1, 1], [0, N, N]], range(2)),
    "unused-labels": Case([[0, 0], [5, 5], [0, 5], [5, 5]], range(6)),
    "nobody-judged-one": Case([[1, 1], [N, N], [0, 1], [0, 0]], range(2)),
    "published": Case(FOUR_RATERS, range(1, 6)),
}

CASES = {**RANDOM, **SKEWED}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_coefficients_are_those_of_the_reference_tools(case: Case) -> None:
    result = agreement(case.table, labels=case.labels)
    ordinal = agreement(case.table, scale=Scale.ORDINAL)
    used = sorted({x for row in case.table for x in row if x is not None})

    assert result.raw.value == near(oracles.irrcac("pa", case.table, case.labels))
    assert result.fleiss.value == near(oracles.irrcac("fleiss", case.table, case.labels))
    assert result.ac1.value == near(oracles.irrcac("gwet", case.table, case.labels))
    assert ordinal.ac1.value == near(oracles.irrcac("gwet", case.table, used))
    assert _or_nan(result.alpha) == near(oracles.krippendorff(case.table, "nominal"))
    assert _or_nan(ordinal.alpha) == near(oracles.krippendorff(case.table, "ordinal"))
    if result.alpha.value is not None:
        assert result.alpha.value == near(oracles.irrcac("krippendorff", case.table, case.labels))
    if len(case.table[0]) == 2:
        assert _or_nan(result.cohen) == near(oracles.scikit_learn(case.table))


PAIRS = {name: case for name, case in CASES.items() if len(case.table[0]) == 2}


@pytest.mark.parametrize("case", PAIRS.values(), ids=PAIRS)
def test_weighted_kappas_are_those_of_scikit_learn(case: Case) -> None:
    result = agreement(case.table, scale=Scale.ORDINAL, weighted=True)

    for kappa, weights in ((result.linear, "linear"), (result.quadratic, "quadratic")):
        assert kappa is not None
        expected = oracles.scikit_learn(case.table, weights, [*case.labels])
        assert _or_nan(kappa) == near(expected)
        if len(case.labels) == 2:  # one distance alone: weights change nothing
            assert _or_nan(kappa) == near(_or_nan(result.cohen))


def _or_nan(coefficient: Coefficient) -> float:
    """The value; NaN, as the references write it, where only one label was used."""
    if coefficient.value is None:
        assert coefficient.why_undefined is NoAgreement.ONE_LABEL
        return math.nan
    return coefficient.value


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        ([[1, 1, 0], [1, 1, 1], [0, N, N]], "raw", (1 / 3 + 1) / 2),
        ([[1, 1, 0], [0, 0, 0]], "fleiss_kappa", (2 / 3 - 5 / 9) / (1 - 5 / 9)),
        ([[1, 1], [1, 0], [0, 0], [1, 1]], "krippendorff_alpha", 1 - 7 * 2 / (2 * 5 * 3)),
        ([[1, 1], [1, 0], [1, 1], [1, 1]], "gwet_ac1", (3 / 4 - 7 / 32) / (1 - 7 / 32)),
        ([[1, 0]] * 3, "cohen_kappa", 0.0),  # always ✓ against always ✗: Pa = 0, Pe = 0
        ([[1, 1]] * 4, "raw", 1.0),
        ([[1, 1]] * 4, "gwet_ac1", 1.0),
    ],
)
def test_small_tables_worked_out_by_hand(table: Table, name: str, value: float) -> None:
    assert coefficients(agreement(table))[name].value == near(value)


def test_published_results_are_met() -> None:
    """Fleiss and AC1 from Gwet (2014); alpha from Hayes & Krippendorff (2007)."""
    result = agreement(FOUR_RATERS)
    ordinal = agreement(FOUR_RATERS, scale=Scale.ORDINAL).alpha

    assert result.raw.value == pytest.approx(0.81818, abs=5e-6)
    assert result.fleiss.value == pytest.approx(0.76117, abs=5e-6)
    assert result.ac1.value == pytest.approx(0.77544, abs=5e-6)
    assert result.alpha.value == pytest.approx(0.743, abs=5e-4)
    assert ordinal.value == pytest.approx(0.815, abs=5e-4)
    assert result.raw.n == 11


ALL = [*coefficients(agreement([], weighted=True))]


@pytest.mark.parametrize(
    ("table", "names", "why", "n"),
    [
        ([], ALL, NoAgreement.NO_SHARED_ITEM, 0),
        ([[1], [0]], ALL, NoAgreement.TOO_FEW_RATERS, 0),
        ([[]], ALL, NoAgreement.TOO_FEW_RATERS, 0),
        ([[1, N], [N, 0]], ALL, NoAgreement.NO_SHARED_ITEM, 0),
        ([[N, N]], ALL, NoAgreement.NO_SHARED_ITEM, 0),
        ([[1, 0, 1], [0, 0, 0]], ["cohen_kappa"], NoAgreement.NOT_TWO_RATERS, 0),
        (
            [[1, 1]] * 4,
            ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha"],
            NoAgreement.ONE_LABEL,
            4,
        ),
    ],
)
def test_a_coefficient_without_a_value_has_a_reason(
    table: Table, names: list[str], why: NoAgreement, n: int
) -> None:
    result = coefficients(agreement(table, weighted=True))

    for name in names:
        assert result[name] == Coefficient(None, n, why_undefined=why)
    assert set(EXPLANATIONS) == set(NoAgreement)


def test_a_row_with_a_cell_too_few_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="cell for every rater"):
        agreement([[1, 0], [1]])


def test_the_interval_of_raw_agreement_of_two_is_wilsons() -> None:
    """scipy.stats.binomtest(36, 40).proportion_ci(method="wilson")."""
    raw = agreement([[1, 1]] * 36 + [[1, 0]] * 4).raw

    assert (raw.lower, raw.upper) == pytest.approx((0.769482, 0.960420), abs=1e-6)


def test_perfect_agreement_on_few_items_is_no_point() -> None:
    # Wilson of 8 in 8 starts at 8 / (8 + 3.8415) = 0.6756. AC1: Pe = 2 x 0.5 x 0.5 = 0.5.
    result = agreement([[1, 1]] * 4 + [[0, 0]] * 4)

    bounds = result.raw.lower, result.raw.upper
    assert bounds == pytest.approx((0.675592, 1.0), abs=1e-6)
    assert (result.ac1.value, result.ac1.upper) == pytest.approx((1.0, 1.0))
    assert result.ac1.lower == pytest.approx(1 - (1 - 0.675592) / 0.5, abs=1e-5)
    alone = agreement([[1, 1, 0], [1, N, N]]).raw
    assert alone == Coefficient(alone.value, 1)  # one item has none


def test_the_items_of_the_chance_term_are_counted() -> None:
    result = agreement([[1, 1], [0, 0], [1, N], [N, N]])

    assert (result.raw.n, result.n_rated) == (2, 3)


def test_the_variance_of_an_interval_is_the_jackknifes() -> None:
    """Kappa of 30 pairs, each left out once by hand."""
    table = [[1, 1]] * 12 + [[0, 0]] * 11 + [[1, 0]] * 4 + [[0, 1]] * 3
    without = [agreement(table[:i] + table[i + 1 :]).cohen.value for i in range(30)]
    values = [value for value in without if value is not None]
    middle = sum(values) / 30
    variance = (29 / 30) ** 2 * sum((value - middle) ** 2 for value in values)
    cohen = agreement(table).cohen
    assert cohen.value is not None

    # Pe = (16 x 15 + 14 x 15) / 900 = 0.5: the coefficient is -1 where all disagree.
    expected = estimate_interval(cohen.value, 30 * variance, 30, lowest=-1.0)
    assert (cohen.lower, cohen.upper) == pytest.approx((expected.lower, expected.upper))


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    raters = draw(st.integers(1, 4))
    label = st.none() | st.integers(0, draw(st.integers(0, 5)))
    return draw(st.lists(st.lists(label, min_size=raters, max_size=raters), max_size=12))


def measured(table: Rows, scale: Scale) -> Agreement:
    return agreement(table, scale=scale)


@given(table=tables(), scale=scales)
def test_at_most_1_or_a_reason(table: Rows, scale: Scale) -> None:
    for name, coefficient in coefficients(measured(table, scale)).items():
        assert (coefficient.value is None) == (coefficient.why_undefined is not None)
        if coefficient.value is None:
            assert (coefficient.lower, coefficient.upper) == (None, None)
        else:
            assert (0 if name == "raw" else -math.inf) <= coefficient.value <= 1
            assert coefficient.lower is None or coefficient.lower <= (coefficient.upper or 0) <= 1


@given(table=tables(), scale=scales, data=st.data())
def test_the_order_of_raters_and_items_and_unjudged_items_change_nothing(
    table: Rows, scale: Scale, data: st.DataObject
) -> None:
    raters = data.draw(st.permutations(range(len(table[0]) if table else 0)))
    items = data.draw(st.permutations(table))
    shuffled = [[row[rater] for rater in raters] for row in items]
    nobody: Rows = [[None] * len(table[0])] if table else []

    assert measured(shuffled + nobody, scale) == measured(table, scale)


@given(
    labels=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    raters=st.integers(2, 4),
    scale=scales,
)
def test_perfect_agreement_is_1_where_it_is_defined(
    labels: list[int], raters: int, scale: Scale
) -> None:
    result = measured([[label] * raters for label in labels], scale)

    assert result.raw.value == result.ac1.value == 1
    for chance_by_labels in (result.fleiss, result.alpha):
        several = len(set(labels)) > 1
        assert chance_by_labels.value == (1 if several else None)
        assert several or chance_by_labels.why_undefined is NoAgreement.ONE_LABEL


@given(table=tables())
def test_names_of_labels_do_not_matter_on_a_nominal_scale(table: Rows) -> None:
    renamed = [[None if x is None else 5 - x for x in row] for row in table]
    renamed_table = coefficients(measured(renamed, Scale.NOMINAL))

    for name, coefficient in coefficients(measured(table, Scale.NOMINAL)).items():
        assert coefficient.value == (
            None if renamed_table[name].value is None else near(renamed_table[name].value or 0)
        )


@pytest.mark.parametrize("seed", range(3))
def test_kappa_precision_and_recall_are_those_of_scikit_learn(seed: int) -> None:
    from sklearn import metrics  # type: ignore[import-untyped]

    draw = random.Random(seed)
    pairs = [(draw.random() < 0.6, draw.random() < 0.5) for _ in range(40)]
    machine, people = zip(*pairs, strict=True)

    result = binary_agreement(pairs)

    assert result.n == 40
    assert result.kappa.value == near(metrics.cohen_kappa_score(machine, people))
    assert result.precision == near(metrics.precision_score(people, machine))
    assert result.recall == near(metrics.recall_score(people, machine))
    assert result.agreed == near(sum(a == b for a, b in pairs) / 40)


def test_shares_of_machine_and_people_without_a_value_have_a_reason() -> None:
    nothing = binary_agreement([])
    refused = binary_agreement([(False, False), (False, False)])

    assert nothing.agreed is None
    assert nothing.kappa.why_undefined is NoAgreement.NO_SHARED_ITEM
    assert refused.precision is NoShare.MACHINE_PASSED_NOTHING
    assert refused.recall is NoShare.PERSON_PASSED_NOTHING
    assert refused.kappa.why_undefined is NoAgreement.ONE_LABEL


def test_over_time_the_first_judged_come_first_in_parts_of_ten_or_more() -> None:
    items = [
        LabelledItem(
            "area", {"Ani": "1", "Budi": "1" if number < 12 else "0"}, NOW - timedelta(number)
        )
        for number in range(25)
    ]
    parts = of_kind(ItemKind.CARDS, ["Ani", "Budi"], items).over_time

    # 25 items make two parts, 13 and 12. Number 24 was judged first; 24 to 12 disagree.
    assert [(n_items, result.raw.value) for *_, n_items, result in parts] == [(13, 0), (12, 1)]
    assert parts[0][:2] == (NOW - timedelta(24), NOW - timedelta(12))


def test_each_kind_names_its_raters_pairs_and_categories_and_who_cannot_tell() -> None:
    items = [
        LabelledItem("area", {"Ani": "1", "Budi": "unsure"}),
        LabelledItem("price", {"Ani": "0", "Budi": "0"}),
        LabelledItem("area", {"Ani": "1", "Budi": "0"}),
        LabelledItem("price", {}),
    ]
    result = of_kind(ItemKind.CARDS, ["Ani", "Budi", "Citra"], items)

    assert (result.raters, result.n_items) == (("Ani", "Budi"), 3)  # Citra judged nothing
    assert result.cannot_tell == CannotTell(1, 6)
    assert result.cannot_tell_by["Budi"] == CannotTell(1, 3)
    assert (result.overall.raw.value, result.n_shared) == (0.5, 2)
    assert list(result.pairs) == [("Ani", "Budi")]
    assert {name: n for name, (n, _) in result.categories.items()} == {"area": 2, "price": 1}
    assert result.over_time == ()  # nobody knows when


def test_only_cards_can_be_undecided() -> None:
    items = [LabelledItem("area", {"Ani": 4.0, "Budi": 2.0})]
    result = of_kind(ItemKind.QUALITY, ["Ani", "Budi"], items)

    assert (result.cannot_tell, dict(result.cannot_tell_by)) == (None, {})
    assert result.overall == agreement([[4, 2]], scale=Scale.ORDINAL, labels=range(6))


def test_cards_with_more_than_two_grades_are_an_order() -> None:
    items = [LabelledItem("area", {"Ani": a, "Budi": b}) for a, b in ("03", "22", "13", "00")]
    items.append(LabelledItem("area", {"Ani": "unsure", "Budi": "1"}))
    table: Table = [[0, 3], [2, 2], [1, 3], [0, 0], [None, 1]]
    result = of_kind(ItemKind.CARDS, ["Ani", "Budi"], items, top=3)
    quadratic = result.overall.quadratic

    assert result.scale is Scale.ORDINAL
    assert result.overall.alpha.value == near(oracles.krippendorff(table, "ordinal"))
    assert quadratic is not None
    assert quadratic.value == near(oracles.scikit_learn(table, "quadratic", range(4)))
    assert result.overall.ac1.value == near(oracles.irrcac("gwet", table, range(4)))
    assert "linear_kappa" in coefficients(result.overall)
    binary = of_kind(ItemKind.CARDS, ["Ani", "Budi"], items[3:])
    assert "linear_kappa" not in coefficients(binary.overall)


def test_a_repeat_without_a_second_verdict_counts_as_unanswered() -> None:
    repeats = [("1", "1"), ("0", "1"), ("1", "unsure"), ("0", None)]
    result = consistency("Ani", ItemKind.CARDS, repeats)

    assert (result.repeats, result.answered) == (4, 3)
    assert (result.agreement.raw.value, result.agreement.raw.n) == (0.5, 2)  # decided both times


RUNS = ["hybrid", "api_only", "vector_only"]


def judged(*rows: str) -> list[JudgedRun]:
    """Runs with verdicts from rows like ``hybrid 3 a pass``."""
    verdicts: dict[str, list[VerdictByHand]] = {run: [] for run in RUNS}
    for run, query, name, word in map(str.split, rows):
        verdicts[run].append(VerdictByHand(int(query), name, word == "pass"))
    return [JudgedRun(run, tuple(verdicts_of_run)) for run, verdicts_of_run in verdicts.items()]


def test_only_opposite_verdicts_on_one_question_and_property_contradict() -> None:
    report = conflicts(
        judged(
            *("hybrid 10 a pass", "api_only 10 a fail", "vector_only 10 a pass"),
            *("hybrid 1 a pass", "api_only 1 a fail"),
            *("hybrid 1 b pass", "api_only 1 b pass"),  # agree
            *("hybrid 2 c pass", "api_only 3 c fail"),  # other questions
            *("hybrid 4 d fail", "hybrid 4 d fail"),  # one run alone
            *("hybrid 5 e fail", "vector_only 5 e pass", "vector_only 5 e pass"),
        )
    )

    assert report.pairs_judged_more_than_once == 4
    assert list(report.contradictions) == [(1, "a"), (5, "e"), (10, "a")]
    assert report.contradictions[1, "a"] == {"hybrid": True, "api_only": False}
    assert report.favours == {"hybrid": 2, "api_only": 0, "vector_only": 2}
    assert report.sign_tests == (
        SignTest(("hybrid", "api_only"), 2, 0, 0.5),  # 2 x 1/4
        SignTest(("hybrid", "vector_only"), 0, 1, 1.0),
        SignTest(("api_only", "vector_only"), 0, 1, 1.0),
    )


def test_a_run_that_contradicts_itself_has_no_verdict_and_is_named() -> None:
    report = conflicts(
        judged(
            *("hybrid 1 a pass", "hybrid 1 a fail"),
            *("api_only 1 a fail", "vector_only 1 a pass"),
            *("hybrid 2 b pass", "hybrid 2 b fail", "api_only 2 b fail"),
        )
    )

    assert report.self_contradictions == (("hybrid", 1, "a"), ("hybrid", 2, "b"))
    assert report.pairs_judged_more_than_once == 1
    assert report.contradictions == {(1, "a"): {"api_only": False, "vector_only": True}}
    assert report.favours == {"hybrid": 0, "api_only": 0, "vector_only": 1}
