"""The form of a click, field by field, and the values that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest
from flask import Flask

from webapp.i18n import speaking
from webapp.records import EmptyOutcome, Relevance
from webapp.services.judging.events import KEEP, AnswerRating
from webapp.web.frame.forms import UnusableForm, checked
from webapp.web.rating import clicks
from webapp.web.rating.clicks import BlindRatingForm, RatingForm, VerdictForm

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
TOO_LONG, UNUSABLE = "This text is too long.", "This value cannot be used here."


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({}, (None, "", False)),
        ({"relevance": ""}, (None, "", False)),
        ({"relevance": " 1 ", "onward": ""}, (Relevance.RELEVANT, "", False)),
        ({"relevance": "0", "onward": "1"}, (Relevance.NOT_RELEVANT, "", True)),
        ({"relevance": "unsure", "card": "a1\x00"}, (Relevance.UNSURE, "a1", False)),
    ],
)
def test_a_verdict_is_read(app: Flask, said: dict[str, str], meant: tuple[object, ...]) -> None:
    with app.test_request_context(method="POST", data=said | {"event_id": "e1"}):
        found = checked(VerdictForm)

    assert (found.relevance.data, found.card.data, found.onward.data) == meant
    assert found.click.event_id == "e1"


def test_an_event_is_read_and_named_where_nobody_named_it(app: Flask) -> None:
    said = {"event_id": " e1 ", "device": "phone", "sequence": "12", "client_time": "1772355600000"}
    with app.test_request_context(method="POST", data=said):
        event = clicks.event()
    with app.test_request_context(method="POST", data={"event_id": "", "sequence": " "}):
        first, second = clicks.event(), clicks.event()

    assert (event.event_id, event.device, event.sequence) == ("e1", "phone", 12)
    assert event.client_time == NINE
    assert first.event_id != second.event_id
    assert (first.device, first.sequence, first.client_time) == (None, None, None)
    assert first.received_at.tzinfo is UTC


def test_a_time_in_words_keeps_its_moment(app: Flask) -> None:
    said = {"client_time": "2026-03-01T16:00:00+07:00"}
    with app.test_request_context(method="POST", data=said):
        assert clicks.event().client_time == NINE


@pytest.mark.parametrize(
    ("read", "field", "said", "why"),
    [
        (clicks.event, "event_id", "e" * 65, TOO_LONG),
        (clicks.event, "device", "d" * 65, TOO_LONG),
        (clicks.event, "sequence", "first", UNUSABLE),
        (clicks.event, "sequence", "-1", UNUSABLE),
        (clicks.event, "sequence", "1.5", UNUSABLE),
        (clicks.event, "sequence", str(2**31), UNUSABLE),
        (clicks.event, "sequence", "9" * 5_000, UNUSABLE),
        (clicks.event, "client_time", "yesterday", UNUSABLE),
        (clicks.event, "client_time", "9" * 30, UNUSABLE),
        (clicks.event, "client_time", "2026-03-01T09:00:00", UNUSABLE),
        (partial(checked, VerdictForm), "relevance", "yes", UNUSABLE),
        (partial(checked, VerdictForm), "relevance", "1 0", UNUSABLE),
        (partial(checked, VerdictForm), "card", "c" * 65, TOO_LONG),
    ],
)
def test_what_cannot_be_said_is_refused_by_its_field(
    app: Flask, read: Callable[[], object], field: str, said: str, why: str
) -> None:
    with (
        app.test_request_context(method="POST", data={field: said}),
        speaking("en"),
        pytest.raises(UnusableForm) as refused,
    ):
        read()

    assert refused.value.messages == {field: why}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({}, AnswerRating()),
        ({"quality": "0"}, AnswerRating(quality=0)),
        ({"quality": ""}, AnswerRating(quality=None)),
        ({"quality": "5", "notes": " a\r\nb"}, AnswerRating(quality=5, notes=" a\nb")),
        ({"notes": ""}, AnswerRating(notes="")),
        ({"empty_outcome": ""}, AnswerRating(empty_outcome=None)),
        (
            {"empty_outcome": "false_negative"},
            AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE),
        ),
    ],
)
def test_a_rating_is_read(app: Flask, said: dict[str, str], meant: AnswerRating) -> None:
    with app.test_request_context(method="POST", data=said):
        rating = checked(RatingForm).rating

    assert rating == meant
    assert (rating.quality is KEEP) == ("quality" not in said)


@pytest.mark.parametrize(
    "said", [{"quality": "6"}, {"empty_outcome": "none"}, {"answer": "a" * 65}]
)
def test_a_rating_that_cannot_be_is_refused_by_its_field(app: Flask, said: dict[str, str]) -> None:
    with app.test_request_context(method="POST", data=said), pytest.raises(UnusableForm) as refused:
        checked(BlindRatingForm)

    assert refused.value.messages.keys() == said.keys()
