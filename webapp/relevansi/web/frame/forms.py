"""The form that a request sends, its checks, and its messages in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from flask import request
from werkzeug.datastructures import MultiDict
from wtforms import Field, Form
from wtforms.form import BaseForm
from wtforms.validators import ValidationError

from relevansi import failures, notation
from relevansi.failures import Refused
from relevansi.i18n import gettext, mark
from relevansi.printable import name_line

FormT = TypeVar("FormT", bound=Form)
AnyForm = TypeVar("AnyForm", bound=BaseForm)


class UnusableForm(Refused, ValueError):
    """A form holds a value that it cannot have; ``messages`` has a sentence for each field."""

    message = mark("This request cannot be answered")
    remedy = failures.RELOAD

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__(", ".join(messages))
        self.messages = messages


def form_from_request(kind: type[FormT], after: str = "", **stored: Any) -> FormT:
    """Return the form that the request sends, unchecked; the names of its fields end in `after`.

    A field that is not sent has its value of `stored`, or its default.
    """
    texts = [
        (name.removesuffix(after), value)
        for name, value in request.form.items(multi=True)
        if name.endswith(after)
    ]
    return kind(MultiDict(texts), data=stored)


def validated_form(kind: type[FormT]) -> FormT:
    """Return the form that the request sends if it is valid; raises ``UnusableForm``."""
    return validated(form_from_request(kind))


def form_of_fields(fields: Mapping[str, Any]) -> BaseForm:
    """Return the request's form of fields that a page named itself, unchecked."""
    form = BaseForm(fields)
    form.process(request.form)
    return form


def validated(form: AnyForm) -> AnyForm:
    """Return the form if it is valid; raises ``UnusableForm``."""
    if not form.validate():
        raise UnusableForm(messages(form))
    return form


def chosen_file() -> tuple[str, bytes]:
    """Return the name and bytes of the chosen file; raises ``UnusableForm`` without one."""
    chosen = request.files.get("file")
    if chosen is None or not chosen.filename:
        raise UnusableForm({"file": gettext("Choose a file first.")})
    return chosen.filename.replace("\x00", ""), chosen.read()


def messages(form: BaseForm) -> dict[str, str]:
    """Return one message for each invalid field, in the reader's language."""
    return {field.name: gettext(str(field.errors[0])) for field in form if field.errors}


LONGEST_ID = 64
LONGEST_LABEL = 200
LONGEST_ANSWER = 200_000
UNUSABLE = mark("This value cannot be used here.")
TOO_LONG = mark("This text is too long.")
REQUIRED = mark("Please fill this in.")
NOT_WHOLE = mark("Please write a whole number, in digits.")
OUT_OF_RANGE = mark("This number is too small or too large.")


def clean(value: str | None) -> str:
    """Return the typed text without NUL, which databases refuse, and with plain line ends."""
    return (value or "").replace("\x00", "").replace("\r\n", "\n")


def line(value: str | None) -> str:
    """Return one line as typed, without the blanks around it."""
    return clean(value).strip()


def typed(form: BaseForm) -> dict[str, str]:
    """Return the texts of a form as they were typed, by the names of their fields."""
    return {field.name: field.typed for field in form if isinstance(field, KindField)}


