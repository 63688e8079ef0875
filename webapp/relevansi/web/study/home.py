"""The first page: the next act, the figures so far, the raters; or how to begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import Blueprint, current_app, render_template
from msgspec import Struct
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons import answers
from relevansi.exporters.frame import charts
from relevansi.metrics.comparisons.comparisons import Comparison, compare
from relevansi.metrics.judging.graded import headline_of
from relevansi.records import Scale, State
from relevansi.services.comparisons import chosen_runs
from relevansi.services.judging.judged_runs import judged_runs
from relevansi.services.rating import open_pages
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from relevansi.services.study.progress import (
    OwnQuestion,
    own_questions,
    progress_of_raters,
    rater_progress,
)
from relevansi.web.folders import folder
from relevansi.web.frame import access
from relevansi.web.runs import run_figures
from relevansi.web.runs.run_figures import FigureColumn

blueprint = Blueprint("home", __name__)
SECONDS_PER_TIE = 10
MOST_SEGMENTS = 60
"""So many questions are drawn one by one."""


class MethodStrip(Struct, frozen=True):
    """The figures of compared runs: a row for each run, a column for each figure.

    ``answer`` is who is ahead of whom, empty for a run alone; ``above`` has for each figure the
    marks of the runs that a test found apart, the higher one first.
    """

    run_ids: tuple[str, ...]
    names: tuple[str, ...]
    columns: tuple[FigureColumn, ...]
    rows: tuple[tuple[charts.Figure, ...], ...]
    answer: tuple[str, ...]
    above: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def states(self) -> set[charts.State]:
        return {figure.state for row in self.rows for figure in row}


@blueprint.get("/")
def show() -> str:
    """Show the owner's overview, a rater's own progress, or how to begin."""
    if current_app.config["FOLDER"] is not None:
        return folder.page()
    with access.reading() as (session, rater):
        if not rater.is_owner:
            return render_template(
                "study/home/rater.html",
                reader=rater_progress(session, rater),
                questions=_drawn_questions(session, rater),
            )
        listed = runs.in_order(session, rater.study)
        if not listed:
            return render_template("study/home/empty.html")
        return render_template("study/home/page.html", **_overview(session, rater, listed))


def _drawn_questions(session: Session, rater: Rater) -> Sequence[OwnQuestion]:
    """Return the reader's own questions; none where they are too many to be drawn one by one."""
    questions = own_questions(session, rater)
    return questions if len(questions) <= MOST_SEGMENTS else ()


def _overview(session: Session, rater: Rater, listed: Sequence[Run]) -> dict[str, Any]:
    study = rater.study
    rule = reports.final_rule(session, study)
    in_study = reports.in_study(study)
    state = reports.state(session, study, in_study, rule)
    verdicts = reports.blindness(session, study, in_study, rule).verdicts
    is_blind = studies.is_blind(session, study)
    people = progress_of_raters(session, study)
    reader = next(person for person in people if person.name == rater.name)
    reader_name = labels.owner(reader.name)
    return {
        "questions": _drawn_questions(session, rater),
        "runs": listed,
        "rule": rule.name,
        "state": state,
        # Whether they have something of their own to rate that the state waits for.
        "is_behind": reader.clicks_left > 0 if rule.rater else reader_name in state.behind,
        "open_run": None if is_blind else _first_open_query(session, rater, listed),
        "people": sorted(people, key=lambda person: (person is not reader, -person.clicks_left)),
        "reader": reader,
        "strip": _method_strip(session, study, listed, rule, state),
        "blind_share": round(verdicts.blind / verdicts.n, 2) if verdicts.n else None,
        "seconds_per_tie": SECONDS_PER_TIE,
    }


def _first_open_query(
    session: Session, rater: Rater, listed: Sequence[Run]
) -> tuple[str, int] | None:
    """Return the first run that the reader has not finished, and its first open query."""
    opened = ((run.id, open_pages.first_open(session, rater, run.id)) for run in listed)
    return next(((run, query) for run, query in opened if query is not None), None)


def _method_strip(
    session: Session, study: Study, listed: Sequence[Run], rule: Rule, state: State
) -> MethodStrip:
    """Return the figures of the runs that the comparison shows first, else of the first run."""
    phases = chosen_runs.phases_of(session, study)
    chosen = chosen_runs.of_phase(session, study, phases[0]) if phases else [listed[0].id]
    compared = [run for run in listed if run.id in chosen]
    columns = run_figures.columns(study, with_quality=False)
    names = [column.name for column in columns]
    marks = run_figures.marks(listed, compared)
    figures = run_figures.of_runs(session, study, compared, rule, names, marks)
    answer: tuple[str, ...] = ()
    above: tuple[tuple[tuple[int, int], ...], ...] = ((),) * len(names)
    if len(compared) > 1 and state.is_complete:  # else nothing is tested, and no library needed
        headline = headline_of(study)
        judged = judged_runs(session, study, compared, rule, headline)
        scale = Scale.stored(study.scale)
        comparison = compare(judged, rule=rule.name, headline=headline, scale=scale)
        answer = tuple(filter(None, answers.answer(comparison, state)))
        above = tuple(tuple(_marks_apart(comparison, name, marks)) for name in names)
    run_names = tuple(chosen_runs.names_of(compared).values())
    rows = tuple(tuple(figures[run.id].values()) for run in compared)
    ids = tuple(run.id for run in compared)
    return MethodStrip(ids, run_names, columns, rows, answer, above)


def _marks_apart(
    comparison: Comparison, figure: str, marks: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    for test in comparison.tests:
        if test.figure == figure and test.significant:
            higher, lower = test.in_order
            yield marks[higher.run], marks[lower.run]
