"""The blind rater's pages: the next task, one question in stages, and the end.

No address, title or part names a run, a method, an LLM, a file or the place of a card in an
answer. Every click is answered with the parts it changed, or with the next question once this
one is done and the rater goes on. A form sent without a script is redirected to its card.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, g, jsonify, redirect, render_template, request, url_for
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.metrics.judging.registry import Measure
from webapp.services.rating import blind_page, particulars, shares, tasks
from webapp.services.rating.blind_page import (
    BlindAnswer,
    BlindCard,
    BlindPage,
    MovingAnswers,
    TaskStage,
)
from webapp.services.rating.particulars import Background
from webapp.services.rating.shares import Done, Progress
from webapp.services.rating.tasks import onward
from webapp.services.runs import runs
from webapp.services.runs.runs import RunOverview
from webapp.services.study import studies
from webapp.web.feature import ShownPart
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import checked
from webapp.web.rating import clicks, figures, parts
from webapp.web.rating.clicks import BlindRatingForm
from webapp.web.rating.figures import AnswersPanel, UndefinedReason
from webapp.web.rating.judgments import VerdictOnCard
from webapp.web.rating.parts import CardParts

blueprint = Blueprint("rate", __name__, url_prefix="/rate")

AHEAD = 3
"""How many questions a browser keeps for a time without a network, the present one included."""


class BlindRatingContext(Struct, frozen=True):
    """The content of a blind rater's page and its parts.

    ``stage`` is the part below the cards: nothing yet, the empty lists, or the answers too.
    ``open_answer`` is the letter of the answer that is unfolded, ``whole`` true where long
    answers are shown in full. ``panel`` are the figures of the answers, explained by
    ``measures`` and ``reasons``, where the study lets raters see figures. ``query`` keeps the
    filter in every address; ``became_blind``: rating is blind since another run was stored.
    ``background`` is shown above and under the cards; ``parts`` are
    those that wings add.
    """

    page: BlindPage
    stage: str
    open_answer: str
    whole: bool
    panel: AnswersPanel | None
    measures: tuple[Measure, ...]
    reasons: tuple[UndefinedReason, ...]
    query: dict[str, Any]
    became_blind: bool
    is_owner: bool
    background: Background[str]
    parts: tuple[CardParts, ...] = ()


class BlindMovedParts(Struct, frozen=True):
    """The parts that a click changed: cards, the answer that was rated, or the verdict given."""

    page: MovingAnswers
    stage: str
    open_answer: str
    whole: bool
    changed: tuple[BlindCard, ...]
    panel: AnswersPanel | None
    query: dict[str, Any]
    rated: BlindAnswer | None = None
    given: VerdictOnCard | None = None
    brought: tuple[ShownPart, ...] = ()


class AllDone(Struct, frozen=True):
    """The last page: how far the rater is, and the counts of their judgments.

    ``further`` is the work beside the questions that wings have for the rater.
    """

    progress: Progress
    done: Done
    last: str | None
    is_owner: bool
    further: tuple[ShownPart, ...]


@blueprint.get("/")
def next_one() -> Response:
    """Lead to the rater's next task, or to the one after a question, within the filter.

    With nothing left, show the last page. In a study that is not blind its owner rates run by
    run, as on the first page.
    """
    with access.writing() as (session, rater):
        if rater.is_owner and not studies.is_blind(session, rater.study):
            listed = runs.overviews(session, rater)
            if listed:
                return _to_open_run(listed)
        wanted, after = clicks.wanted(), request.args.get("after") or None
        task_id = onward(session, rater, access.now(), wanted, after)
        session.commit()
        if task_id is not None:
            return _to(task_id, **_since_runs_compete(session, rater))
        if wanted.category:  # nothing of it is in this rater's share
            return _to_next({})
        given = tasks.given_to(session, rater)
        context = AllDone(
            progress=shares.progress(session, rater),
            done=shares.done(session, rater),
            last=given[-1] if given else None,
            is_owner=rater.is_owner,
            further=parts.further_work(session, rater),
        )
    return htmx.respond("rating/rate/done.html", "rating/rate/_finished.html", context)


@blueprint.get("/<task_id>")
def show(task_id: str) -> Response:
    """Show one question to its rater, as far as it is asked for now."""
    rated = _rated(task_id, in_full=True)
    if rated.page.filter.category not in {None, rated.page.category}:
        return _to_next()
    return htmx.respond("rating/rate/page.html", "rating/rate/_shown.html", rated)


def with_parts(task_id: str, shown: tuple[CardParts, ...], status: int) -> Response:
    """Return one question with these parts of wings below its cards."""
    rated = replace(_rated(task_id), parts=shown)
    return htmx.respond("rating/rate/page.html", "rating/rate/_shown.html", rated, status)


@blueprint.post("/<task_id>/judgment")
def judge(task_id: str) -> Response:
    """Store a verdict on one card."""
    said, wanted = clicks.verdict(), clicks.wanted()
    with access.writing() as (session, rater):
        judged = tasks.judge(session, rater, task_id, said.card, said.relevance, said.click)
        next_page = _onward(session, rater, task_id) if said.onward else None
        if next_page is not None or not htmx.wants_part():
            session.commit()
            return next_page or _clicked(task_id, card=said.card)
        cleared = said.card if judged.relevance is None else None
        page, cards = blind_page.moved(session, rater, judged, wanted, cleared)
        brought = tuple(parts.after_blind_verdict(session, rater, task_id, said.card))
        session.commit()
    g.pictures = page.show_pictures
    given = None
    if judged.relevance is not None:
        # By its name: its place is another one once more cards are pooled than the page shows.
        card = f'[data-card="{said.card}"]'
        given = VerdictOnCard(card, judged.position, judged.relevance)
    return _parts(page, cards, given=given, brought=brought)


@blueprint.post("/<task_id>/rating")
def rate(task_id: str) -> Response:
    """Store quality and notes of one answer, or the verdict on the empty lists."""
    form = checked(BlindRatingForm)
    answer = form.answer.data or None
    with access.writing() as (session, rater):
        tasks.rate(session, rater, task_id, answer, form.rating, clicks.event())
        next_page = _onward(session, rater, task_id) if form.onward.data else None
        session.commit()
    return next_page or _clicked(task_id, answer=answer)


@blueprint.post("/<task_id>/answers/<name>")
def open_wording(task_id: str, name: str) -> Response:
    """Show an answer as its chatbot wrote it; that it was opened is recorded."""
    with access.writing() as (session, rater):
        tasks.open_wording(session, rater, task_id, name, access.now())
        session.commit()
    rated = _rated(task_id)
    answer = next((shown for shown in rated.page.answers if shown.key == name), None)
    if answer is None:  # a verdict was cleared meanwhile
        return _to(task_id)
    if not htmx.wants_part():
        return _to(task_id, answer=answer.letter, _anchor=f"answer-{answer.letter}")
    part = render_template("rating/rate/_wording.html", answer=answer, **htmx.names(rated))
    return Response(part)


@blueprint.post("/<task_id>/later")
def later(task_id: str) -> Response:
    """Put a question off, and lead to the task that now comes before it."""
    with access.writing() as (session, rater):
        tasks.put_off(session, rater, task_id, access.now())
        found = onward(session, rater, access.now(), clicks.wanted())
        session.commit()
    return _to(found) if found is not None else _to_next()


@blueprint.post("/ahead")
def ahead() -> Response:
    """Return the addresses of the rater's next questions, to be kept for a time without network."""
    with access.writing() as (session, rater):
        found = tasks.ahead(session, rater, access.now(), AHEAD)
        session.commit()
        addresses = [url_for("rate.show", task_id=task.id) for task in found]
    return jsonify(addresses=addresses)


