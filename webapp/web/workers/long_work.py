"""The page that shows how far work is that takes long, and gives its file away.

A room's ``long_kind.py`` has each of its ``KINDS`` as the page shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, Response, redirect, url_for
from msgspec import Struct

from webapp.services.exports.exports import ExportedFile
from webapp.services.workers import long_work
from webapp.services.workers.long_work import LongProgress, LongWorking
from webapp.web.frame import access, htmx
from webapp.web.frame.downloads import attached
from webapp.web.frame.workers import workers

blueprint = Blueprint("long_work", __name__, url_prefix="/files")


class LongWorkWords(Struct, frozen=True):
    """The words of a work: its ``title``, and ``again``, the address to ask for it once more.

    ``steps`` has how many are ``done`` ``of`` how many, ``ending`` what follows the last step,
    ``leaving`` what becomes of the work while nobody looks.
    """

    title: str
    again: str
    steps: str
    ending: str
    leaving: str


class LongKindOnPages(Struct, frozen=True):
    """A kind of work: its ``words`` for what is wanted, and the address ``seen_at`` once done.

    Without ``seen_at`` its file is taken away from its own page. That page stands ``under`` an
    entry of the owner's menu and leads ``back`` to one that begins no work, the same by default.
    """

    words: Callable[[Mapping[str, Any]], LongWorkWords]
    seen_at: Callable[[LongProgress], str] | None = None
    under: str = "runs.index"
    back: str = ""


class LongWorkPage(Struct, frozen=True):
    """How far a work is, its words, and where in the menu it stands and leads back to."""

    work: LongProgress
    words: LongWorkWords
    under: str
    back: str


@blueprint.get("/<work_id>")
def show(work_id: str) -> Response:
    """Show how far a work is, or what it stored; it goes on if nobody is at it."""
    with access.reading() as (session, rater):
        work = long_work.find(session, rater.study, work_id)
    if work.is_open:
        _wake()
    seen_at = _kind(work.kind).seen_at
    if work.is_done and seen_at is not None:
        if htmx.wants_part():
            return htmx.reload()
        return redirect(seen_at(work), 303)  # type: ignore[return-value]
    return htmx.respond("workers/page.html", "workers/_work.html", shown(work))


@blueprint.get("/<work_id>/file")
def take_away(work_id: str) -> Response:
    """Return the file."""
    with access.reading() as (session, rater):
        return taken_away(long_work.file(session, rater.study, work_id))


@blueprint.post("/<work_id>/give-up")
def give_up(work_id: str) -> Response:
    """Forget a work, done or not, and go to the page that it leads back to."""
    with access.writing() as (session, rater):
        work = long_work.find(session, rater.study, work_id)
        long_work.give_up(session, rater.study, work_id)
        session.commit()
    return redirect(url_for(shown(work).back), 303)  # type: ignore[return-value]


def led_to(kind: str, wanted: Mapping[str, Any]) -> Response:
    """Return the way to the page of a work, begun if none was done since the study changed."""
    with access.writing() as (session, rater):
        work_id = long_work.put_down(session, rater.study, kind, wanted, access.now())
        session.commit()
    _wake()
    return redirect(url_for("long_work.show", work_id=work_id), 303)  # type: ignore[return-value]


def shown(work: LongProgress) -> LongWorkPage:
    """Return a work as pages show it."""
    kind = _kind(work.kind)
    return LongWorkPage(work, kind.words(work.wanted), kind.under, kind.back or kind.under)


def taken_away(file: ExportedFile) -> Response:
    """Return a file to take away."""
    return attached(file.data, file.media_type, file.name)


def _wake() -> None:
    workers().wake(LongWorking(access.database()), most=1)


def _kind(name: str) -> LongKindOnPages:
    from webapp.web.evaluations import long_kind as evaluations
    from webapp.web.proof_packs import long_kind as proof_packs
    from webapp.web.runs import long_kind as runs

    brought = (runs, evaluations, proof_packs)
    kinds: dict[str, LongKindOnPages] = {
        kind: shown for module in brought for kind, shown in module.KINDS.items()
    }
    return kinds[name]
