from __future__ import annotations

from webapp.metrics.agreement.agreement import Bootstrap, NoAgreement, Scale, agreement
from webapp.metrics.agreement.breakdown import (
    CannotTell,
    by_group,
    by_pair,
    cannot_tell,
    labels_of,
    repeat_agreement,
)
from webapp.records import Relevance

FEW = Bootstrap(resamples=5)
R, U, X = Relevance.RELEVANT, Relevance.UNSURE, Relevance.NOT_RELEVANT


def test_cannot_tell_is_missing_for_the_coefficients_and_its_rate_is_told() -> None:
    verdicts: list[list[Relevance | None]] = [[R, R, U], [U, X, X], [R, None, X]]

    assert labels_of(verdicts) == [[1, 1, None], [None, 0, 0], [1, None, 0]]
    assert cannot_tell(v for row in verdicts for v in row) == CannotTell(2, 8)
    assert CannotTell(2, 8).rate == 0.25


def test_the_rate_of_cannot_tell_without_judgments_is_undefined() -> None:
    assert cannot_tell([None, None]).rate is None


def test_every_two_raters_are_compared_over_what_both_decided() -> None:
    table = [[1, 1, None], [0, 1, None], [1, None, 1], [0, None, 0]]
    found = by_pair(table, ["Ani", "Budi", "Citra"], bootstrap=FEW)

    assert list(found) == [("Ani", "Budi"), ("Ani", "Citra"), ("Budi", "Citra")]
    assert (found["Ani", "Budi"].raw.value, found["Ani", "Budi"].raw.n) == (0.5, 2)
    assert found["Ani", "Citra"].cohen.value == 1
    assert found["Budi", "Citra"].cohen.why_undefined is NoAgreement.NO_SHARED_ITEM


def test_a_group_is_measured_on_its_own_items() -> None:
    table = [[1, 1], [1, 0], [0, 0], [0, 0]]
    found = by_group(table, ["price", "price", "location", "price"], bootstrap=FEW)

    assert list(found) == ["price", "location"]
    assert found["price"] == agreement([[1, 1], [1, 0], [0, 0]], bootstrap=FEW)
    assert found["location"].fleiss.why_undefined is NoAgreement.ONE_LABEL


def test_scale_and_labels_reach_the_parts() -> None:
    table = [[0, 1], [5, 5], [3, 2], [4, 4]]
    expected = agreement(table, scale=Scale.ORDINAL, labels=range(6), bootstrap=FEW)

    pair = by_pair(table, "AB", scale=Scale.ORDINAL, labels=range(6), bootstrap=FEW)
    group = by_group(table, "gggg", scale=Scale.ORDINAL, labels=range(6), bootstrap=FEW)

    assert pair["A", "B"] == group["g"] == expected


def test_a_rater_s_repeats_are_compared_with_their_first_labels() -> None:
    found = repeat_agreement([(1, 1), (0, 0), (1, 0), (0, None)], bootstrap=FEW)

    assert (found.raw.value, found.raw.n) == (2 / 3, 3)
    # First pass 2/3 ✓, second 1/3 ✓: Pe = 2/9 + 2/9; (2/3 - 4/9) / (5/9)
    assert found.cohen.value == 0.4


def test_repeats_that_are_not_there_yet_are_told_as_such() -> None:
    for pairs in ([], [(1, None)]):
        assert repeat_agreement(pairs).raw.why_undefined is NoAgreement.NO_SHARED_ITEM
