"""The coefficients are those of the references, and undefined where they have no value."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest

from tests.metrics.agreement import agreement_oracles as oracles
from tests.metrics.agreement.tables import FEW, N
from webapp.metrics.agreement.agreement import (
    EXPLANATIONS,
    Coefficient,
    NoAgreement,
    Scale,
    Table,
    agreement,
    cohen_kappa,
)

EXACT = 1e-9


FOUR_RATERS: Table = [
    [1, 1, N, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [N, 5, 5, 5], [N, N, 1, 1], [N, N, 3, N],
]  # fmt: skip
"""The data with published results: Hayes & Krippendorff (2007), Gwet (2014)."""


class Case(NamedTuple):
    """A table and the labels of its scale."""

    table: Table
    labels: range


def _random_cases() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for raters in (2, 3, 5):
        for labels in (2, 6):
            for missing in (0.0, 0.3):
                for skew in (0.0, 0.9):
                    seed = len(cases) + 1
                    table = oracles.random_table(
                        seed, raters=raters, labels=labels, missing=missing, skew=skew
                    )
                    cases[f"{raters}-raters-{labels}-labels-{missing}-{skew}"] = Case(
                        table, range(labels)
                    )
    return cases


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


CASES = {**_random_cases(), **SKEWED}


every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


pairs_only = pytest.mark.parametrize(
    "case",
    [case for case in CASES.values() if len(case.table[0]) == 2],
    ids=[name for name, case in CASES.items() if len(case.table[0]) == 2],
)


def _or_nan(found: Coefficient) -> float:
    """The value; NaN, as the references write it, where only one label was used."""
    if found.value is None:
        assert found.why_undefined is NoAgreement.ONE_LABEL
        return math.nan
    return found.value


class TestReferences:
    """The coefficients equal those of the reference tools to 1e-9."""

    @every_case
    def test_raw_agreement_is_the_observed_agreement_of_irrcac(self, case: Case) -> None:
        expected = oracles.irrcac("pa", case.table, case.labels)
        assert agreement(case.table, bootstrap=FEW).raw.value == pytest.approx(expected, abs=EXACT)

    @every_case
    def test_fleiss_kappa_is_that_of_irrcac(self, case: Case) -> None:
        expected = oracles.irrcac("fleiss", case.table, case.labels)
        assert agreement(case.table, bootstrap=FEW).fleiss.value == pytest.approx(
            expected, abs=EXACT
        )

    @every_case
    def test_ac1_is_that_of_irrcac_on_the_same_scale(self, case: Case) -> None:
        found = agreement(case.table, labels=case.labels, bootstrap=FEW).ac1
        expected = oracles.irrcac("gwet", case.table, case.labels)
        assert found.value == pytest.approx(expected, abs=EXACT)

    @every_case
    def test_ac1_takes_the_labels_used_where_the_scale_is_not_said(self, case: Case) -> None:
        used = sorted({x for row in case.table for x in row if x is not None})
        expected = oracles.irrcac("gwet", case.table, used)
        assert agreement(case.table, bootstrap=FEW).ac1.value == pytest.approx(expected, abs=EXACT)

    @every_case
    @pytest.mark.parametrize("scale", list(Scale))
    def test_alpha_is_that_of_krippendorff(self, case: Case, scale: Scale) -> None:
        found = agreement(case.table, scale=scale, bootstrap=FEW).alpha
        assert _or_nan(found) == pytest.approx(
            oracles.krippendorff(case.table, scale), abs=EXACT, nan_ok=True
        )

    @every_case
    def test_nominal_alpha_is_that_of_irrcac(self, case: Case) -> None:
        found = agreement(case.table, bootstrap=FEW).alpha
        if found.value is not None:
            expected = oracles.irrcac("krippendorff", case.table, case.labels)
            assert found.value == pytest.approx(expected, abs=EXACT)

    @pairs_only
    def test_cohen_kappa_is_that_of_scikit_learn(self, case: Case) -> None:
        found = cohen_kappa(case.table, bootstrap=FEW)
        assert _or_nan(found) == pytest.approx(
            oracles.scikit_learn(case.table), abs=EXACT, nan_ok=True
        )

    def test_small_tables_worked_out_by_hand(self) -> None:
        alike = [[1, 1], [1, 0], [0, 0], [1, 1]]

        assert measured([[1, 1, 0], [1, 1, 1], [0, N, N]], "raw").value == (1 / 3 + 1) / 2
        fleiss = measured([[1, 1, 0], [0, 0, 0]], "fleiss").value
        assert fleiss == pytest.approx((2 / 3 - 5 / 9) / (1 - 5 / 9), abs=EXACT)
        alpha = measured(alike, "alpha").value
        assert alpha == pytest.approx(1 - 7 * 2 / (2 * 5 * 3), abs=EXACT)
        ac1 = measured([[1, 1], [1, 0], [1, 1], [1, 1]], "ac1").value
        assert ac1 == pytest.approx((3 / 4 - 7 / 32) / (1 - 7 / 32), abs=EXACT)

    def test_published_results_are_met(self) -> None:
        """Fleiss and AC1 from Gwet (2014); alpha from Hayes & Krippendorff (2007)."""
        found = agreement(FOUR_RATERS, bootstrap=FEW)
        ordinal = agreement(FOUR_RATERS, scale=Scale.ORDINAL, bootstrap=FEW).alpha

        assert found.raw.value == pytest.approx(0.81818, abs=5e-6)
        assert found.fleiss.value == pytest.approx(0.76117, abs=5e-6)
        assert found.ac1.value == pytest.approx(0.77544, abs=5e-6)
        assert found.alpha.value == pytest.approx(0.743, abs=5e-4)
        assert ordinal.value == pytest.approx(0.815, abs=5e-4)
        assert found.raw.n == 11


def measured(table: Table, name: str) -> Coefficient:
    """Return one coefficient of a table."""
    found: Coefficient = getattr(agreement(table), name)
    return found


class TestUndefined:
    """A coefficient without a value says why, and has neither bounds nor the value 0."""

    @pytest.mark.parametrize("name", ["raw", "fleiss", "alpha", "ac1", "cohen"])
    @pytest.mark.parametrize(
        ("table", "why"),
        [
            ([], NoAgreement.NO_SHARED_ITEM),
            ([[1], [0]], NoAgreement.TOO_FEW_RATERS),
            ([[]], NoAgreement.TOO_FEW_RATERS),
            ([[1, N], [N, 0]], NoAgreement.NO_SHARED_ITEM),
            ([[N, N]], NoAgreement.NO_SHARED_ITEM),
        ],
    )
    def test_without_shared_items(self, name: str, table: Table, why: NoAgreement) -> None:
        found = measured(table, name)

        assert (found.value, found.lower, found.upper) == (None, None, None)
        assert (found.why_undefined, found.n) == (why, 0)

    @pytest.mark.parametrize("name", ["cohen", "fleiss", "alpha"])
    def test_one_label_only_leaves_nothing_for_chance(self, name: str) -> None:
        found = measured([[1, 1]] * 4, name)

        assert (found.value, found.why_undefined, found.n) == (None, NoAgreement.ONE_LABEL, 4)

    @pytest.mark.parametrize("name", ["raw", "ac1"])
    def test_one_label_only_is_perfect_raw_agreement_and_ac1(self, name: str) -> None:
        found = measured([[1, 1]] * 4, name)

        assert (found.value, found.lower, found.upper, found.n) == (1.0, 1.0, 1.0, 4)

    def test_cohen_kappa_is_for_two(self) -> None:
        found = cohen_kappa([[1, 0, 1], [0, 0, 0]])

        assert found.why_undefined is NoAgreement.NOT_TWO_RATERS

    def test_two_raters_with_one_label_each_agree_as_chance_has_it(self) -> None:
        # Always ✓ against always ✗: Pa = 0, Pe = 0.
        assert cohen_kappa([[1, 0]] * 3).value == 0

    def test_a_row_with_a_cell_too_few_is_a_programming_error(self) -> None:
        with pytest.raises(ValueError, match="cell for every rater"):
            agreement([[1, 0], [1]])

    def test_every_reason_is_explained(self) -> None:
        assert set(EXPLANATIONS) == set(NoAgreement)