class KindField(Field):
    """A field that reads one kind of value; ``data`` is ``None`` where nothing was typed.

    An absent field keeps its default. `wrong` replaces the messages of the kind.
    """

    def __init__(self, *, required: bool = False, wrong: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.required, self.wrong = required, wrong

    def read(self, typed: str) -> Any:
        """Return the value of a typed text; raises ``ValueError`` with a sentence."""
        raise NotImplementedError

    def written(self, value: Any) -> str:
        """Return the text that is read as `value`; "" for ``None``, which is nothing typed."""
        return "" if value is None else str(value)

    @property
    def typed(self) -> str:
        """The text as it was typed, or as its value is written."""
        return line(self.raw_data[0]) if self.raw_data else self.written(self.data)

    def set_value(self, value: Any) -> None:
        """Replace the typed text by a value."""
        self.raw_data, self.process_errors, self.data = None, [], value

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        if valuelist:
            self.data = None
            typed = line(valuelist[0])
            try:
                self.data = self.read(typed) if typed else None
            except ValueError as error:
                raise ValueError(self.wrong or error.args[0]) from None

    def pre_validate(self, form: BaseForm) -> None:  # noqa: ARG002 (WTForms gives it)
        if self.required and self.data in {None, ""}:
            raise ValidationError(self.wrong or REQUIRED)


class TextField(KindField):
    """A text of at most `longest` characters, with its lines and blanks; "" where it is empty."""

    tidy: Callable[[str], str] = staticmethod(clean)

    def __init__(self, longest: int, **options: Any) -> None:
        super().__init__(**{"default": "", **options})
        self.longest = longest

    @property
    def typed(self) -> str:
        return str(self.data)

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        if valuelist:
            self.data = self.tidy(valuelist[0])
            if len(self.data) > self.longest:
                raise ValueError(self.wrong or TOO_LONG)


class LineField(TextField):
    """A text without the blanks around it; "" where it is empty."""

    tidy = staticmethod(line)


class NameField(TextField):
    """A name that must be given, of what can be seen; several blanks in it are one."""

    tidy = staticmethod(name_line)

    def __init__(self, longest: int, **options: Any) -> None:
        super().__init__(longest, **{"required": True, **options})


class ListField(Field):
    """All values of a name that a form gives several times."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        self.data = [line(value) for value in valuelist]


class WholeField(KindField):
    """A whole number from `low` to `high`."""

    def __init__(self, low: int, high: int, **options: Any) -> None:
        super().__init__(**options)
        self.low, self.high = low, high

    def read(self, typed: str) -> Any:
        if not re.fullmatch("[0-9]{1,13}", typed):
            raise ValueError(NOT_WHOLE)
        return self.within(int(typed))

    def within(self, value: Any) -> Any:
        """Return the number; raises ``ValueError`` beyond the limits."""
        if not self.low <= value <= self.high:
            raise ValueError(OUT_OF_RANGE)
        return value


class DecimalField(WholeField):
    """An exact number from `low` to `high`, with a point or a comma before its decimals."""

    def read(self, typed: str) -> Fraction:
        if not re.fullmatch(r"-?[0-9]{1,12}(?:[.,][0-9]{1,20})?", typed):
            raise ValueError(UNUSABLE)
        return Fraction(self.within(Fraction(typed.replace(",", "."))))

    def written(self, value: float | Fraction | None) -> str:
        """Return all decimals of the number, without an exponent, as the reader writes them."""
        return "" if value is None else self.plain(value).replace(".", notation.decimal_mark())

    @staticmethod
    def plain(value: float | Fraction) -> str:
        """Return all decimals of the number behind a point."""
        return f"{Decimal(repr(float(value))):f}".removesuffix(".0")


class ChoiceField(KindField):
    """One of several words; ``data`` is the meaning of the word, where it has another."""

    def __init__(self, meanings: Mapping[str, Any] | Iterable[str], **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(meanings, Mapping):
            meanings = {word: word for word in meanings}
        self.meanings = meanings

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        if valuelist:
            word = line(valuelist[0])
            self.data = self.meanings.get(word)
            if word not in self.meanings:
                raise ValueError(self.wrong or UNUSABLE)

    def pre_validate(self, form: BaseForm) -> None:  # noqa: ARG002 (WTForms gives it)
        if self.data not in self.meanings.values():
            raise ValidationError(self.wrong or UNUSABLE)

    def written(self, value: Any) -> str:
        return next((word for word, meaning in self.meanings.items() if meaning == value), "")


class MomentField(KindField):
    """A time with its zone, or as milliseconds since 1970; ``data`` is in UTC."""

    def read(self, typed: str) -> datetime:
        try:
            if typed.isdecimal():
                return datetime.fromtimestamp(int(typed) / 1000, UTC)
            moment = datetime.fromisoformat(typed)
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            pass
        raise ValueError(UNUSABLE)
