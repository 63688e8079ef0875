"""The rating page and every click on it.

Every click is answered with the parts it changed: the verdict in force, the figures, the walk.
A form sent without a script is redirected to its card.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, g, redirect, request, url_for
from msgspec import Struct
from msgspec.structs import replace

from webapp.failures import Conflict
from webapp.i18n import mark
from webapp.metrics.judging.registry import Measure
from webapp.records import QueryState, Relevance
from webapp.services.judging import events
from webapp.services.rating import pages, particulars
from webapp.services.rating.pages import JudgedCard, MovingFigures, RatingPage
from webapp.services.rating.particulars import Background
from webapp.services.runs import runs
from webapp.services.study import studies
from webapp.web.feature import ShownPart
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import checked
from webapp.web.rating import clicks, figures, parts
from webapp.web.rating.clicks import CardsForm, RatingForm
from webapp.web.rating.figures import ClickedCounts, FigureRow, UndefinedReason
from webapp.web.rating.parts import CardParts

blueprint = Blueprint("judgments", __name__, url_prefix="/runs/<run_id>")


class RatedBlind(Conflict):
    """The study is now rated blind, so answers are no longer shown by run."""

    message = mark("This study is rated blind")
    remedy = mark("Runs are not shown while rating. Reload the page to go on with what is next.")


class RatingContext(Struct, frozen=True):
    """The content of the rating page and its parts.

    ``query`` are the arguments that keep the filter in every address; ``whole`` is true where
    a long answer is shown in full; ``background`` is shown above and under its cards; ``parts``
    are those that wings add.
    """

    page: RatingPage
    counts: ClickedCounts
    rows: tuple[FigureRow, ...]
    measures: tuple[Measure, ...]
    reasons: tuple[UndefinedReason, ...]
    query: dict[str, Any]
    whole: bool
    background: Background[int]
    parts: tuple[CardParts, ...] = ()


class MovedParts(Struct, frozen=True):
    """The parts of the page that a click changed: its cards, and the verdict that was given.

    ``brought`` are the parts that wings show once a card is judged.
    """

    page: MovingFigures
    counts: ClickedCounts
    rows: tuple[FigureRow, ...]
    query: dict[str, Any]
    changed: tuple[JudgedCard, ...]
    given: VerdictOnCard | None = None
    brought: tuple[ShownPart, ...] = ()


class VerdictOnCard(Struct, frozen=True):
    """The verdict in force on a card after a click; ``card`` is its selector on the page."""

    card: str
    number: int
    relevance: Relevance


@blueprint.get("/queries/<int:query_id>")
def show(run_id: str, query_id: int) -> Response:
    """Show one question of a run, to be rated; in a blind study, to be read."""
    page = page_of(run_id, query_id)
    if _is_blind() and page.state is not QueryState.UNREADABLE:  # its cards are still to be added
        if htmx.wants_part():
            raise RatedBlind
        address = url_for("comparisons.question", position=page.asked_at, runs=[run_id])
        return redirect(address, 303)  # type: ignore[return-value]
    if (elsewhere := _first_in_category(page)) is not None:
        return _to(run_id, elsewhere)
    return with_parts(page, tuple(parts.on_answer(page)))


@blueprint.post("/queries/<int:query_id>/results/<int:rank>/judgment")
def judge(run_id: str, query_id: int, rank: int) -> Response:
    """Store a verdict on one card."""
    said, wanted = clicks.verdict(), clicks.wanted()
    with access.writing() as (session, rater):
        verdict = events.judge(session, rater, run_id, query_id, rank, said.relevance, said.click)
        if not htmx.wants_part():
            session.commit()
            return _to(run_id, query_id, f"rank-{rank}")
        cleared = rank if verdict is None else None
        page, cards = pages.moved(session, rater, run_id, query_id, wanted, cleared)
        session.commit()
    g.pictures = page.show_pictures
    given = VerdictOnCard(f"#rank-{rank}", rank, verdict) if verdict else None
    return _clicked(page, cards, given, tuple(parts.after_verdict(run_id, query_id, rank)))


@blueprint.post("/queries/<int:query_id>/rating")
def rate(run_id: str, query_id: int) -> Response:
    """Store the rating of the whole answer; ``onward`` leads to the next open question."""
    form = checked(RatingForm)
    with access.writing() as (session, rater):
        events.rate(session, rater, run_id, query_id, form.rating, clicks.event())
        session.commit()
    page = page_of(run_id, query_id)
    if not htmx.wants_part():
        return _to(run_id, query_id, "rating")
    if form.onward.data and page.place.next_open is not None:
        page = page_of(run_id, page.place.next_open)
    if not form.empty_outcome.raw_data:
        return _clicked(page, ())
    return _clicked(page, (), None, tuple(parts.after_verdict(run_id, page.query_id, None)))


@blueprint.post("/queries/<int:query_id>/judgments")
def judge_open(run_id: str, query_id: int) -> Response:
    """Store one verdict on every card that is still unjudged, where the owner allows it."""
    said = clicks.verdict()
    with access.writing() as (session, rater):
        if said.relevance is None:
            raise events.NotToJudge
        events.judge_open(session, rater, run_id, query_id, said.relevance, said.click)
        session.commit()
    return _to(run_id, query_id, "rating")


@blueprint.post("/undo")
def undo(run_id: str) -> Response:
    """Take back the latest change in the run and show where it was."""
    with access.writing() as (session, rater):
        runs.find(session, rater.study, run_id)
        query_id = events.undo(session, rater, run_id, clicks.event())
        session.commit()
    if query_id is not None:
        return _to(run_id, query_id)
    return clicks.nothing_to_undo(url_for("runs.show", run_id=run_id))


@blueprint.post("/queries/<int:query_id>/cards")
def add_cards(run_id: str, query_id: int) -> Response:
    """Give an unreadable answer the cards its owner wrote by hand."""
    form = checked(CardsForm)
    with access.writing() as (session, rater):
        text, now = form.text.data or "", access.now()
        found = runs.add_cards(session, rater.study, run_id, query_id, text, now)
        session.commit()
    return _to(run_id, query_id, None if found else "by-hand")


def with_parts(page: RatingPage, shown: tuple[CardParts, ...], status: int = 200) -> Response:
    """Return one question with what wings show there, as a page or in place of another."""
    rating = replace(_rating(page), parts=shown)
    return htmx.respond(
        "rating/judgments/page.html", "rating/judgments/_shown.html", rating, status
    )


def page_of(run_id: str, query_id: int) -> RatingPage:
    """Return the rating page of one query of a run."""
    with access.reading() as (session, rater):
        page = pages.rating_page(session, rater, run_id, query_id, clicks.wanted())
    g.pictures = page.show_pictures
    return page


def _is_blind() -> bool:
    with access.reading() as (session, rater):
        return studies.is_blind(session, rater.study)


def _first_in_category(page: RatingPage) -> int | None:
    """Return the query to go to when the filter names another category than the question's."""
    if page.filter.category in {None, page.category}:
        return None
    place = page.place
    ways = (place.next_open, place.next, place.previous)
    return next((way for way in ways if way is not None), None)


