"""The event log as a page, with undo of one's own latest change, and as files."""

from __future__ import annotations

import secrets

from flask import Blueprint, Response, render_template, request, url_for
from msgspec.structs import asdict
from wtforms import Form

from relevansi.records import LARGEST_INTEGER
from relevansi.services.people import history
from relevansi.services.people.history import ChangeKind, EventFilters
from relevansi.web.frame import access
from relevansi.web.frame.forms import UNUSABLE, WholeField, validated_form
from relevansi.web.frame.htmx import attached, see_other
from relevansi.web.rating import clicks

blueprint = Blueprint("history", __name__, url_prefix="/history")


class UndoForm(Form):
    latest = WholeField(0, LARGEST_INTEGER, required=True, wrong=UNUSABLE)


@blueprint.get("/")
def show() -> str:
    """Show the log of changes, filtered as the address says."""
    changed = request.args.get("change", "")
    filters = EventFilters(
        rater=request.args.get("rater", type=int),
        question=request.args.get("question", type=int),
        change=ChangeKind(changed) if changed in list(ChangeKind) else None,
        before=request.args.get("before", type=int),
    )
    narrowed = asdict(filters) | {"before": None}
    with access.reading() as (session, rater):
        return render_template(
            "people/history/page.html",
            history=history.history(session, rater, filters),
            filters=filters,
            query={name: value for name, value in narrowed.items() if value is not None},
            event_id=secrets.token_hex(16),  # a form sent twice is one undo
        )


@blueprint.post("/undo")
def undo() -> Response:
    form = validated_form(UndoForm)
    with access.writing() as (session, rater):
        history.undo(session, rater, form.latest.data, clicks.event())
    return see_other(url_for("history.show"))


@blueprint.get("/events.csv")
def as_csv() -> Response:
    with access.reading() as (session, rater):
        data = history.as_csv(session, rater)
    return attached(data, "text/csv; charset=utf-8", "events.csv")


@blueprint.get("/events.jsonl")
def as_json_lines() -> Response:
    with access.reading() as (session, rater):
        data = history.as_json_lines(session, rater)
    return attached(data, "application/x-ndjson", "events.jsonl")
