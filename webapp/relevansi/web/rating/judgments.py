"""The rating page and every click on it.

Every click is answered with what it changed: the verdict in force and three numbers. A page that
shows all figures, or constraints, asks for those. A form sent without a script is redirected to its
card.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from flask import Blueprint, Response, g, request, url_for
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.failures import Conflict
from relevansi.i18n import mark
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.records import QueryState
from relevansi.services.judging import answer_ratings, judgments
from relevansi.services.rating import lookups, open_pages, particulars
from relevansi.services.rating.open_pages import ClickedQuestion, OtherAnswer, RatingPage
from relevansi.services.runs import runs
from relevansi.services.study import studies
from relevansi.web.frame import access, htmx, origins
from relevansi.web.frame.forms import validated_form
from relevansi.web.frame.htmx import see_other
from relevansi.web.gold import card_marks
from relevansi.web.gold.card_marks import Marks
from relevansi.web.rating import clicks, figures, lookup_views, shown
from relevansi.web.rating.clicks import CardsForm, ClickedCard, RatingForm, ReasonForm, VerdictForm
from relevansi.web.rating.figures import LiveFigure
from relevansi.web.rating.lookup_views import Lookup

EMPTY = QueryState.EMPTY

blueprint = Blueprint("judgments", __name__, url_prefix="/runs/<run_id>")


class RatedBlind(Conflict):
    message = mark("This study is rated blind")
    remedy = mark("Runs are not shown while rating. Reload the page to go on with what is next.")


@blueprint.get("/queries/<int:query_id>")
def show(run_id: str, query_id: int) -> Response:
    with access.reading() as (session, rater):
        page = open_pages.rating_page(session, rater, run_id, query_id, clicks.filter_of())
        is_blind = studies.is_blind(session, rater.study)
        marks = card_marks.of_answer(session, rater.study, page)
    if is_blind and page.state is not QueryState.UNREADABLE:  # its cards are still to be added
        if htmx.wants_part():
            raise RatedBlind
        return see_other(url_for("comparisons.question", position=page.asked_at, runs=[run_id]))
    if page.filter.category not in {None, page.category}:
        for way in (page.place.next_open, page.place.next, page.place.previous):
            if way is not None:
                return _to(run_id, way)
    return with_parts(page, marks)


@blueprint.get("/queries/<int:query_id>/figures")
def live_figures(run_id: str, query_id: int) -> Response:
    """Return all figures, which a page asks for after a click while it shows them."""
    with access.reading() as (session, rater):
        page = open_pages.rating_page(session, rater, run_id, query_id)
    return htmx.part("rating/judgments/_panel_shown.html", panel=_panel(page))


@blueprint.get("/queries/<int:query_id>/constraints")
def constraints(run_id: str, query_id: int) -> Response:
    """Return the constraints of one card, which a page asks for once the card is judged."""
    rank = request.args.get("card", type=int)
    with access.reading() as (session, rater):
        page = open_pages.rating_page(session, rater, run_id, query_id)
        marks = card_marks.of_answer(session, rater.study, page, clicked=rank)
    return card_marks.verdict_response(marks)


@blueprint.post("/queries/<int:query_id>/results/<int:rank>/judgment")
def judge(run_id: str, query_id: int, rank: int) -> Response:
    form = validated_form(VerdictForm)
    with access.writing() as (session, rater):
        verdict = form.relevance.data
        judged = judgments.judge(session, rater, run_id, query_id, rank, verdict, form.click)
    if not htmx.wants_part():
        return _to(run_id, query_id, f"rank-{rank}")
    if form.onward.data:
        with access.reading() as (session, rater):
            page, _ = _after_click(session, rater, run_id, query_id)
        following = page.place.next_open
        if following is not None:
            return _to(run_id, following)
    question = ClickedQuestion.of(query_id, judged)
    card = ClickedCard(rank, judged.verdict)
    return _clicked(question, run_id, query_id, judged.summary, changed=[card])


@blueprint.post("/queries/<int:query_id>/results/<int:rank>/reason")
def give_reason(run_id: str, query_id: int, rank: int) -> Response:
    form = validated_form(ReasonForm)
    with access.writing() as (session, rater):
        on_card = (run_id, query_id, rank, form.reason.data, form.click)
        reason = judgments.give_reason(session, rater, *on_card)
    if not htmx.wants_part():
        return _to(run_id, query_id, f"rank-{rank}")
    return clicks.reason_in_force(str(query_id), rank, reason)


@blueprint.post("/queries/<int:query_id>/rating")
def rate(run_id: str, query_id: int) -> Response:
    form = validated_form(RatingForm)
    with access.writing() as (session, rater):
        judgments.rate(session, rater, run_id, query_id, form.rating, clicks.event())
    if not htmx.wants_part():
        return _to(run_id, query_id, "rate")
    with access.reading() as (session, rater):
        page, others = _after_click(session, rater, run_id, query_id)
    if form.onward.data and page.place.next_open is not None:
        return _to(run_id, page.place.next_open)
    parts = {"others": others, "both_notes": form.both_notes(page.notes)}
    return _clicked(page, run_id, query_id, page.summary, **parts)


@blueprint.get("/queries/<int:query_id>/look")
def look(run_id: str, query_id: int) -> Response:
    origins.need_our_page()  # a search is stored, and by no link from elsewhere
    with access.reading() as (session, rater):
        page = open_pages.rating_page(session, rater, run_id, query_id, clicks.filter_of())
        marks = card_marks.of_answer(session, rater.study, page)
        lookup = _lookup(session, rater, page)
    with access.writing() as (session, rater):
        place = lookups.of_answer(session, rater, run_id, query_id)
        lookup = lookup_views.searched(session, rater, place, lookup)
    return (
        lookup_views.part(lookup) if htmx.wants_part() else with_parts(page, marks, lookup=lookup)
    )


@blueprint.post("/queries/<int:query_id>/evidence")
def pin(run_id: str, query_id: int) -> Response:
    with access.writing() as (session, rater):
        lookup_views.pin(session, rater, lookups.of_answer(session, rater, run_id, query_id))
    if not htmx.wants_part():
        return see_other(_address(run_id, query_id, "look", _anchor="look", **clicks.query()))
    with access.reading() as (session, rater):
        page, others = _after_click(session, rater, run_id, query_id)
        lookup = _lookup(session, rater, page)
    clicked = _clicked(page, run_id, query_id, page.summary, others=others)
    return lookup_views.pinned(clicked, lookup)


@blueprint.post("/queries/<int:query_id>/judgments")
def judge_open(run_id: str, query_id: int) -> Response:
    form = validated_form(VerdictForm)
    with access.writing() as (session, rater):
        if form.relevance.data is None:
            raise answer_ratings.NotToJudge
        judgments.judge_open(session, rater, run_id, query_id, form.relevance.data, form.click)
    return _to(run_id, query_id, "rating")


@blueprint.post("/undo")
def undo(run_id: str) -> Response:
    with access.writing() as (session, rater):
        runs.find(session, rater.study, run_id)
        query_id = judgments.undo(session, rater, run_id, clicks.event())
    if query_id is not None:
        return _to(run_id, query_id)
    return clicks.nothing_to_undo(url_for("runs.show", run_id=run_id))


@blueprint.post("/queries/<int:query_id>/cards")
def add_cards(run_id: str, query_id: int) -> Response:
    form = validated_form(CardsForm)
    with access.writing() as (session, rater):
        text, now = form.text.data or "", access.now()
        count = runs.add_cards(session, rater.study, run_id, query_id, text, now)
    return _to(run_id, query_id, None if count else "by-hand")


def _after_click(
    session: Session, rater: Rater, run_id: str, query_id: int
) -> tuple[RatingPage, Sequence[OtherAnswer]]:
    """Return a question as a click left it, and the other answers where it is an empty list.

    It is read once the click is committed, so that no lock of the click waits for it.
    """
    page = open_pages.rating_page(session, rater, run_id, query_id, clicks.filter_of())
    others = open_pages.other_answers(session, rater, page) if page.state is EMPTY else ()
    return page, others


def _lookup(session: Session, rater: Rater, page: RatingPage) -> Lookup | None:
    find = partial(lookups.of_answer, session, rater, page.run_id, page.query_id)
    lookup = lookup_views.look_up(
        session, rater, find, partial(_address, page.run_id, page.query_id)
    )
    ranks = {judged.card.identity: judged.number for judged in page.cards}
    return lookup and replace(lookup, ranks=ranks)


def with_parts(
    page: RatingPage, marks: Marks | None, status: int = 200, lookup: Lookup | None = None
) -> Response:
    g.pictures = page.show_pictures
    with access.reading() as (session, rater):
        background = particulars.of_answer(session, rater.study, page.run_id, page.query_id)
        cards, lists, questions, answers = page.run_progress.work_left
        clicks_left = cards + lists + answers
        is_done = not questions
        work = shown.work(session, rater, page.place.of, questions, clicks_left, is_done=is_done)
        guidelines = studies.guidelines(rater.study)
        others = open_pages.other_answers(session, rater, page) if page.state is EMPTY else ()
        lookup = lookup or _lookup(session, rater, page)
    query, next_open = clicks.query(), page.place.next_open
    end = url_for("runs.show", run_id=page.run_id)
    return htmx.respond(
        "rating/judgments/page.html",
        "rating/judgments/_shown.html",
        status=status,
        page=page,
        at=partial(_address, page.run_id, page.query_id),
        at_undo=url_for("judgments.undo", run_id=page.run_id),
        next_open=next_open and _address(page.run_id, next_open, "show", **query),
        end=end,
        query=query,
        work=work,
        numbers=figures.numbers(page.summary, page),
        panel=_panel(page),
        shared=shown.shared(page, background),
        background=background,
        guidelines=guidelines,
        became_blind=False,
        marks=marks,
        others=others,
        lookup=lookup,
        is_whole="whole" in request.args,
    )


def _panel(page: RatingPage) -> list[tuple[LiveFigure, LiveFigure]]:
    cards, lists, _, answers = page.run_progress.work_left
    return figures.panel(
        page.summary, page.run_progress.totals, page, figures.waiting(cards, lists, answers)
    )


def _clicked(
    question: RatingPage | ClickedQuestion,
    run_id: str,
    query_id: int,
    summary: QuerySummary,
    **parts: Any,
) -> Response:
    parts = {"changed": (), "others": (), "both_notes": None, **parts}
    return htmx.part(
        "rating/judgments/_clicked.html",
        page=question,
        at=partial(_address, run_id, query_id),
        query=clicks.query(),
        numbers=figures.numbers(summary, question),
        **parts,
    )


def _address(run_id: str, query_id: int, action: str, **values: Any) -> str:
    return url_for(f"judgments.{action}", run_id=run_id, query_id=query_id, **values)


def _to(run_id: str, query_id: int, anchor: str | None = None) -> Response:
    return see_other(_address(run_id, query_id, "show", _anchor=anchor, **clicks.query()))
