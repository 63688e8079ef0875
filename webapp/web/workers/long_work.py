"""The page that shows how far a file is that takes long to make, and gives it away.

A room's ``long_kind.py`` says what its kind is called on the page: ``KIND``, ``title`` and
``address``, where the same is asked for again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, redirect, url_for

from webapp import rooms
from webapp.services.exports.exports import ExportedFile
from webapp.services.workers import long_work
from webapp.services.workers.long_work import FileMaking, LongProgress
from webapp.web.frame import access, htmx
from webapp.web.frame.downloads import attached
from webapp.web.frame.workers import workers

blueprint = Blueprint("long_work", __name__, url_prefix="/files")


@dataclass(frozen=True, slots=True)
class LongWorkPage:
    """How far a file is; ``title`` is what it is, ``again`` where it is asked for once more."""

    work: LongProgress
    title: str
    again: str


@blueprint.get("/<work_id>")
def show(work_id: str) -> Response:
    """Show how far a file is; its making goes on if nobody works on it."""
    with access.reading() as (session, rater):
        work = long_work.find(session, rater.study, work_id)
    if work.is_open:
        _wake()
    kind = _kind(work.kind)
    page = LongWorkPage(work, kind.title(work.wanted), kind.address(work.wanted))
    return htmx.respond("workers/page.html", "workers/_work.html", page)


@blueprint.get("/<work_id>/file")
def take_away(work_id: str) -> Response:
    """Return the file."""
    with access.reading() as (session, rater):
        return taken_away(long_work.file(session, rater.study, work_id))


@blueprint.post("/<work_id>/give-up")
def give_up(work_id: str) -> Response:
    """Forget the file, made or not, and go to the list of runs."""
    with access.writing() as (session, rater):
        long_work.give_up(session, rater.study, work_id)
        session.commit()
    return redirect(url_for("runs.index"), 303)  # type: ignore[return-value]


def led_to(kind: str, wanted: Mapping[str, Any], *, changed_at: datetime) -> Response:
    """Return the way to the page of a file, which is made if there is none since `changed_at`."""
    with access.writing() as (session, rater):
        work_id = long_work.put_down(
            session, rater.study, kind, wanted, access.now(), changed_at=changed_at
        )
        session.commit()
    _wake()
    return redirect(url_for("long_work.show", work_id=work_id), 303)  # type: ignore[return-value]


def taken_away(file: ExportedFile) -> Response:
    """Return a file to take away."""
    return attached(file.data, file.media_type, file.name)


def _wake() -> None:
    workers().wake(FileMaking(access.database()), most=1)


def _kind(name: str) -> Any:
    kinds = {module.KIND: module for module in rooms.contributions("web", "long_kind")}
    return kinds[name]
