"""Forms are read in one place, and every field of one knows its kind."""

from __future__ import annotations

import ast
from pathlib import Path

from flask import Flask
from wtforms import Form

from webapp.i18n import speaking
from webapp.web.frame import forms
from webapp.web.frame.forms import LineField, WholeField

ROOT = Path(__file__).resolve().parents[3]
READER = "webapp/web/frame/forms.py"
UNTYPED = {"StringField", "IntegerField", "FloatField", "DecimalField", "TextAreaField"}
"""Fields of WTForms that know no kind of ours, or have messages in English alone."""


class SeatsForm(Form):
    """A form of a number and a line."""

    seats = WholeField(1, 4)
    remark = LineField(3)


def trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted((ROOT / "webapp").rglob("*.py"))
    }


def test_no_view_reads_the_form_of_a_request_itself() -> None:
    readers = {
        path
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "form"
        and isinstance(node.value, ast.Name)
        and node.value.id == "request"
    }

    assert readers == {READER}


def test_no_form_has_a_field_without_a_kind() -> None:
    untyped = [
        f"{path}:{node.lineno} {name.name}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wtforms")
        for name in node.names
        if name.name in UNTYPED
    ]

    assert untyped == []


def test_messages_are_in_the_language_of_the_reader(app: Flask) -> None:
    with app.test_request_context(method="POST", data={"seats": "five", "remark": "long"}):
        form = forms.sent(SeatsForm)
        form.validate()
        with speaking("en"):
            english = forms.messages(form)
        with speaking("id"):
            indonesian = forms.messages(form)

    assert english == {
        "seats": "Please write a whole number, in digits.",
        "remark": "This text is too long.",
    }
    assert indonesian.keys() == english.keys()
    assert not set(indonesian.values()) & set(english.values())


def test_fields_of_one_of_several_things_end_in_its_name(app: Flask) -> None:
    said = {"seats-a": "2", "seats-b": "3", "remark": "no"}
    with app.test_request_context(method="POST", data=said):
        form = forms.sent(SeatsForm, after="-b")

    assert (form.seats.data, form.remark.data) == (3, "")
