"""Which event is in force does not depend on the order of arrival, nor on a clock running ahead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import NOW
from webapp.services.judging.events import in_order, standing


@dataclass(frozen=True)
class Made:
    """An event as the order sees it."""

    device: str
    sequence: int
    client_time: datetime | None
    received_at: datetime


def made(device: str, sequence: int, client: int | None, received: int) -> Made:
    client_time = None if client is None else NOW + timedelta(minutes=client)
    return Made(device, sequence, client_time, NOW + timedelta(minutes=received))


def test_nothing_stands_where_nothing_happened() -> None:
    assert standing([]) is None


@pytest.mark.parametrize(
    ("events", "last"),
    [
        ([made("a", 1, 1, 1), made("a", 2, 2, 2)], 1),
        ([made("a", 2, 1, 1), made("a", 1, 5, 5)], 0),  # own sequence beats the clock
        ([made("phone", 1, 10, 1), made("laptop", 1, 2, 2)], 1),  # receipt caps a fast clock
        ([made("phone", 1, 1, 9), made("laptop", 1, 5, 5)], 1),  # sent late, clicked early
        ([made("a", 1, None, 3), made("b", 1, None, 2)], 0),
        # The phone's second click was at minute 2 at the latest, so its first was too.
        ([made("phone", 1, 50, 9), made("phone", 2, 2, 9), made("laptop", 1, 7, 7)], 2),
    ],
)
def test_the_last_event_in_order_stands(events: list[Made], last: int) -> None:
    assert standing(events) is events[last]
    assert standing(reversed(events)) is events[last]


EVENTS = st.lists(
    st.builds(
        made,
        st.sampled_from("abc"),
        st.integers(1, 6),
        st.none() | st.integers(0, 60),
        st.integers(0, 60),
    ),
    max_size=8,
    unique_by=lambda event: (event.device, event.sequence),
)


@given(EVENTS, st.randoms())
def test_order_of_arrival_changes_nothing(events: list[Made], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(events)
    random.shuffle(shuffled)

    assert in_order(shuffled) == in_order(events)


@given(EVENTS)
def test_the_one_that_stands_is_the_last_in_order(events: list[Made]) -> None:
    assert standing(events) is (in_order(events)[-1] if events else None)


def test_of_two_with_one_number_the_later_stands_whichever_came_first() -> None:
    earlier, later = made("a", 1, 1, 9), made("a", 1, 2, 9)

    assert standing([earlier, later]) is standing([later, earlier]) is later
    assert in_order([later, earlier]) == in_order([earlier, later]) == [earlier, later]


@given(EVENTS)
def test_a_device_keeps_its_own_sequence(events: list[Made]) -> None:
    for device in "abc":
        own = [event.sequence for event in in_order(events) if event.device == device]
        assert own == sorted(own)
