"""The forms of rating: the quality and notes of an answer, and cards written by hand."""

from __future__ import annotations

from typing import Any

from wtforms import BooleanField, Field, Form

from webapp.records import EmptyOutcome
from webapp.services.judging.judgments import KEEP, MOST_NOTES, AnswerRating
from webapp.web.frame.fields import LONGEST_ANSWER, LONGEST_ID, ChoiceField, LineField, TextField


class RatingForm(Form):
    """The rating of a whole answer; an absent field is left as it is."""

    quality = ChoiceField({"": None, **{str(grade): grade for grade in range(6)}})
    notes = TextField(MOST_NOTES)
    empty_outcome = ChoiceField({"": None, **{str(outcome): outcome for outcome in EmptyOutcome}})
    onward = BooleanField()

    @property
    def rating(self) -> AnswerRating:
        """Return the rating of the form, with ``KEEP`` for absent fields."""
        said = (self.quality, self.notes, self.empty_outcome)
        return AnswerRating(**{field.name: _said(field) for field in said})


class BlindRatingForm(RatingForm):
    """A blind rater's rating of the answer of that name in a task, or of its empty lists."""

    answer = LineField(LONGEST_ID)


class CardsForm(Form):
    """Cards written by hand, as the chatbot would have listed them."""

    text = TextField(LONGEST_ANSWER)


def _said(field: Field) -> Any:
    return field.data if field.raw_data else KEEP
