"""The first page of a folder of studies: their list, new ones, what is archived."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Blueprint, Response, current_app, make_response, render_template, request
from wtforms import BooleanField, Form

from relevansi.failures import Failure
from relevansi.services.folders import folder
from relevansi.web.frame import access, errors, forms
from relevansi.web.frame.forms import LineField, UnusableForm
from relevansi.web.frame.htmx import see_other

blueprint = Blueprint("folder", __name__, url_prefix="/studies")

LONGEST_NAME = 80


class NewStudyForm(Form):
    name = LineField(LONGEST_NAME)
    documents = BooleanField()


def page(errors_of_form: dict[str, str] | None = None) -> str:
    """Return the list of the studies, for the owner of the folder."""
    with access.reading() as (_session, owner):
        has_password = owner.study.password is not None
    studies = _folder()
    return render_template(
        "folders/page.html",
        lines=folder.lines(studies, str(current_app.secret_key)),
        unfit=folder.unfit_names(studies),
        outages={outage: message.title for outage, message in errors.BY_OUTAGE.items()},
        has_password=has_password,
        folder=str(studies),
        name=request.form.get("name", "") if errors_of_form else "",
        errors=errors_of_form or {},
    )


@blueprint.post("/new")
def make() -> Response:
    return _new_study(lambda name, password: folder.make(_folder(), name, password, access.now()))


@blueprint.post("/demo")
def make_demo() -> Response:
    documents = forms.validated_form(NewStudyForm).documents.data
    make_one = partial(folder.make_demo, documents=documents)
    return _new_study(lambda name, password: make_one(_folder(), name, password, access.now()))


@blueprint.post("/backup")
def make_of_backup() -> Response:
    """Make a study of the backup that is sent."""
    with TemporaryDirectory() as temporary:
        backup = Path(temporary, "study.backup")

        def restore(name: str, password: str | None) -> None:
            backup.write_bytes(forms.chosen_file()[1])
            folder.make_of_backup(_folder(), name, backup, password, access.now())

        return _new_study(restore)


@blueprint.post("/<name>/archive")
def archive(name: str) -> Response:
    folder.archive(_folder(), name)
    return see_other(request.script_root + "/")


@blueprint.post("/<name>/open")
def reopen(name: str) -> Response:
    folder.reopen(_folder(), name)
    return see_other(request.script_root + "/")


def _new_study(make_study: Callable[[str, str | None], None]) -> Response:
    name = forms.validated_form(NewStudyForm).name.data
    with access.reading() as (_session, owner):
        password = owner.study.password
    try:
        make_study(name, password)
    except UnusableForm as unusable:
        return make_response(page(dict(unusable.messages)), 422)
    except Failure as failure:
        return make_response(page({"name": str(failure)}), 422)
    return see_other(request.script_root + "/")


def _folder() -> Path:
    studies: Path = current_app.config["FOLDER"]
    return studies
