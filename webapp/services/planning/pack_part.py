"""Planning in a proof pack: the rules of a study, and the figures that follow from them.

A machine's verdicts are packed only where a rule drew a sample, which is where its help is
reported; the figures of people have none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Question, Study
from webapp.exporters.planning import machine_help as help_words
from webapp.exporters.planning import samples as sample_words
from webapp.exporters.planning import settled as settled_words
from webapp.metrics.planning import sampling as draws
from webapp.services.comparisons import chosen_runs
from webapp.services.planning import machine_help, samples, settled
from webapp.services.runs.reports import Rule

RULES = "planning/rules.json"
FIGURES = "planning/figures.json"

ABOUT = {
    RULES: "the rules by which it was decided how much is judged: seed, when, which questions",
    FIGURES: "the figures that follow from these rules, each with its rule",
}
"""The members and what they hold, in the README of a pack."""

VerdictsBefore = Callable[[int, datetime], int]
"""How many verdicts of people on a question set its events show before a moment."""


def documents(
    session: Session, study: Study, packed: Sequence[Run], rule: Rule
) -> Mapping[str, Any]:
    """Return the members as JSON values; none of one run without a rule."""
    sets = _by_set(packed)
    had = {key: samples.every(session, key) for key in sets}
    sets = {key: runs for key, runs in sets.items() if had[key] or len(runs) > 1}
    if not sets:
        return {}
    return {
        RULES: {str(key): [sample_words.rule_json(one) for one in had[key]] for key in sets},
        FIGURES: {str(key): _figures(session, study, runs, rule) for key, runs in sets.items()},
    }


def _by_set(packed: Sequence[Run]) -> dict[int, list[Run]]:
    sets: dict[int, list[Run]] = {}
    for run in packed:
        sets.setdefault(run.question_set_id, []).append(run)
    return sets


def machines(session: Session, study: Study, packed: Sequence[Run]) -> list[int]:
    """Return the ids of the machines that help where a rule drew a sample."""
    sets = _by_set(packed).values()
    return sorted({one.id for runs in sets for one in _helping(session, study, runs)})


def draw_again(session: Session, verdicts_before: VerdictsBefore) -> None:
    """Give each rule the sample that its seed draws, whatever sample it is said to have.

    A rule has at least as many verdicts before it as there were at the time: one that says it was
    chosen beforehand, and was not, gives other figures. Raises ``ValueError``.
    """
    for row in session.scalars(select(PlanningRule).order_by(PlanningRule.id)).all():
        before = verdicts_before(row.question_set_id, row.chosen_at)
        row.verdicts_before = max(row.verdicts_before, before)
        if row.kind not in samples.SAMPLING:
            continue
        asked = select(Question).where(Question.question_set_id == row.question_set_id)
        questions = {question.position: question for question in session.scalars(asked)}
        categories = {position: question.category for position, question in questions.items()}
        drawn = draws.drawn_again(categories, draws.from_settings(row.settings), row.seed)
        for position, (question, stratum) in enumerate(drawn.items(), start=1):
            ids = {"rule_id": row.id, "question_id": questions[question].id}
            session.add(SampledQuestion(**ids, position=position, stratum=stratum))
    session.flush()


def _figures(session: Session, study: Study, runs: Sequence[Run], rule: Rule) -> dict[str, Any]:
    settled_orders: list[dict[str, Any]] = []
    if len(runs) > 1:
        ids = {run.id: run.id for run in runs}
        orders = settled.settled_orders(session, study, runs, ids, rule)
        settled_orders = settled_words.part_json(orders)
    sample = None
    if found := samples.of_runs(session, study, runs[0].question_set_id, runs, rule):
        by_name = {name: run for run, name in chosen_runs.names_of(runs).items()}
        sample = sample_words.part_json(found)
        for one in sample["figures"]:
            one["runs"] = [by_name[name] for name in one["runs"]]
    return {
        "settled": settled_orders,
        "sample": sample,
        "machine_help": [
            help_words.part_json(machine_help.of_runs(session, study, runs, rule, machine))
            for machine in _helping(session, study, runs)
        ],
    }


def _helping(session: Session, study: Study, runs: Sequence[Run]) -> Iterator[Rater]:
    if samples.sampling(session, runs[0].question_set_id) is not None:
        yield from machine_help.machines(session, study, runs)
