"""The recorded values of the sample study: people's and a machine's, question by question."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from webapp.cli.frame.demo import prepared_demo
from webapp.db.engine import Database
from webapp.db.tables.study import Study
from webapp.metrics.comparisons.differences import ComparedRun, value_of
from webapp.metrics.planning.sampling import ValueRange
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.planning import machine_help
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

FIGURES = ("mean_precision_at_5", "mrr", "success_rate")


@dataclass(frozen=True, slots=True)
class RecordedValues:
    """The values of one figure of one run, or of two runs' difference, in question order.

    ``machine`` has the machine judge's value of the same question. ``None`` is a question without
    a value, ``strata`` the category of each.
    """

    name: str
    figure: str
    people: tuple[float | None, ...]
    machine: tuple[float | None, ...]
    strata: tuple[str, ...]
    is_difference: bool

    @property
    def bounds(self) -> ValueRange:
        """The values that the figure, or its difference, can have."""
        return ValueRange(-1.0, 1.0) if self.is_difference else ValueRange()


def recorded(folder: Path) -> tuple[RecordedValues, ...]:
    """Return each figure of the first run of phase 1, and of its difference to the second."""
    with _demo(folder) as (session, study):
        ids = chosen_runs.of_phase(session, study, 1)[:2]
        compared = [runs.find(session, study, run_id) for run_id in ids]
        people = comparisons.judged_runs(session, study, compared, reports.rule_of(session, study))
        machine = machine_help.machines(session, study, compared)[0]
        alone = Rule(f"machine {machine.name}", machine)
        judged = comparisons.judged_runs(session, study, compared, alone)
        return tuple(_values(people, judged))


def _values(
    people: tuple[ComparedRun, ...], machine: tuple[ComparedRun, ...]
) -> Iterator[RecordedValues]:
    strata = {query.position: query.category for query in people[0].queries}
    for figure in FIGURES:
        by_people = [_of(run, figure) for run in people]
        by_machine = [_of(run, figure) for run in machine]
        names = [run.search_method or run.name for run in people]
        kinds = tuple(strata.values())
        for is_difference in (False, True):
            yield RecordedValues(
                name=" - ".join(names) if is_difference else names[0],
                figure=figure,
                people=tuple(_apart(by_people, at, both=is_difference) for at in strata),
                machine=tuple(_apart(by_machine, at, both=is_difference) for at in strata),
                strata=kinds,
                is_difference=is_difference,
            )


def _of(run: ComparedRun, figure: str) -> Mapping[int, float | None]:
    return {q.position: value_of(q, figure, false_negatives_at_zero=False) for q in run.queries}


def _apart(found: list[Mapping[int, float | None]], position: int, *, both: bool) -> float | None:
    one, other = (of_run.get(position) for of_run in found)
    if not both:
        return one
    return None if one is None or other is None else one - other


@contextmanager
def _demo(folder: Path) -> Iterator[tuple[Session, Study]]:
    before = os.environ.get("RELEVANSI_INSTANCE")
    os.environ["RELEVANSI_INSTANCE"] = str(folder)
    try:
        database = Database(prepared_demo().database_url)
        with database.reading() as session:
            study = studies.current(session)
            assert study is not None
            yield session, study
        database.close()
    finally:
        os.environ.pop("RELEVANSI_INSTANCE", None)
        if before is not None:
            os.environ["RELEVANSI_INSTANCE"] = before
