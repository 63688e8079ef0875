"""Forms: the value of a typed text, the text shown again, the message in the reader's language."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict
from wtforms import Form
from wtforms.form import BaseForm

from relevansi.i18n import gettext, speaking
from relevansi.web.frame import forms
from relevansi.web.frame.forms import (
    NOT_WHOLE,
    OUT_OF_RANGE,
    REQUIRED,
    TOO_LONG,
    UNUSABLE,
    ChoiceField,
    DecimalField,
    LineField,
    ListField,
    MomentField,
    NameField,
    TextField,
    WholeField,
)

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
KINDS: dict[str, Callable[[], Any]] = {
    "whole": lambda: WholeField(1, 50),
    "percent": lambda: WholeField(0, 100, required=True),
    "hidden": lambda: WholeField(0, 9, required=True, wrong=UNUSABLE),
    "share": lambda: DecimalField(0, 1),
    "moment": MomentField,
    "line": lambda: LineField(5),
    "text": lambda: TextField(5),
    "name": lambda: NameField(5),
    "choice": lambda: ChoiceField({"": None, "yes": True, "no": False}),
    "word": lambda: ChoiceField(["up", "down"]),
    "list": ListField,
}


class SeatsForm(Form):
    seats = WholeField(1, 4)
    remark = LineField(3)


def field_of(kind: str, *typed: str) -> Any:
    form = BaseForm({"it": KINDS[kind]()})
    form.process(MultiDict([("it", value) for value in typed]))
    form.validate()
    return form["it"]


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [
        ("whole", " 7 ", 7),
        ("whole", "", None),
        ("percent", "0", 0),
        ("share", "0,6", Fraction(3, 5)),
        ("moment", "1772355600000", NINE),
        ("moment", "2026-03-01T16:00:00+07:00", NINE),
        ("line", " a b \x00", "a b"),
        ("text", " a\r\nb ", " a\nb "),
        ("name", "  a   b ", "a b"),
        ("name", "\u200ba\u202e\u3164", "a"),
        ("choice", "yes", True),
        ("word", "up", "up"),
    ],
)
def test_a_typed_text_has_the_value_of_its_kind(kind: str, typed: str, value: object) -> None:
    field = field_of(kind, typed)

    assert (field.data, list(field.errors)) == (value, [])


@pytest.mark.parametrize(
    ("kind", "typed", "why"),
    [
        ("whole", "51", OUT_OF_RANGE),
        ("whole", "-1", NOT_WHOLE),
        ("whole", "٣", NOT_WHOLE),
        ("whole", "9" * 5_000, NOT_WHOLE),
        ("percent", "", REQUIRED),
        ("hidden", "", UNUSABLE),
        ("share", "1.01", OUT_OF_RANGE),
        ("share", "1e-1", UNUSABLE),
        ("share", "12.345.678", UNUSABLE),
        ("moment", "yesterday", UNUSABLE),
        ("moment", "9" * 30, UNUSABLE),
        ("moment", "2026-03-01T09:00:00", UNUSABLE),
        ("line", "abcdef", TOO_LONG),
        ("text", "abc\ndef", TOO_LONG),
        ("name", " ", REQUIRED),
        ("choice", "maybe", UNUSABLE),
        ("word", "", UNUSABLE),
    ],
)
def test_a_text_of_another_kind_is_shown_again_with_its_message(
    kind: str, typed: str, why: str
) -> None:
    field = field_of(kind, typed)

    assert field.errors[0] == why
    assert field.typed == typed.strip()


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("whole", None, []),
        ("percent", None, [REQUIRED]),
        ("line", "", []),
        ("name", "", [REQUIRED]),
        ("choice", None, []),
        ("word", None, [UNUSABLE]),
        ("list", [], []),
    ],
)
def test_an_absent_field_has_its_default(kind: str, value: object, why: list[str]) -> None:
    field = field_of(kind)

    assert (field.data, list(field.errors)) == (value, why)


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        ("whole", 7, "7"),
        ("share", Fraction(98, 100), "0,98"),
        ("share", 1e-05, "0,00001"),
        ("choice", False, "no"),
        ("choice", None, ""),
        ("line", "a", "a"),
    ],
)
def test_a_value_is_written_as_it_would_be_typed(kind: str, value: object, written: str) -> None:
    form = BaseForm({"it": KINDS[kind]()})
    form.process(data={"it": value})

    assert forms.typed(form) == {"it": written}


def test_a_value_takes_the_place_of_a_typed_text_and_a_list_has_all_values() -> None:
    assert field_of("list", "b", " a ", "b").data == ["b", "a", "b"]
    field = field_of("whole", "north")
    field.set_value(7)
    field.validate(BaseForm({}))

    assert (field.typed, field.data, list(field.errors)) == ("7", 7, [])


def test_a_form_reads_fields_of_one_of_several_things_and_speaks_to_its_reader(app: Flask) -> None:
    values = {"seats-a": "2", "seats-b": "3", "remark": "no"}
    with app.test_request_context(method="POST", data=values):
        second_form = forms.form_from_request(SeatsForm, after="-b")
        assert (second_form.seats.data, second_form.remark.data) == (3, "")
    with app.test_request_context(method="POST", data={"seats": "five", "remark": "long"}):
        form = forms.form_from_request(SeatsForm)
        form.validate()
        for language in ("en", "id"):
            with speaking(language):
                expected = {"seats": gettext(NOT_WHOLE), "remark": gettext(TOO_LONG)}
                assert forms.messages(form) == expected
