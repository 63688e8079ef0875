"""The forms of the pages and their checks, with messages in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

from flask import request
from werkzeug.datastructures import MultiDict
from wtforms import BooleanField, Field, Form, StringField
from wtforms.validators import AnyOf, Length, ValidationError

from webapp import failures
from webapp.failures import Refused
from webapp.i18n import gettext, mark
from webapp.records import EmptyOutcome
from webapp.services.judging.judgments import KEEP, MOST_NOTES, AnswerRating
from webapp.services.runs import order as run_order
from webapp.services.study.studies import Switches

FormT = TypeVar("FormT", bound=Form)

LONGEST_ID = 64
LONGEST_LABEL = 200
LONGEST_ANSWER = 200_000
UNUSABLE = mark("This value cannot be used here.")
TOO_LONG = mark("This text is too long.")
REQUIRED = mark("Please fill this in.")
NOT_WHOLE = mark("Please write a whole number, in digits.")
OUT_OF_RANGE = mark("This number is too small or too large.")
NO_PRICE = mark("Please write a price in digits, for example 0.15.")
OURS = {UNUSABLE, TOO_LONG, REQUIRED, NOT_WHOLE, OUT_OF_RANGE, NO_PRICE}

MOST_RATERS = 1000
DEEPEST = 10_000
BLIND = {"auto": None, "yes": True, "no": False}
"""The form's choices of blindness, with the value that a study stores for each."""


class UnusableForm(Refused, ValueError):
    """A form holds a value that it cannot have; ``messages`` has a sentence for each field."""

    message = mark("This request cannot be answered")
    remedy = failures.RELOAD

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__(", ".join(messages))
        self.messages = messages


def clean(value: str | None) -> str:
    """Return the typed text without NUL, which databases refuse, and with plain line ends."""
    return (value or "").replace("\x00", "").replace("\r\n", "\n")


def line(value: str | None) -> str:
    """Return one line as typed, without the blanks around it."""
    return clean(value).strip()


def _one_of(values: list[str]) -> list[Any]:
    return [AnyOf(values, message=UNUSABLE)]


def at_most(length: int) -> Length:
    """Accepts a text of at most `length` characters."""
    return Length(max=length, message=TOO_LONG)


class _Whole:
    """Accepts a whole number from `low` to `high`, or nothing unless it is `required`."""

    def __init__(self, low: int, high: int, *, required: bool = False) -> None:
        self.low, self.high, self.required = low, high, required

    def __call__(self, _form: Form, field: Field) -> None:
        if not field.data:
            if self.required:
                raise ValidationError(REQUIRED)
            return
        if not re.fullmatch("[0-9]{1,9}", field.data):
            raise ValidationError(NOT_WHOLE)
        if not self.low <= int(field.data) <= self.high:
            raise ValidationError(OUT_OF_RANGE)


class RatingForm(Form):
    """The rating of a whole answer; an absent field is left as it is."""

    quality = StringField(filters=[line], validators=_one_of(["", *"012345"]))
    notes = StringField(filters=[clean], validators=[at_most(MOST_NOTES)])
    empty_outcome = StringField(filters=[line], validators=_one_of(["", *EmptyOutcome]))
    onward = BooleanField()

    @property
    def rating(self) -> AnswerRating:
        """Return the rating of the form, with ``KEEP`` for absent fields."""
        quality, outcome = self.quality, self.empty_outcome
        return AnswerRating(
            quality=_said(quality, int(quality.data) if quality.data else None),
            notes=_said(self.notes, self.notes.data),
            empty_outcome=_said(outcome, EmptyOutcome(outcome.data) if outcome.data else None),
        )


class BlindRatingForm(RatingForm):
    """A blind rater's rating of the answer of that name in a task, or of its empty lists."""

    answer = StringField(filters=[line], validators=[at_most(LONGEST_ID)])


class CardsForm(Form):
    """Cards written by hand, as the chatbot would have listed them."""

    text = StringField(filters=[clean], validators=[at_most(LONGEST_ANSWER)])


