"""The rating page and every click on it.

Every click is answered with the parts it changed: the verdict in force, the figures, the walk.
A form sent without a script is redirected to its card.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import Blueprint, Response, g, request, url_for

from relevansi.failures import Conflict
from relevansi.i18n import mark
from relevansi.records import QueryState
from relevansi.services.judging import events
from relevansi.services.rating import pages, particulars
from relevansi.services.rating.pages import RatingPage
from relevansi.services.runs import runs
from relevansi.services.study import studies
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import checked
from relevansi.web.frame.htmx import see_other
from relevansi.web.gold import card_marks
from relevansi.web.gold.card_marks import Marks
from relevansi.web.rating import clicks, figures
from relevansi.web.rating.clicks import CardsForm, RatingForm, VerdictForm

blueprint = Blueprint("judgments", __name__, url_prefix="/runs/<run_id>")


class RatedBlind(Conflict):
    message = mark("This study is rated blind")
    remedy = mark("Runs are not shown while rating. Reload the page to go on with what is next.")


@blueprint.get("/queries/<int:query_id>")
def show(run_id: str, query_id: int) -> Response:
    with access.reading() as (session, rater):
        page = pages.rating_page(session, rater, run_id, query_id, clicks.wanted())
        is_blind = studies.is_blind(session, rater.study)
        marks = card_marks.of_answer(session, rater.study, page)
    if is_blind and page.state is not QueryState.UNREADABLE:  # its cards are still to be added
        if htmx.wants_part():
            raise RatedBlind
        address = url_for("comparisons.question", position=page.asked_at, runs=[run_id])
        return see_other(address)
    if page.filter.category not in {None, page.category}:
        for way in (page.place.next_open, page.place.next, page.place.previous):
            if way is not None:
                return _to(run_id, way)
    return with_parts(page, marks)


@blueprint.post("/queries/<int:query_id>/results/<int:rank>/judgment")
def judge(run_id: str, query_id: int, rank: int) -> Response:
    form = checked(VerdictForm)
    with access.writing() as (session, rater):
        events.judge(session, rater, run_id, query_id, rank, form.relevance.data, form.click)
        if not htmx.wants_part():
            session.commit()
            return _to(run_id, query_id, f"rank-{rank}")
        page = pages.rating_page(session, rater, run_id, query_id, clicks.wanted())
        if form.onward.data and page.place.next_open is not None:
            session.commit()
            return _to(run_id, page.place.next_open)
        marks = card_marks.of_answer(session, rater.study, page, clicked=rank)
        session.commit()
    card = page.card(str(rank))
    return _clicked(page, clicked=card, changed=page.sharing(card), marks=marks)


@blueprint.post("/queries/<int:query_id>/rating")
def rate(run_id: str, query_id: int) -> Response:
    form = checked(RatingForm)
    with access.writing() as (session, rater):
        events.rate(session, rater, run_id, query_id, form.rating, clicks.event())
        if not htmx.wants_part():
            session.commit()
            return _to(run_id, query_id, "rating")
        page = pages.rating_page(session, rater, run_id, query_id, clicks.wanted())
        if form.onward.data and page.place.next_open is not None:
            following = page.place.next_open
            page = pages.rating_page(session, rater, run_id, following, clicks.wanted())
        decides = bool(form.empty_outcome.raw_data)
        marks = card_marks.of_answer(session, rater.study, page) if decides else None
        session.commit()
    return _clicked(page, marks=marks, both_notes=form.both_notes(page.notes))


@blueprint.post("/queries/<int:query_id>/judgments")
def judge_open(run_id: str, query_id: int) -> Response:
    form = checked(VerdictForm)
    with access.writing() as (session, rater):
        if form.relevance.data is None:
            raise events.NotToJudge
        events.judge_open(session, rater, run_id, query_id, form.relevance.data, form.click)
        session.commit()
    return _to(run_id, query_id, "rating")


@blueprint.post("/undo")
def undo(run_id: str) -> Response:
    with access.writing() as (session, rater):
        runs.find(session, rater.study, run_id)
        query_id = events.undo(session, rater, run_id, clicks.event())
        session.commit()
    if query_id is not None:
        return _to(run_id, query_id)
    return clicks.nothing_to_undo(url_for("runs.show", run_id=run_id))


@blueprint.post("/queries/<int:query_id>/cards")
def add_cards(run_id: str, query_id: int) -> Response:
    form = checked(CardsForm)
    with access.writing() as (session, rater):
        text, now = form.text.data or "", access.now()
        found = runs.add_cards(session, rater.study, run_id, query_id, text, now)
        session.commit()
    return _to(run_id, query_id, None if found else "by-hand")


def with_parts(page: RatingPage, marks: Marks | None, status: int = 200) -> Response:
    with access.reading() as (session, rater):
        background = particulars.of_answer(session, rater.study, page.run_id, page.query_id)
    return htmx.respond(
        "rating/judgments/page.html",
        "rating/judgments/_shown.html",
        status=status,
        **_moving(page),
        measures=figures.measures(page.headline, page.scale),
        reasons=figures.reasons(page.headline),
        whole="whole" in request.args,
        background=background,
        marks=marks,
    )


def _moving(page: RatingPage) -> dict[str, Any]:
    g.pictures = page.show_pictures
    cards, lists, _, answers = page.whole.work_left
    left = figures.waiting(cards, lists, answers)
    columns = (
        figures.of_query(page.summary, page.headline),
        figures.of_totals(page.category_standing.totals, page.headline),
        figures.of_totals(page.whole.totals, page.headline, left),
    )
    return {
        "page": page,
        "at": partial(_address, page.run_id, page.query_id),
        "query": clicks.query(),
        "counts": figures.clicked(page.summary, page.cannot_tell),
        "rows": figures.rows(page.headline, page.scale, *columns),
    }


def _clicked(page: RatingPage, **parts: Any) -> Response:
    part = "rating/judgments/_clicked.html"
    parts = {"clicked": None, "changed": (), "marks": None, "both_notes": None, **parts}
    return htmx.respond(part, part, **_moving(page), **parts)


def _address(run_id: str, query_id: int, action: str, **values: Any) -> str:
    return url_for(f"judgments.{action}", run_id=run_id, query_id=query_id, **values)


def _to(run_id: str, query_id: int, anchor: str | None = None) -> Response:
    address = _address(run_id, query_id, "show", _anchor=anchor, **clicks.query())
    return see_other(address)
