"""The page of the catalogue: how large it is, and files that are added, replace it or go."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, make_response, render_template
from wtforms import Form

from relevansi.i18n import gettext
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import ImportRefused
from relevansi.services.catalogue import imports
from relevansi.services.catalogue.imports import CatalogueImport, Mode
from relevansi.services.runs import results, waiting_files
from relevansi.services.runs.results import ResultsReport
from relevansi.services.runs.waiting_files import UnknownUpload
from relevansi.web.frame import access, forms, htmx, origins
from relevansi.web.frame.forms import ChoiceField, UnusableForm
from relevansi.web.runs.imports import chosen_files

blueprint = Blueprint("catalogue", __name__, url_prefix="/catalogue")


class CatalogueForm(Form):
    mode = ChoiceField({mode.value: mode for mode in Mode}, default=Mode.ADD)


@blueprint.get("")
def show() -> Response:
    return _answer()


@blueprint.post("")
def take() -> Response:
    """Take the chosen files in, and report what they did; a refused one changes nothing."""
    origins.need_our_page()
    form = forms.validated_form(CatalogueForm)
    try:
        files = chosen_files()
        outcome = imports.import_files(access.database(), files, form.mode.data, access.now())
    except UnusableForm as unfit:
        return _answer(refusal=unfit.messages["files"])
    except ImportRefused as refused:
        return _answer(refusal=refused.advice())
    return _answer(outcome)


@blueprint.post("/waiting/<token>")
def take_collection(token: str) -> Response:
    """Take the collections in that wait on the import page with results, which go on waiting."""
    with access.reading() as (session, rater):
        file = waiting_files.find(session, rater.study, token)
        report, data = waiting_files.read_upload(file, complete=False).content, file.content
    if not isinstance(report, ResultsReport):
        raise UnknownUpload(token)
    files = results.collections_in(report, data)
    try:
        outcome = imports.import_files(access.database(), files, Mode.ADD, access.now())
    except ImportRefused as refused:
        return _answer(report=report, token=token, refusal=refused.advice())
    return _answer(outcome, report=report, token=token)


def _answer(outcome: CatalogueImport | None = None, refusal: str = "", **waiting: Any) -> Response:
    """Return the page of the catalogue, or what was done with a collection that waits."""
    with access.reading() as (session, _):
        size = imports.size(session)
    remarks = problems.remarks(outcome.problems, "page") if outcome else ()
    counts: tuple[tuple[str, int], ...] = ()
    if outcome:
        counts = (
            (gettext("Added"), outcome.added),
            (gettext("Changed"), outcome.changed),
            (gettext("Unchanged"), outcome.unchanged),
            (gettext("Removed"), outcome.removed),
            (gettext("Listed more than once"), outcome.repeated),
        )
    is_part = waiting and htmx.wants_part()
    page = render_template(
        "catalogue/_collection.html" if is_part else "catalogue/page.html",
        size=size,
        outcome=outcome,
        counts=counts,
        refusal=refusal,
        remarks=remarks,
        **waiting,
    )
    return make_response(page, 422 if refusal else 200)
