"""The provenance of a final label follows from the votes, and labels are counted by it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from webapp.services.runs.reports import (
    LabelCounts,
    Provenance,
    decided,
    is_disputed,
    label_counts,
    margin,
    provenance,
)


@pytest.mark.parametrize(
    ("cast", "found"),
    [
        (["1"], Provenance.UNANIMOUS),
        (["1", "unsure"], Provenance.UNANIMOUS),  # "cannot tell" does not vote
        (["unsure", "unsure"], Provenance.UNANIMOUS),
        (["0", "1", "0"], Provenance.MAJORITY),
        (["0", "1"], Provenance.OPEN),
        (["0", "1", "unsure"], Provenance.OPEN),
        ([], Provenance.OPEN),
    ],
)
def test_votes_say_where_a_label_comes_from(cast: list[str], found: Provenance) -> None:
    assert provenance(cast) is found
    assert provenance(cast, adjudicated=True) is Provenance.ADJUDICATED


def test_every_label_is_counted_once_by_its_provenance() -> None:
    cast = {
        1: {7: "1"},
        2: {7: "1", 8: "1"},
        3: {7: "unsure", 8: "unsure"},
        4: {7: "1", 8: "0", 9: "1"},
        5: {7: "1", 8: "0"},
        6: dict[int, str](),
        7: {7: "1", 8: "0"},
    }

    found = label_counts(cast, settled={7})
    # Things 1 to 3 are unanimous, 1 alone, 3 undecided; 5 is tied and 6 unjudged.
    assert found == LabelCounts(
        unanimous=3, majority=1, adjudicated=1, open=2, alone=1, cannot_tell=1, tied=1, unjudged=1
    )
    assert found.total == len(cast)


@pytest.mark.parametrize(
    ("cast", "lead"),
    [
        ([], Fraction(0)),
        (["unsure"], Fraction(0)),
        (["1"], Fraction(1)),
        (["1", "0", "1", "0"], Fraction(0)),
        (["1", "1", "1", "0", "unsure"], Fraction(1, 2)),  # (3 - 1) / 4
    ],
)
def test_the_margin_is_a_share_of_the_decided_votes(cast: list[str], lead: Fraction) -> None:
    assert margin(cast) == lead


def test_cannot_tell_disputes_nothing() -> None:
    assert decided(["1", "unsure", "1"]) == Counter({"1": 2})
    assert not is_disputed(["1", "unsure"])
    assert is_disputed(["correct_empty", "false_negative"])
