"""The part of planning in a proof pack: rules, samples, a machine's verdicts, settled orders.

The figures follow from the other two and from people's verdicts, so that they are recomputed from
the pack alone. A machine's verdicts are packed only where a rule drew a sample, which is where its
help is reported; the figures of people have none of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import Judgment
from webapp.db.tables.people import Rater
from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.exporters.planning import settled_part
from webapp.exporters.planning.machine_help import help_json
from webapp.exporters.planning.rule_words import rule_json
from webapp.exporters.planning.sample import sample_json
from webapp.importers.planning import pack_members
from webapp.importers.planning.pack_members import PackedRule, VerdictsByMachine, WrongPlace
from webapp.metrics.planning import draws
from webapp.metrics.planning.former_intervals import formerly_assisted
from webapp.metrics.planning.machine_help import MachineHelp
from webapp.services.comparisons import chosen_runs
from webapp.services.judging import verdicts
from webapp.services.planning import chosen_rules, machine_help, samples, settled
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

RULES = "planning/rules.json"
MACHINE_VERDICTS = "planning/machine_verdicts.json"
FIGURES = "planning/figures.json"

ABOUT = {
    RULES: "the rules by which it was decided how much is judged: seed, when, which questions",
    MACHINE_VERDICTS: "a machine judge's verdicts where people judged a sample; in no other file",
    FIGURES: "the figures that follow from these rules, each with its rule",
}
"""The members and what they hold, in the README of a pack."""

SOURCES = {RULES: f"{RULES} (seed, draws)"}
"""The source of a member that is not made of verdicts and events."""

Documents = Mapping[str, Any]
VerdictsBefore = Callable[[int, datetime], int]
"""How many verdicts of people on a question set its events show before a moment."""


def documents(
    session: Session,
    study: Study,
    packed: Sequence[Run],
    rule: Rule,
    stated_before: Documents | None = None,
) -> Documents:
    """Return the members as JSON values; none of one run without a rule.

    Packs of version 1.0.0 do not name the method of an interval: beside members `stated_before`
    that do not, intervals are those of that version.
    """
    formerly = stated_before is not None and '"interval"' not in json.dumps(
        stated_before.get(FIGURES)
    )
    sets: dict[int, list[Run]] = {}
    for run in packed:
        sets.setdefault(run.question_set_id, []).append(run)
    had = {key: chosen_rules.every(session, key) for key in sets}
    sets = {key: runs for key, runs in sets.items() if had[key] or len(runs) > 1}
    if not sets:
        return {}
    stated = {str(key): [rule_json(one) for one in had[key]] for key in sets}
    said: dict[str, dict[str, Any]] = {}
    for machine, run in _helped(session, study, sets):
        said.setdefault(machine.name, {})[run.id] = _said(session, machine, run)
    return {
        RULES: stated,
        **({MACHINE_VERDICTS: said} if said else {}),
        FIGURES: {
            str(key): _figures(session, study, runs, rule, formerly=formerly)
            for key, runs in sets.items()
        },
    }


def put_back(
    session: Session, study: Study, stated: Documents, verdicts_before: VerdictsBefore
) -> None:
    """Put the rules and the machine's verdicts back beside the runs and people's verdicts.

    A sample is drawn again from its seed, so that one that was chosen otherwise is found out. A
    rule has at least as many verdicts before it as the events show: one that says it was chosen
    beforehand, and was not, gives other figures. Raises ``WrongPlace``.
    """
    owner = studies.raters(session, study)[0]
    for question_set, listed in pack_members.rules(RULES, stated.get(RULES, {})).items():
        asked = _asked(session, study, question_set)
        for rule in listed:
            before = verdicts_before(int(question_set), rule.chosen_at)
            _put_rule(session, owner, int(question_set), asked, rule, before)
    said = pack_members.verdicts(MACHINE_VERDICTS, stated.get(MACHINE_VERDICTS, {}))
    _put_verdicts(session, study, said)
    session.flush()


def _figures(
    session: Session, study: Study, runs: Sequence[Run], rule: Rule, *, formerly: bool
) -> dict[str, Any]:
    machines = [machine for machine, run in _helped(session, study, {0: runs}) if run is runs[0]]
    helped = (machine_help.of_runs(session, study, runs, rule, machine) for machine in machines)
    ids = [run.id for run in runs]
    orders = settled.settled_orders(session, study, runs, ids, rule) if len(runs) > 1 else None
    return {
        "settled": [] if orders is None else settled_part.part_json(orders),
        "sample": _sampled(session, study, runs, rule, formerly=formerly),
        "machine_help": [_help(found, formerly=formerly) for found in helped],
    }


def _help(found: MachineHelp, *, formerly: bool) -> dict[str, Any]:
    if not formerly:
        return help_json(found)
    figures = (replace(one, found=formerly_assisted(one.found)) for one in found.figures)
    return _unnamed(help_json(replace(found, figures=tuple(figures))))


def _unnamed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the method of its intervals, which the first packs do not name."""
    return {key: value for key, value in document.items() if key != "interval"}


