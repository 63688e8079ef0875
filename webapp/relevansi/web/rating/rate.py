"""The blind rater's pages: the next task, one question in stages, and the end.

No address, title or part names a run, a method, an LLM, a file or the place of a card in an
answer. Every click is answered with the parts it changed, or with the next question once this
one is done and the rater goes on. A form sent without a script is redirected to its card.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import Blueprint, Response, g, jsonify, request, url_for
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.services.rating import (
    blind_pages,
    lookups,
    particulars,
    task_judgments,
    tasks,
    workloads,
)
from relevansi.services.rating.blind_pages import BlindPage, TaskStage
from relevansi.services.rating.task_judgments import JudgedCardOfTask
from relevansi.services.rating.task_order import onward
from relevansi.services.runs import runs
from relevansi.services.study import studies
from relevansi.web.frame import access, htmx, origins
from relevansi.web.frame.forms import validated_form
from relevansi.web.frame.htmx import see_other
from relevansi.web.gold import card_marks
from relevansi.web.gold.card_marks import Marks
from relevansi.web.rating import clicks, figures, lookup_views, shown
from relevansi.web.rating.clicks import BlindRatingForm, ClickedCard, ReasonForm, VerdictForm
from relevansi.web.rating.lookup_views import Lookup

blueprint = Blueprint("rate", __name__, url_prefix="/rate")

AHEAD = 3
"""How many questions a browser keeps for a time without a network, the present one included."""


@blueprint.get("/")
def next_one() -> Response:
    with access.writing() as (session, rater):
        is_open = rater.is_owner and not studies.is_blind(session, rater.study)
        if is_open and (listed := runs.overviews(session, rater)):
            started = [
                url_for("judgments.show", run_id=overview.run.id, query_id=overview.first_open)
                for overview in listed
                if overview.first_open is not None
            ]
            address = next(iter(started), url_for("home.show"))
            return see_other(address)
        chosen, after = clicks.filter_of(), request.args.get("after") or None
        task_id = onward(session, rater, access.now(), chosen, after)
        if task_id is not None:
            # Rating became blind by itself: it is said until the rater's first blind verdict.
            is_new = rater.study.blind is None and tasks.rated_openly(session, rater)
            return _to(task_id, because="runs" if is_new else None)
        if chosen.category:  # nothing of it is in this rater's share
            return see_other(url_for("rate.next_one"))
        task_ids, is_owner = tasks.ids_of_rater(session, rater), rater.is_owner
        progress = workloads.progress(session, rater)
        counts = workloads.finished_counts(session, rater)
    return htmx.respond(
        "rating/rate/done.html",
        "rating/rate/_finished.html",
        progress=progress,
        counts=counts,
        last=task_ids[-1] if task_ids else None,
        is_owner=is_owner,
    )


@blueprint.get("/<task_id>")
def show(task_id: str) -> Response:
    with access.reading() as (session, rater):
        page = blind_pages.blind_page(session, rater, task_id, clicks.filter_of())
        marks = card_marks.of_task(session, rater, page)
    if page.filter.category not in {None, page.category}:
        return _to(None)
    return with_parts(page, marks)


def _lookup(session: Session, rater: Rater, page: BlindPage) -> Lookup | None:
    """Return what a page shows of looking up: an empty answer always does, once it is asked of."""
    if page.below == "cards" and not rater.study.looks_up:
        return None
    find = partial(lookups.of_task, session, rater, page.task_id)
    return lookup_views.look_up(session, rater, find, partial(_address, page.task_id))


def with_parts(
    page: BlindPage, marks: Marks | None, status: int = 200, lookup: Lookup | None = None
) -> Response:
    with access.reading() as (session, rater):
        background = particulars.of_task(session, rater, page.task_id)
        guidelines = studies.guidelines(rater.study)
        progress = page.progress
        questions, open_questions = progress.questions, progress.open_questions
        clicks_left = progress.open_judgments + progress.unrated
        is_done = not progress.turns_left
        work = shown.work(session, rater, questions, open_questions, clicks_left, is_done=is_done)
        lookup = lookup or _lookup(session, rater, page)
    query = clicks.query()
    return htmx.respond(
        "rating/judgments/page.html",
        "rating/judgments/_shown.html",
        status=status,
        **_moving(page),
        next_open=url_for("rate.next_one", **query) if page.place.is_left else None,
        end=url_for("rate.next_one"),
        at_undo=url_for("rate.undo"),
        work=work,
        became_blind=request.args.get("because") == "runs",
        guidelines=guidelines,
        background=background,
        shared=shown.shared(page, background),
        marks=marks,
        others=(),
        lookup=lookup,
    )


@blueprint.get("/<task_id>/constraints")
def constraints(task_id: str) -> Response:
    """Return the constraints of one card, which a page asks for once the card is judged."""
    with access.reading() as (session, rater):
        page = blind_pages.blind_page(session, rater, task_id)
        marks = card_marks.of_task(session, rater, page, clicked=request.args.get("card"))
    return card_marks.verdict_response(marks)


@blueprint.post("/<task_id>/judgment")
def judge(task_id: str) -> Response:
    form = validated_form(VerdictForm)
    card_key = form.card.data
    with access.writing() as (session, rater):
        judged = task_judgments.judge(
            session, rater, task_id, card_key, form.relevance.data, form.click
        )
    if judged.stays_open and judged.figures != blind_pages.ALL_FIGURES and htmx.wants_part():
        return _judged(task_id, card_key, judged)
    if form.onward.data and (way := _way_onward(task_id)) is not None:
        return way
    page = _after_click(task_id)
    card = page.card(card_key)
    if htmx.wants_part():
        return _clicked(page, changed=[card, *page.cards_to_refresh(card)])
    still_here = card is not None and page.stage is TaskStage.CARDS
    return _to(task_id, _anchor=f"card-{card.number}" if card and still_here else "below")


def _judged(task_id: str, card: str, judged: JudgedCardOfTask) -> Response:
    """Return the verdict in force, all that moves while other cards are open."""
    clicked = ClickedCard(judged.number, judged.verdict)
    values: dict[str, Any] = {"at": partial(_address, task_id), "query": clicks.query()}
    return htmx.part("rating/rate/_judged.html", name=task_id, judged=clicked, card=card, **values)


@blueprint.post("/<task_id>/reason")
def give_reason(task_id: str) -> Response:
    form = validated_form(ReasonForm)
    card = form.card.data
    with access.writing() as (session, rater):
        number, reason = task_judgments.give_reason(
            session, rater, task_id, card, form.reason.data, form.click
        )
    if not htmx.wants_part():
        return _to(task_id, _anchor=f"card-{number}")
    return clicks.reason_in_force(task_id, number, reason)


@blueprint.post("/<task_id>/rating")
def rate(task_id: str) -> Response:
    form = validated_form(BlindRatingForm)
    answer = form.answer.data or None
    with access.writing() as (session, rater):
        task_judgments.rate(session, rater, task_id, answer, form.rating, clicks.event())
    if form.onward.data and (way := _way_onward(task_id)) is not None:
        return way
    page = _after_click(task_id)
    rated = next((row for row in page.answers if row.key == answer), None)
    if htmx.wants_part():
        both = form.both_notes(rated.notes if rated else page.notes)
        return _clicked(page, rated=rated, both_notes=both)
    unrated = rated.letter if rated and rated.quality is None else None
    return _to(task_id, answer=unrated, _anchor=f"answer-{rated.letter}" if rated else "below")


@blueprint.post("/<task_id>/answers/<name>")
def open_wording(task_id: str, name: str) -> Response:
    with access.writing() as (session, rater):
        task_judgments.open_wording(session, rater, task_id, name, access.now())
    page = _after_click(task_id)
    answer = next((row for row in page.answers if row.key == name), None)
    if answer is None:  # a verdict was cleared meanwhile
        return _to(task_id)
    if not htmx.wants_part():
        return _to(task_id, answer=answer.letter, _anchor=f"answer-{answer.letter}")
    return htmx.part("rating/rate/_wording.html", answer=answer, **_moving(page))


@blueprint.get("/<task_id>/look")
def look(task_id: str) -> Response:
    origins.need_our_page()  # a search is stored, and by no link from elsewhere
    with access.reading() as (session, rater):
        page = blind_pages.blind_page(session, rater, task_id, clicks.filter_of())
        marks = card_marks.of_task(session, rater, page)
        lookup = _lookup(session, rater, page)
    with access.writing() as (session, rater):
        place = lookups.of_task(session, rater, task_id)
        lookup = lookup_views.searched(session, rater, place, lookup)
    return (
        lookup_views.part(lookup) if htmx.wants_part() else with_parts(page, marks, lookup=lookup)
    )


@blueprint.post("/<task_id>/evidence")
def pin(task_id: str) -> Response:
    with access.writing() as (session, rater):
        lookup_views.pin(session, rater, lookups.of_task(session, rater, task_id))
    if not htmx.wants_part():
        return see_other(_address(task_id, "look", _anchor="look", **clicks.query()))
    with access.reading() as (session, rater):
        page = blind_pages.blind_page(session, rater, task_id, clicks.filter_of())
        lookup = _lookup(session, rater, page)
    return lookup_views.pinned(_clicked(page, lookup=lookup), lookup)


@blueprint.post("/<task_id>/later")
def later(task_id: str) -> Response:
    with access.writing() as (session, rater):
        tasks.put_off(session, rater, task_id, access.now())
        following = onward(session, rater, access.now(), clicks.filter_of())
    return _to(following)


@blueprint.post("/ahead")
def ahead() -> Response:
    with access.writing() as (session, rater):
        tasks_ahead = tasks.prefetch(session, rater, access.now(), AHEAD)
        addresses = [url_for("rate.show", task_id=task.id) for task in tasks_ahead]
    return jsonify(addresses=addresses)


@blueprint.post("/undo")
def undo() -> Response:
    with access.writing() as (session, rater):
        task_id = task_judgments.undo(session, rater, clicks.event())
    if task_id is not None:
        return _to(task_id)
    return clicks.nothing_to_undo(url_for("rate.next_one"))


def _after_click(task_id: str) -> BlindPage:
    """Return a task as a click left it, read once the click is committed."""
    with access.reading() as (session, rater):
        return blind_pages.blind_page(session, rater, task_id, clicks.filter_of())


def _way_onward(task_id: str) -> Response | None:
    """Return the way to the next task; ``None`` while something is left to do in this one."""
    with access.writing() as (session, rater):
        if not tasks.is_done(session, rater, task_id):
            return None
        following = onward(session, rater, access.now(), clicks.filter_of())
    return _to(following)


def _moving(page: BlindPage) -> dict[str, Any]:
    g.pictures = page.show_pictures
    return {
        "page": page,
        "is_owner": access.current_user().is_owner,
        "at": partial(_address, page.task_id),
        "query": clicks.query(),
        "panel": figures.of_answers(page.figures, page.headline, page.scale, page.cannot_tell),
        "step": _step(page),
        "is_whole": "whole" in request.args,
    }


def _step(page: BlindPage) -> str:
    """Return the step that is shown: the one asked for, else the first that is not done."""
    unrated = [answer.letter for answer in page.answers if answer.quality is None]
    step = request.args.get("answer") or request.args.get("step") or ""
    if request.endpoint == "rate.look" and page.asks_emptiness:
        return "cards" if page.below == "cards" else "empty"
    if step in {"cards", "empty", *(answer.letter for answer in page.answers)}:
        return step
    if page.stage is TaskStage.EMPTINESS or (page.stage is TaskStage.DONE and not page.cards):
        return "empty" if page.asks_emptiness else next(iter(page.letters), "")
    return unrated[0] if unrated else "cards"


def _clicked(page: BlindPage, **parts: Any) -> Response:
    parts = {"rated": None, "both_notes": None, "changed": (), "lookup": None, **parts}
    if page.asks_emptiness and parts["lookup"] is None:  # its last card may be judged by this click
        with access.reading() as (session, rater):
            parts["lookup"] = _lookup(session, rater, page)
    return htmx.part("rating/rate/_clicked.html", **_moving(page), others=(), **parts)


def _address(task_id: str, action: str, **values: Any) -> str:
    values.pop("rank", None)  # the form names the card
    return url_for(f"rate.{action}", task_id=task_id, **values)


def _to(task_id: str | None, **values: Any) -> Response:
    if task_id is None:
        address = url_for("rate.next_one", **clicks.query())
    else:
        address = _address(task_id, "show", **clicks.query(), **values)
    return see_other(address)
