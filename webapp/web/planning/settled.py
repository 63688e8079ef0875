"""Which orders are settled, as a part of the rating plan, the comparison and the progress page."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.study import QuestionSet, Study
from webapp.exporters.frame.tables import Table
from webapp.exporters.planning import settled_tables
from webapp.metrics.planning.settled import SettledOrders
from webapp.services.comparisons import chosen_runs
from webapp.services.planning import rules, settled
from webapp.services.runs import reports
from webapp.web.feature import ShownPart

STYLES = ("comparisons/comparisons.css", "planning/planning.css")


class SettledInWords(Struct, frozen=True):
    """The settled orders of the runs of a question set: sentences, and every order in a table.

    ``next_ones`` are the positions of the questions that can move the open orders most.
    """

    sentences: tuple[str, ...]
    table: Table
    next_ones: tuple[int, ...] = ()


def shown(found: SettledOrders, next_ones: tuple[int, ...] = ()) -> ShownPart:
    """Return the part that shows these orders."""
    said = SettledInWords(settled_tables.sentences(found), settled_tables.table(found), next_ones)
    return ShownPart("planning/_settled.html", said)


def part(session: Session, owner: Rater, question_set: QuestionSet) -> ShownPart | None:
    """Return the part of a question set's runs; ``None`` where it has fewer than two."""
    return _of_set(session, owner.study, question_set.id)


def of_study(session: Session, study: Study) -> ShownPart | None:
    """Return the part of the newest question set that two runs or more share."""
    found = (
        _of_set(session, study, one.id) for one in reversed(rules.question_sets(session, study))
    )
    return next((part for part in found if part is not None), None)


def _of_set(session: Session, study: Study, set_id: int) -> ShownPart | None:
    runs = settled.runs_of(session, study, set_id)
    if len(runs) < 2:
        return None
    names = chosen_runs.names_of(runs)
    rule = reports.rule_of(session, study)
    found = settled.settled_orders(session, study, runs, [names[run.id] for run in runs], rule)
    return shown(found, settled.next_ones(session, study, set_id, rule))
