"""The rating of an answer as a form: an absent field is kept, an empty one is taken back."""

from __future__ import annotations

import pytest
from flask import Flask

from webapp.records import EmptyOutcome
from webapp.services.judging.events import KEEP, AnswerRating
from webapp.web.frame.forms import UnusableForm, checked
from webapp.web.rating.clicks import BlindRatingForm, RatingForm


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
    with (
        app.test_request_context(method="POST", data=said),
        pytest.raises(UnusableForm) as refused,
    ):
        checked(BlindRatingForm)

    assert refused.value.messages.keys() == said.keys()
