"""Verdicts of several raters are merged by a rule that has a name."""

from __future__ import annotations

import pytest

from webapp.services.judging import verdicts


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["1", "1", "0"], "1"),
        (["1", "0"], None),
        (["1", "unsure"], "1"),
        (["unsure", "unsure"], "unsure"),
        (["1", "0", "unsure", "0"], "0"),
        ([], None),
        (["correct_empty", "false_negative", "false_negative"], "false_negative"),
    ],
)
def test_most_decided_votes_win_and_a_tie_stays_open(votes: list[str], verdict: str | None) -> None:
    assert verdicts.merge(tuple(votes)) == verdict
