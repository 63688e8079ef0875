"""The first page: what needs doing, or how to begin."""

from __future__ import annotations

from flask import Blueprint, current_app, render_template
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.services.rating import shares
from webapp.services.rating.shares import Progress
from webapp.services.runs import runs, samples
from webapp.services.runs.runs import RunOverview
from webapp.services.study.standing import rater_standing
from webapp.web.feature import ShownPart
from webapp.web.frame import access, formatting, htmx
from webapp.web.rating import parts
from webapp.web.study import steps
from webapp.web.study.steps import StudyStep

blueprint = Blueprint("home", __name__)


class Home(Struct, frozen=True):
    """The study's runs, in their order, with the rater's progress in them.

    ``blind`` is how far the rater is in the pooled cards, where the study is rated blind.
    ``steps`` are those of the study, none before it has a run. ``sample`` are its runs that are
    the invented sample's, none in the demo.
    """

    runs: tuple[RunOverview, ...]
    blind: Progress | None
    steps: tuple[StudyStep, ...]
    sample: tuple[Run, ...]


class RaterHome(Struct, frozen=True):
    """How far a rater is, and how long the rest takes at their own pace (empty if unknown).

    ``further`` is the work beside the questions that wings have for the rater.
    """

    blind: Progress
    judged: int
    time_left: str
    further: tuple[ShownPart, ...]


@blueprint.get("/")
def show() -> str:
    """Show the owner's open work, or how far another rater is."""
    with access.reading() as (session, rater):
        if not rater.is_owner:
            return render_template("study/home/rater.html", **htmx.names(_rater(session, rater)))
        found = tuple(runs.overviews(session, rater))
        made = steps.of_study(session, rater.study, len(found)) if found else ()
        is_own = found and not current_app.config["IS_DEMO"]
        sample = tuple(samples.found(session, rater.study)) if is_own else ()
        context = Home(found, shares.if_blind(session, rater), made, sample)
    return render_template("study/home/page.html", **htmx.names(context))


def _rater(session: Session, rater: Rater) -> RaterHome:
    found = rater_standing(session, rater)
    left = formatting.duration(found.seconds_left) if found.seconds_left else ""
    return RaterHome(found.progress, found.judged, left, parts.further_work(session, rater))
