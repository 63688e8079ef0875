"""The forms of machine judges: a name and a prompt, prices and limits."""

from __future__ import annotations

import re

from wtforms import Field, Form, StringField
from wtforms.validators import AnyOf, Length, ValidationError

from webapp.i18n import LANGUAGES
from webapp.services.machine_judges.progress import SessionLine
from webapp.services.machine_judges.prompts import LONGEST_PROMPT
from webapp.services.machine_judges.sessions import MOST_AT_ONCE, Terms
from webapp.services.people.raters import LONGEST_NAME
from webapp.web.frame.forms import (
    NO_PRICE,
    NOT_WHOLE,
    OUT_OF_RANGE,
    REQUIRED,
    TOO_LONG,
    UNUSABLE,
    line,
)

MOST_CALLS, MOST_TOKENS = 1_000_000, 10**12
LONGEST_CURRENCY = 8


class _WholeUpTo:
    """Accepts a whole number from 1 to `most`, or nothing."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, _form: Form, field: Field) -> None:
        if field.data and not re.fullmatch("[0-9]{1,13}", field.data):
            raise ValidationError(NOT_WHOLE)
        if field.data and not 1 <= int(field.data) <= self.most:
            raise ValidationError(OUT_OF_RANGE)


def _price(_form: Form, field: Field) -> None:
    if field.data and not re.fullmatch(r"[0-9]{1,9}([.,][0-9]{1,6})?", field.data):
        raise ValidationError(NO_PRICE)


class NewJudgeForm(Form):
    """The name and the prompt of a new machine judge."""

    name = StringField(
        filters=[lambda value: " ".join(line(value).split())],
        validators=[Length(min=1, message=REQUIRED), Length(max=LONGEST_NAME, message=TOO_LONG)],
    )
    language = StringField(default="id", validators=[AnyOf([*LANGUAGES], message=UNUSABLE)])
    prompt = StringField(
        filters=[line],
        validators=[Length(min=1, message=REQUIRED), Length(max=LONGEST_PROMPT, message=TOO_LONG)],
    )


class TermsForm(Form):
    """The owner's prices for a million tokens, and the limits at which the judge stops."""

    prompt_price = StringField(filters=[line], validators=[_price])
    completion_price = StringField(filters=[line], validators=[_price])
    currency = StringField(
        filters=[line], validators=[Length(max=LONGEST_CURRENCY, message=TOO_LONG)]
    )
    most_calls = StringField(filters=[line], validators=[_WholeUpTo(MOST_CALLS)])
    most_tokens = StringField(filters=[line], validators=[_WholeUpTo(MOST_TOKENS)])
    at_once = StringField(default="2", filters=[line], validators=[_WholeUpTo(MOST_AT_ONCE)])

    def terms(self) -> Terms:
        """Return the terms of a valid form."""
        return Terms(
            prompt_price=_amount(self.prompt_price.data),
            completion_price=_amount(self.completion_price.data),
            currency=self.currency.data or "",
            most_calls=int(self.most_calls.data) if self.most_calls.data else None,
            most_tokens=int(self.most_tokens.data) if self.most_tokens.data else None,
            at_once=int(self.at_once.data or 2),
        )


def terms_of(line: SessionLine) -> dict[str, str]:
    """Return the prices that a session was started with, as they can be typed."""
    return {
        "prompt_price": "" if line.prompt_price is None else f"{line.prompt_price:g}",
        "completion_price": "" if line.completion_price is None else f"{line.completion_price:g}",
        "currency": line.currency,
        "at_once": "2",
    }


def _amount(typed: str | None) -> float | None:
    return float(typed.replace(",", ".")) if typed else None