def _rows(page: MovingFigures) -> tuple[FigureRow, ...]:
    return figures.rows(
        figures.of_query(page.summary),
        figures.of_totals(page.category_standing.totals),
        figures.of_totals(page.whole.totals),
    )


def _rating(page: RatingPage) -> RatingContext:
    with access.reading() as (session, rater):
        background = particulars.of_answer(session, rater.study, page.run_id, page.query_id)
    return RatingContext(
        page=page,
        counts=figures.clicked(page.summary),
        rows=_rows(page),
        measures=figures.measures(),
        reasons=figures.reasons(),
        query=clicks.query(),
        whole="whole" in request.args,
        background=background,
    )


def _clicked(
    page: MovingFigures,
    changed: tuple[JudgedCard, ...],
    given: VerdictOnCard | None = None,
    brought: tuple[ShownPart, ...] = (),
) -> Response:
    part = "rating/judgments/_clicked.html"
    counts = figures.clicked(page.summary)
    moved = MovedParts(page, counts, _rows(page), clicks.query(), changed, given, brought)
    return htmx.respond(part, part, moved)


def _to(run_id: str, query_id: int, anchor: str | None = None) -> Response:
    """Send the browser to a question; one with a script gets its parts from there."""
    address = url_for(
        "judgments.show", run_id=run_id, query_id=query_id, _anchor=anchor, **clicks.query()
    )
    return redirect(address, 303)  # type: ignore[return-value]
