"""The first page: what needs doing, or how to begin."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Blueprint, current_app, render_template
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp import labels, notation
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.i18n import gettext, ngettext
from webapp.notation import number
from webapp.services.agreement import adjudications
from webapp.services.rating import shares
from webapp.services.rating.shares import Progress
from webapp.services.runs import runs, samples
from webapp.services.runs.runs import RunOverview
from webapp.services.study.standing import RaterStanding, rater_standing, rater_standings
from webapp.web.features import ShownPart
from webapp.web.frame import access, htmx
from webapp.web.rating import clicks

MOST_NAMED = 3


class StudyStep(Struct, frozen=True):
    """A step of the study: its name, what there is to say of it, and the page to do it on."""

    label: str
    said: str
    is_done: bool
    endpoint: str


def of_study(session: Session, study: Study, runs: int) -> tuple[StudyStep, ...]:
    """Return the five steps of a study that has `runs` runs."""
    people = rater_standings(session, study)
    behind = [one for one in people if one.progress.open_judgments or one.progress.unrated]
    judged = sum(one.judged > 0 for one in people)
    open_disputes = adjudications.open_disputes(session, study) if judged > 1 else 0
    all_rated = bool(people) and not behind
    return (
        StudyStep(gettext("Import or collect runs"), _runs(runs), runs > 1, "imports.show"),
        StudyStep(gettext("Invite raters"), _people(len(people)), len(people) > 1, "raters.index"),
        StudyStep(gettext("Rate"), _behind(behind), all_rated, "study.standing"),
        StudyStep(
            gettext("Settle what raters disagree on"),
            _disputes(judged, open_disputes),
            all_rated and judged > 1 and not open_disputes,
            "adjudications.show" if open_disputes else "agreement.show",
        ),
        StudyStep(
            gettext("Conclude and hand in"),
            _conclusion(runs, is_final=all_rated and not open_disputes),
            False,
            "comparisons.show" if runs > 1 else "runs.index",
        ),
    )


def _runs(runs: int) -> str:
    if runs > 1:
        return ngettext("%(n)s run is here.", "%(n)s runs are here.", runs)
    return gettext("One run is here; a comparison needs two of one question set.")


def _people(people: int) -> str:
    if people > 1:
        return ngettext("%(n)s person rates.", "%(n)s people rate.", people)
    return gettext("One person rates so far; agreement needs at least two.")


def _behind(behind: Sequence[RaterStanding]) -> str:
    """Return who still has work, those with the most first."""
    if not behind:
        return gettext("Everybody is done.")
    most = sorted(behind, key=lambda one: -(one.progress.open_judgments + one.progress.unrated))
    said = ", ".join(f"{one.name} ({_left(one)})" for one in most[:MOST_NAMED])
    if len(most) > MOST_NAMED:
        rest = number(len(most) - MOST_NAMED)
        said = gettext("%(listed)s and %(n)s more", listed=said, n=rest)
    return gettext("Not done yet: %(names)s.", names=said)


def _left(one: RaterStanding) -> str:
    if one.seconds_left:
        return notation.duration(one.seconds_left)
    return labels.work_left(*one.progress.work_left)


def _disputes(judged: int, open_disputes: int) -> str:
    if judged < 2:
        return gettext("This begins once two people have rated.")
    if open_disputes:
        return ngettext(
            "%(n)s dispute waits for a decision.",
            "%(n)s disputes wait for a decision.",
            open_disputes,
        )
    return gettext("Nothing is in dispute; see how far the raters agree.")


def _conclusion(runs: int, *, is_final: bool) -> str:
    if runs < 2:
        return gettext("The figures of the run, and its files to hand in.")
    if is_final:
        return gettext("Everything is rated: read the answer, then download the reports.")
    return gettext("The comparison is provisional until everything is rated and settled.")


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

    ``further`` is the work beside the questions that waits for the rater.
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
        made = of_study(session, rater.study, len(found)) if found else ()
        is_own = found and not current_app.config["IS_DEMO"]
        sample = tuple(samples.found(session, rater.study)) if is_own else ()
        context = Home(found, shares.if_blind(session, rater), made, sample)
    return render_template("study/home/page.html", **htmx.names(context))


def _rater(session: Session, rater: Rater) -> RaterHome:
    found = rater_standing(session, rater)
    left = notation.duration(found.seconds_left) if found.seconds_left else ""
    return RaterHome(found.progress, found.judged, left, clicks.further_work(session, rater))
