"""Machine against people: held to scikit-learn, and undefined with a reason."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import (  # type: ignore[import-untyped]
    cohen_kappa_score,
    precision_score,
    recall_score,
)

from webapp.metrics.agreement.agreement import NoShare, binary_agreement
from webapp.metrics.agreement.coefficients import NoAgreement
from webapp.metrics.comparisons.significance import Bootstrap

FEW = Bootstrap(resamples=200)


@pytest.mark.parametrize("seed", range(8))
def test_kappa_precision_and_recall_are_those_of_scikit_learn(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [(draw.random() < 0.6, draw.random() < 0.5) for _ in range(40)]
    machine, people = zip(*pairs, strict=True)

    found = binary_agreement(pairs, bootstrap=FEW)

    assert found.n == 40
    assert found.kappa.value == pytest.approx(cohen_kappa_score(machine, people), abs=1e-12)
    assert found.precision == pytest.approx(precision_score(people, machine), abs=1e-12)
    assert found.recall == pytest.approx(recall_score(people, machine), abs=1e-12)
    assert found.agreed == pytest.approx(sum(a == b for a, b in pairs) / 40)


def test_the_table_counts_who_passed_what() -> None:
    found = binary_agreement([(True, True), (True, False), (False, True), (False, False)] * 2)

    assert (found.both, found.machine_only, found.people_only, found.neither) == (2, 2, 2, 2)


def test_what_has_no_value_says_why() -> None:
    nothing = binary_agreement([])
    refused = binary_agreement([(False, False), (False, False)], bootstrap=FEW)

    assert nothing.agreed is None
    assert nothing.kappa.why_undefined is NoAgreement.NO_SHARED_ITEM
    assert refused.precision is NoShare.MACHINE_PASSED_NOTHING
    assert refused.recall is NoShare.PERSON_PASSED_NOTHING
    assert refused.kappa.why_undefined is NoAgreement.ONE_LABEL
