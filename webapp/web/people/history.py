"""The event log as a page, with undo of one's own latest change, and as files."""

from __future__ import annotations

import secrets
from typing import Any

from flask import Blueprint, Response, redirect, render_template, request, url_for
from msgspec import Struct
from wtforms import Form

from webapp.services.people import history
from webapp.services.people.history import ChangeKind, History, WantedEvents
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import UNUSABLE, WholeField, checked
from webapp.web.frame.htmx import attached
from webapp.web.rating import clicks

blueprint = Blueprint("history", __name__, url_prefix="/history")

NEWEST = 2**31 - 1
"""The highest number that an event can have."""


class UndoForm(Form):
    """Which change is to be taken back: the latest one when the page was shown."""

    latest = WholeField(0, NEWEST, required=True, wrong=UNUSABLE)


class HistoryPage(Struct, frozen=True):
    """One page of the log. ``query`` keeps the filter in every address.

    ``event_id`` makes a form sent twice one undo.
    """

    history: History
    wanted: WantedEvents
    query: dict[str, Any]
    event_id: str


@blueprint.get("/")
def show() -> str:
    """Show one page of what was changed, the latest first."""
    wanted = _wanted()
    with access.reading() as (session, rater):
        found = history.history(session, rater, wanted)
    page = HistoryPage(found, wanted, _query(wanted), secrets.token_hex(16))
    return render_template("people/history/page.html", **htmx.names(page))


@blueprint.post("/undo")
def undo() -> Response:
    """Take back one's own latest change."""
    form = checked(UndoForm)
    with access.writing() as (session, rater):
        history.undo(session, rater, form.latest.data, clicks.event())
        session.commit()
    return redirect(url_for("history.show"), 303)  # type: ignore[return-value]


@blueprint.get("/events.csv")
def as_csv() -> Response:
    """Return the whole log that the reader may see as CSV."""
    with access.reading() as (session, rater):
        data = history.as_csv(session, rater)
    return attached(data, "text/csv; charset=utf-8", "events.csv")


@blueprint.get("/events.jsonl")
def as_json_lines() -> Response:
    """Return the whole log that the reader may see, one JSON object a line."""
    with access.reading() as (session, rater):
        data = history.as_json_lines(session, rater)
    return attached(data, "application/x-ndjson", "events.jsonl")


def _wanted() -> WantedEvents:
    """Return which events the address asks for; what cannot be asked for is left out."""
    changed = request.args.get("change", "")
    return WantedEvents(
        rater_id=request.args.get("rater", type=int),
        question_id=request.args.get("question", type=int),
        change=ChangeKind(changed) if changed in list(ChangeKind) else None,
        before=request.args.get("before", type=int),
    )


def _query(wanted: WantedEvents) -> dict[str, Any]:
    found = {"rater": wanted.rater_id, "question": wanted.question_id, "change": wanted.change}
    return {name: value for name, value in found.items() if value is not None}
