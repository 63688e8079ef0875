"""Gold questions as pages: each set with its questions, its versions and their files."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, jsonify, render_template, request, url_for
from wtforms import Form

from relevansi.importers.runs.problems import ImportRefused, remarks
from relevansi.records import LARGEST_INTEGER
from relevansi.services.gold import gold
from relevansi.web.frame import access
from relevansi.web.frame.forms import UNUSABLE, WholeField, chosen_file, validated_form
from relevansi.web.frame.htmx import attached, see_other
from relevansi.web.gold import constraint_words


class VersionForm(Form):
    version = WholeField(0, LARGEST_INTEGER, default=0, required=True, wrong=UNUSABLE)


blueprint = Blueprint("gold", __name__, url_prefix="/gold")


@blueprint.get("/")
def index() -> str:
    with access.reading() as (session, rater):
        sets = gold.sets(session, rater.study)
    return render_template("gold/index.html", sets=sets)


@blueprint.get("/<int:set_id>")
def show(set_id: int) -> str:
    """Show the gold questions in force for a set, with all versions."""
    return _page(set_id)


@blueprint.get("/<int:set_id>/questions.json")
def download(set_id: int) -> Response:
    """Return a version as a file; of a set without gold questions a file to begin with."""
    with access.reading() as (session, rater):
        question_set = gold.find_set(session, rater.study, set_id)
        version = request.args.get("version", len(question_set.versions), type=int)
        if version or question_set.versions:
            document = gold.read(session, set_id, version).document
        else:
            document = gold.starter(session, set_id)
    return attached(jsonify(document).data, "application/json", "questions_v2.json")


@blueprint.post("/<int:set_id>/import")
def take_in(set_id: int) -> Response | tuple[str, int]:
    return _changed(set_id, gold.import_file, *chosen_file())


@blueprint.post("/<int:set_id>/restore")
def restore(set_id: int) -> Response | tuple[str, int]:
    return _changed(set_id, gold.restore, validated_form(VersionForm).version.data)


def _changed(
    set_id: int, change: Callable[..., None], *values: object
) -> Response | tuple[str, int]:
    try:
        with access.writing() as (session, rater):
            change(session, rater, set_id, *values, access.now())
    except ImportRefused as refused:
        return _page(set_id, [remark.text for remark in remarks(refused.problems, "page")]), 422
    return see_other(url_for("gold.show", set_id=set_id))


def _page(set_id: int, refusals: list[str] | None = None) -> str:
    with access.reading() as (session, rater):
        question_set = gold.find_set(session, rater.study, set_id)
        in_force = gold.in_force(session, set_id)
    return render_template(
        "gold/page.html",
        set=question_set,
        gold=in_force,
        rules_in_words=constraint_words.rules_in_words,
        refusals=refusals or [],
    )