def _sampled(
    session: Session, study: Study, runs: Sequence[Run], rule: Rule, *, formerly: bool
) -> dict[str, Any] | None:
    """Return the figures of a sample, its runs by their ids; ``None`` where all is asked."""
    drawn = {one.question_set_id: one for one in samples.sampling(session, study.id)}
    sampling = drawn.get(runs[0].question_set_id)
    if sampling is None:
        return None
    found = sample_json(samples.of_runs(session, study, sampling, runs, rule, formerly=formerly))
    ids = {name: run for run, name in chosen_runs.names_of(runs).items()}
    for one in found["figures"]:
        one["runs"] = [ids[name] for name in one["runs"]]
    return _unnamed(found) if formerly else found


def _helped(
    session: Session, study: Study, sets: Mapping[int, Sequence[Run]]
) -> Iterator[tuple[Rater, Run]]:
    """Yield the machines that help where a rule drew a sample, with each run they judged."""
    for runs in sets.values():
        if chosen_rules.sampling(session, runs[0].question_set_id) is not None:
            for machine in machine_help.machines(session, study, runs):
                yield from ((machine, run) for run in runs)


def _said(session: Session, machine: Rater, run: Run) -> dict[str, list[str | None]]:
    scope = Query.run_id == run.id
    said = verdicts.of_rater(session, scope, machine.id).by_thing
    return {
        str(asked.query_id): [said.get(thing) for thing in asked.things]
        for asked in verdicts.asked_queries(session, scope)
        if asked.things
    }


def _asked(session: Session, study: Study, question_set: str) -> Mapping[int, Question]:
    runs = select(Run.question_set_id).where(Run.study_id == study.id)
    if not question_set.isdecimal() or int(question_set) not in set(session.scalars(runs)):
        raise WrongPlace(RULES, question_set)
    asked = select(Question).where(Question.question_set_id == int(question_set))
    return {question.position: question for question in session.scalars(asked)}


def _put_rule(
    session: Session,
    owner: Rater,
    question_set: int,
    asked: Mapping[int, Question],
    rule: PackedRule,
    before: int,
) -> None:
    """Put a rule back with the sample that its seed draws, whatever sample it states."""
    row = PlanningRule(
        study_id=owner.study_id,
        question_set_id=question_set,
        kind=rule.kind,
        settings=dict(rule.settings),
        seed=rule.seed,
        verdicts_before=max(rule.verdicts_before, before),
        rater_id=owner.id,
        chosen_at=rule.chosen_at,
        ended_at=rule.ended_at,
        verdicts_at_end=rule.verdicts_at_end,
        outcome=rule.outcome,
    )
    session.add(row)
    session.flush()
    if rule.kind not in samples.SAMPLING:
        return
    categories = {position: question.category for position, question in asked.items()}
    try:
        made = draws.from_settings(rule.settings)
    except ValueError as wrong:
        raise WrongPlace(RULES, f"{question_set}: settings {wrong}") from wrong
    for one in draws.drawn_again(categories, made, rule.seed):
        ids = {"rule_id": row.id, "question_id": asked[one.question].id}
        session.add(SampledQuestion(**ids, position=one.position, stratum=one.stratum))


def _put_verdicts(session: Session, study: Study, said: VerdictsByMachine) -> None:
    people = {rater.name for rater in studies.raters(session, study)}
    shown = session.execute(
        select(Query.run_id, Query.query_id, Result.judged_thing_id)
        .join_from(Result, Query)
        .order_by(Query.run_id, Query.query_id, Result.rank)
    )
    things: dict[tuple[str, str], list[int]] = {}
    for run, query_id, thing in shown:
        things.setdefault((run, str(query_id)), []).append(thing)
    now = datetime.now(UTC)  # in no figure
    for name, runs in said.items():
        if name in people:
            raise WrongPlace(MACHINE_VERDICTS, name)
        machine = Rater(study_id=study.id, name=name, is_machine=True, created_at=now)
        session.add(machine)
        session.flush()
        given: dict[int, str] = {}
        for run, queries in runs.items():
            for number, by_rank in queries.items():
                own = things.get((run, number), [])
                if len(own) != len(by_rank):
                    raise WrongPlace(MACHINE_VERDICTS, f"{name}.{run}.{number}")
                given |= {t: v for t, v in zip(own, by_rank, strict=True) if v is not None}
        session.add_all(
            Judgment(rater_id=machine.id, judged_thing_id=thing, verdict=verdict, changed_at=now)
            for thing, verdict in given.items()
        )