class LabelsForm(Form):
    """The labels of a run."""

    search_method = StringField(filters=[line], validators=[at_most(LONGEST_LABEL)])
    llm = StringField(filters=[line], validators=[at_most(LONGEST_LABEL)])


class MoveForm(Form):
    """The way a run goes in the study's order."""

    direction = StringField(validators=_one_of([*run_order.STEPS]))


class StudyForm(Form):
    """The owner's settings of a study. Numbers stay as typed, empty where that means all."""

    name = StringField(
        filters=[line],
        validators=[at_most(LONGEST_LABEL), Length(min=1, message=REQUIRED)],
    )
    guidelines = StringField(filters=[clean], validators=[at_most(LONGEST_ANSWER)])
    blind = StringField(filters=[line], validators=_one_of([*BLIND]), default="auto")
    order = StringField(filters=[line], validators=_one_of(["given", "shuffled"]), default="given")
    figures = StringField(
        filters=[line], validators=_one_of(["progress", "all"]), default="progress"
    )
    overlap = StringField(filters=[line], validators=[_Whole(1, MOST_RATERS)])
    pool_depth = StringField(filters=[line], validators=[_Whole(1, DEEPEST)])
    repeat_percent = StringField(filters=[line], validators=[_Whole(0, 100, required=True)])
    allow_bulk = BooleanField()
    show_pictures = BooleanField()
    badges_while_blind = BooleanField()
    show_record = BooleanField()

    @classmethod
    def showing(cls, switches: Switches) -> StudyForm:
        """Return the form filled with a study's settings."""
        numbers = ("overlap", "pool_depth", "repeat_percent")
        given = asdict(switches) | {name: _typed(getattr(switches, name)) for name in numbers}
        blind = next(word for word, value in BLIND.items() if value is switches.blind)
        order = "shuffled" if switches.shuffle_questions else "given"
        return cls(data=given | {"blind": blind, "order": order})

    def switches(self, before: Switches) -> Switches:
        """Return the settings of a valid form; those without a field stay as in `before`."""
        said: dict[str, Any] = self.data
        return replace(
            before,
            name=said["name"],
            guidelines=said["guidelines"],
            blind=BLIND[said["blind"]],
            shuffle_questions=said["order"] == "shuffled",
            figures=said["figures"],
            overlap=_number(said["overlap"]),
            pool_depth=_number(said["pool_depth"]),
            repeat_percent=int(said["repeat_percent"]),
            allow_bulk=said["allow_bulk"],
            show_pictures=said["show_pictures"],
            badges_while_blind=said["badges_while_blind"],
            show_record=said["show_record"],
        )


def checked(kind: type[FormT], values: MultiDict[str, str] | None = None) -> FormT:
    """Return the request's form if it is valid; raises ``UnusableForm``."""
    return _valid(kind(request.form if values is None else values))


def chosen_file() -> tuple[str, bytes]:
    """Return the name and bytes of the chosen file; raises ``UnusableForm`` without one."""
    chosen = request.files.get("file")
    if chosen is None or not chosen.filename:
        raise UnusableForm({"file": gettext("Choose a file first.")})
    return chosen.filename.replace("\x00", ""), chosen.read()


def _valid(form: FormT) -> FormT:
    if not form.validate():
        raise UnusableForm(messages(form))
    return form


def messages(form: Form) -> dict[str, str]:
    """Return one message for each invalid field, in the reader's language.

    WTForms has no Indonesian, so its own messages are replaced by ours.
    """
    return {
        field.name: gettext(first if (first := field.errors[0]) in OURS else UNUSABLE)
        for field in form
        if field.errors
    }


def _said(field: Field, value: object) -> Any:
    return value if field.name in request.form else KEEP


def _typed(number: int | None) -> str:
    return "" if number is None else str(number)


def _number(typed: str) -> int | None:
    return int(typed) if typed else None
