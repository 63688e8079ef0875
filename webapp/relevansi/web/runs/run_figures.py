"""The first figures of runs as pages draw them: with intervals, bounds and the method's mark."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons.answers import short_name
from relevansi.exporters.comparisons.figure_names import unit_of
from relevansi.exporters.frame import charts
from relevansi.metrics.comparisons.comparisons import estimates
from relevansi.metrics.comparisons.differences import deciding
from relevansi.metrics.judging.graded import headline_of
from relevansi.metrics.judging.queries import QUALITY
from relevansi.records import Scale
from relevansi.services.judging.judged_runs import judged_runs
from relevansi.services.runs.reports import Rule


class FigureColumn(Struct, frozen=True):
    """A figure by its name, with its label in the reader's language and its unit."""

    name: str
    label: str
    unit: str

    @property
    def is_ratio(self) -> bool:
        return self.unit == "ratio"


def columns(study: Study, *, with_quality: bool = True) -> tuple[FigureColumn, ...]:
    """Return the figures that lead a study's comparison, and the quality where it is asked."""
    scale = Scale.stored(study.scale)
    return tuple(
        FigureColumn(name, short_name(name, scale), unit_of(name))
        for name in deciding(headline_of(study))
        if with_quality or name != QUALITY
    )


def marks(listed: Collection[Run], compared: Collection[Run]) -> dict[str, int]:
    """Return the mark of each compared run by its id: that of its method among the study's.

    Runs of one method, which differ by their LLM, have that of the LLM.
    """
    methods = {run.search_method for run in compared}
    label = "llm" if len(compared) > 1 and len(methods) == 1 else "search_method"
    of_label = charts.marks(getattr(run, label) for run in listed)
    return {run.id: of_label[getattr(run, label) or ""] for run in compared}


def of_runs(
    session: Session,
    study: Study,
    compared: Sequence[Run],
    rule: Rule,
    names: Sequence[str],
    marks: dict[str, int],
) -> dict[str, dict[str, charts.Figure]]:
    """Return the figures of each run by its id and the figure's name."""
    by_set: dict[int, list[Run]] = {}
    for run in compared:
        by_set.setdefault(run.question_set_id, []).append(run)
    drawn = {}
    for of_set in by_set.values():
        judged = judged_runs(session, study, of_set, rule, headline_of(study))
        for judged_run in judged:
            of_run = estimates(judged_run, names)
            drawn[judged_run.run] = {
                name: charts.drawn(
                    of_run[name].figure,
                    of_run[name].interval,
                    marks[judged_run.run],
                    is_judged=judged_run.is_judged,
                )
                for name in names
            }
    return drawn