@blueprint.post("/undo")
def undo() -> Response:
    """Take back the rater's latest change and show where it was."""
    with access.writing() as (session, rater):
        task_id = tasks.undo(session, rater, clicks.event())
        session.commit()
    if task_id is not None:
        return _to(task_id)
    return clicks.nothing_to_undo(url_for("rate.next_one"))


def _onward(session: Session, rater: Rater, task_id: str) -> Response | None:
    """Return the redirect to the next task once nothing is left in this one; else ``None``."""
    if not tasks.is_done(session, rater, task_id):
        return None
    found = onward(session, rater, access.now(), clicks.wanted())
    return _to(found) if found is not None else _to_next()


def _clicked(task_id: str, *, card: str | None = None, answer: str | None = None) -> Response:
    """Return the parts that a click changed; without a script, the redirect to its place."""
    page = _page(task_id)
    changed = _versions(page, card)
    rated = next((shown for shown in page.answers if shown.key == answer), None)
    if htmx.wants_part():
        return _parts(page, changed, rated)
    unrated = rated.letter if rated and rated.quality is None else None
    return _to(task_id, answer=unrated, _anchor=_anchor(page, card, changed, rated))


def _parts(
    page: MovingAnswers,
    changed: tuple[BlindCard, ...],
    rated: BlindAnswer | None = None,
    given: VerdictOnCard | None = None,
    brought: tuple[ShownPart, ...] = (),
) -> Response:
    part = "rating/rate/_clicked.html"
    moved = BlindMovedParts(
        page=page,
        stage=_below(page),
        open_answer=_open_answer(page),
        whole="whole" in request.args,
        changed=changed,
        panel=figures.of_answers(page.figures),
        query=clicks.query(),
        rated=rated,
        given=given,
        brought=brought,
    )
    return htmx.respond(part, part, moved)


