"""Every coefficient is explained, and has the name that its explanation has."""

from __future__ import annotations

import pytest

from tests.metrics.agreement.tables import FEW
from webapp.metrics.agreement.agreement import agreement
from webapp.metrics.agreement.registry import COEFFICIENTS, coefficients


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_every_coefficient_states_formula_denominator_edge_cases_and_source(name: str) -> None:
    measure = COEFFICIENTS[name]

    assert all([measure.label, measure.meaning, measure.formula, measure.denominator])
    assert all([measure.edge_cases, measure.source])


def test_each_coefficient_is_found_under_its_own_name() -> None:
    measured = agreement([[1, 1], [1, 0], [0, 0]], bootstrap=FEW)

    assert coefficients(measured) == {
        "raw": measured.raw,
        "cohen_kappa": measured.cohen,
        "fleiss_kappa": measured.fleiss,
        "krippendorff_alpha": measured.alpha,
        "gwet_ac1": measured.ac1,
    }
