"""The form that a request sends, its checks, and its messages in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from flask import request
from werkzeug.datastructures import MultiDict
from wtforms import Form
from wtforms.form import BaseForm

from webapp import failures
from webapp.failures import Refused
from webapp.i18n import gettext, mark

FormT = TypeVar("FormT", bound=Form)
AnyForm = TypeVar("AnyForm", bound=BaseForm)


class UnusableForm(Refused, ValueError):
    """A form holds a value that it cannot have; ``messages`` has a sentence for each field."""

    message = mark("This request cannot be answered")
    remedy = failures.RELOAD

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__(", ".join(messages))
        self.messages = messages


def sent(kind: type[FormT], after: str = "") -> FormT:
    """Return the form that the request sends, unchecked; the names of its fields end in `after`."""
    said = [
        (name.removesuffix(after), value)
        for name, value in request.form.items(multi=True)
        if name.endswith(after)
    ]
    return kind(MultiDict(said))


def checked(kind: type[FormT]) -> FormT:
    """Return the form that the request sends if it is valid; raises ``UnusableForm``."""
    return valid(sent(kind))


def named(fields: Mapping[str, Any]) -> BaseForm:
    """Return the request's form of fields that a page named itself, unchecked."""
    form = BaseForm(fields)
    form.process(request.form)
    return form


def valid(form: AnyForm) -> AnyForm:
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
