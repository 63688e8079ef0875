"""All waiting of one request together ends at one deadline."""

from __future__ import annotations

from itertools import count

import pytest

from webapp.db import engine


def test_what_was_waited_before_is_not_left_to_what_comes_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = count(0, 4)  # four seconds pass between two looks
    monkeypatch.setattr(engine, "monotonic", lambda: next(clock))
    monkeypatch.setattr(engine, "PATIENCE_SECONDS", 10.0)

    with engine.shared():  # looks at 0: the deadline is at 10
        assert [engine.seconds_left() for _ in range(3)] == [6, 2, 0]  # at 4, 8 and 12


def test_outside_of_a_request_each_statement_may_wait_for_the_whole_time() -> None:
    with engine.shared():
        pass

    assert engine.seconds_left() == engine.PATIENCE_SECONDS


def test_a_time_that_is_over_is_never_the_0_that_means_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "PATIENCE_SECONDS", -1.0)

    assert engine.milliseconds_left() == 1