def _below(page: MovingAnswers) -> str:
    """Return which part is below the cards of a page."""
    return str(TaskStage.ANSWERS if page.stage is TaskStage.DONE else page.stage)


def _open_answer(page: MovingAnswers) -> str:
    """Return the letter of the answer asked for, else of the first without a quality."""
    unrated = (answer.letter for answer in page.answers if answer.quality is None)
    return request.args.get("answer") or next(unrated, "")


def _anchor(
    page: BlindPage,
    card: str | None,
    changed: tuple[BlindCard, ...],
    rated: BlindAnswer | None,
) -> str:
    """Return the place of a click: its card while cards are open, else what follows them."""
    if card is not None and page.stage is TaskStage.CARDS:
        return next(f"card-{shown.position}" for shown in changed if shown.key == card)
    return "answers" if rated else "below"


def _page(task_id: str) -> BlindPage:
    with access.reading() as (session, rater):
        page = blind_page.blind_page(session, rater, task_id, clicks.wanted())
    g.pictures = page.show_pictures
    return page


def _rated(task_id: str, *, in_full: bool = False) -> BlindRatingContext:
    """Return the content of the page, with the parts of wings where it is shown `in_full`."""
    with access.reading() as (session, rater):
        page = blind_page.blind_page(session, rater, task_id, clicks.wanted())
        is_owner = rater.is_owner
        shown = tuple(parts.on_task(session, rater, page)) if in_full else ()
        background = particulars.of_task(session, rater, task_id)
    g.pictures = page.show_pictures
    return BlindRatingContext(
        page=page,
        stage=_below(page),
        open_answer=_open_answer(page),
        whole="whole" in request.args,
        panel=figures.of_answers(page.figures),
        measures=figures.measures_of_answers() if page.figures else (),
        reasons=figures.reasons() if page.figures else (),
        query=clicks.query(),
        became_blind=request.args.get("because") == "runs",
        is_owner=is_owner,
        background=background,
        parts=shown,
    )


def _versions(page: BlindPage, key: str | None) -> tuple[BlindCard, ...]:
    """Return the cards of the clicked card's property: each shows the verdicts on the others."""
    clicked = next((shown for shown in page.cards if shown.key == key), None)
    if clicked is None:
        return ()
    return tuple(shown for shown in page.cards if shown.listing == clicked.listing)


def _since_runs_compete(session: Session, rater: Rater) -> dict[str, str]:
    """Return that the rating has become blind, until the rater's first blind verdict."""
    is_automatic = rater.study.blind is None
    return {"because": "runs"} if is_automatic and tasks.rated_openly(session, rater) else {}


def _to_open_run(listed: list[RunOverview]) -> Response:
    """Return the redirect to the run that the first page goes on with, else to that page."""
    for run in listed:
        if run.first_open is not None:
            address = url_for("judgments.show", run_id=run.id, query_id=run.first_open)
            return redirect(address, 303)  # type: ignore[return-value]
    return redirect(url_for("home.show"), 303)  # type: ignore[return-value]


def _to_next(query: dict[str, Any] | None = None) -> Response:
    address = url_for("rate.next_one", **(clicks.query() if query is None else query))
    return redirect(address, 303)  # type: ignore[return-value]


def _to(task_id: str, **values: Any) -> Response:
    address = url_for("rate.show", task_id=task_id, **clicks.query(), **values)
    return redirect(address, 303)  # type: ignore[return-value]
