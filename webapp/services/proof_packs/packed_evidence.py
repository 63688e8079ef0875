"""The lists and judgments of a proof pack, put under any rule without a database.

The verdicts may be those that the pack states or those that its events make.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from webapp.metrics.comparisons.compared_runs import ComparedQuery, ComparedRun
from webapp.metrics.judging.summaries import QueryRow, RunReport, summarise
from webapp.metrics.proof_packs.evidence import (
    GivenRating,
    GivenVerdict,
    LoggedEvent,
    ShownQuery,
    ShownRun,
    Thing,
)
from webapp.services.judging import verdicts
from webapp.services.judging.event_order import standing
from webapp.services.judging.verdicts import AskedQuery, Verdicts
from webapp.services.runs import provenance
from webapp.services.runs.reports import ADJUDICATED, MAJORITY

Answer = tuple[str, int]
"""A run's id and the number of one of its queries."""


@dataclass(frozen=True, slots=True)
class PackedJudgments:
    """All judgments: verdicts by rater and thing, grades and notes by rater and answer."""

    verdicts: Mapping[tuple[str, Thing], str] = field(default_factory=dict)
    quality: Mapping[tuple[str, Answer], int] = field(default_factory=dict)
    notes: Mapping[tuple[str, Answer], str] = field(default_factory=dict)


def stated(given: Iterable[GivenVerdict], rated: Iterable[GivenRating]) -> PackedJudgments:
    """Return the judgments that the pack states as current."""
    ratings = [((one.rater, (one.run, one.query_id)), one) for one in rated]
    return PackedJudgments(
        verdicts={(one.rater, one.thing): one.verdict for one in given},
        quality={key: one.quality for key, one in ratings if one.quality is not None},
        notes={key: one.notes for key, one in ratings if one.notes},
    )


def replayed(events: Iterable[LoggedEvent]) -> PackedJudgments:
    """Return the judgments in force once the events of each thing and answer are in order."""
    verdicts_of: dict[tuple[str, Thing], list[LoggedEvent]] = defaultdict(list)
    ratings_of: dict[tuple[str, str, Answer], list[LoggedEvent]] = defaultdict(list)
    for event in events:
        if event.field == "verdict" and event.thing is not None:
            verdicts_of[event.rater, event.thing].append(event)
        elif event.field in {"quality", "notes"} and event.run and event.query_id is not None:
            ratings_of[event.field, event.rater, (event.run, event.query_id)].append(event)
    given = {key: new for key, history in verdicts_of.items() if (new := _last(history))}
    rated = {key: new for key, history in ratings_of.items() if (new := _last(history))}
    return PackedJudgments(
        verdicts=given,
        quality={key[1:]: int(new) for key, new in rated.items() if key[0] == "quality"},
        notes={key[1:]: _one_line_end(new) for key, new in rated.items() if key[0] == "notes"},
    )


class PackedRuns:
    """The runs of a pack under any rule, by the judgments `said` and those `settled`."""

    def __init__(
        self,
        runs: Sequence[ShownRun],
        raters: Sequence[str],
        said: PackedJudgments,
        settled: Mapping[Thing, str],
    ) -> None:
        self.runs = {run.run: run for run in runs}
        self.raters = tuple(raters)
        self._keys = _Keys(runs)
        self._settled = {
            self._keys.things[thing]: verdict
            for thing, verdict in settled.items()
            if thing in self._keys.things
        }
        self._own = self._keys.by_rater(raters, said)

    @cached_property
    def by_rule(self) -> Mapping[str, Verdicts]:
        """The verdicts under every rule, each rater's own first."""
        majority = self._most(self.raters)
        return {
            **{f"rater {rater}": own for rater, own in self._own.items()},
            MAJORITY: majority,
            ADJUDICATED: verdicts.overruled(majority, self._settled),
        }

    def shows(self, thing: Thing) -> bool:
        """Whether a run shows the thing, or left it empty."""
        return thing in self._keys.things

    def answers(self, run: str, query_id: int) -> bool:
        """Whether there is such an answer."""
        return (run, query_id) in self._keys.answers

    def report(self, run: str, rule: str) -> RunReport:
        """Return a run as `rule` judges it."""
        shown, said = self.runs[run], self.by_rule[rule]
        rows = tuple(self._row(shown, query, said) for query in shown.queries)
        return RunReport(run, rule, rows, shown.search_method, shown.llm)

    def origins(self, rule: str) -> Mapping[Thing, str]:
        """Return where each merged label comes from; nothing for one rater's own verdicts."""
        if rule not in {MAJORITY, ADJUDICATED}:
            return {}
        settled = self._settled if rule == ADJUDICATED else {}
        return {
            thing: provenance.provenance(self._votes(key), adjudicated=key in settled)
            for thing, key in self._keys.things.items()
        }

    def compared(
        self, runs: Sequence[str], names: Mapping[str, str], rule: str
    ) -> PackedComparison:
        """Return `runs` as they are compared under `rule`, and judged in every other way."""
        scope = [self.runs[run] for run in runs]
        judging = [rater for rater in self.raters if self._judged_by(rater, scope)]
        merges = rule in {MAJORITY, ADJUDICATED}
        return PackedComparison(
            runs=self._compared(scope, names, self.by_rule[rule]),
            without_rater={
                left_out: self._compared(scope, names, self._without(left_out, judging, rule))
                for left_out in (judging if merges and len(judging) > 1 else ())
            },
            other_rules=self._other_rules(scope, names, rule, judging),
            shares={
                rater: self._judged_by(rater, scope)
                for rater in (judging if merges else [rule.removeprefix("rater ")])
            },
        )

    def _most(self, raters: Iterable[str]) -> Verdicts:
        return verdicts.most([(rater, self._own[rater]) for rater in raters])

    def _without(self, left_out: str, judging: Sequence[str], rule: str) -> Verdicts:
        merged = self._most(rater for rater in judging if rater != left_out)
        return verdicts.overruled(merged, self._settled) if rule == ADJUDICATED else merged

    def _other_rules(
        self,
        scope: Sequence[ShownRun],
        names: Mapping[str, str],
        rule: str,
        judging: Sequence[str],
    ) -> dict[str, tuple[ComparedRun, ...]]:
        """Return the runs under every other rule that has verdicts on each of them."""
        rules = [f"rater {rater}" for rater in judging]
        rules += [MAJORITY] if len(judging) > 1 else []
        things = {thing for run in scope for thing in self._keys.of_run(run)}
        rules += [ADJUDICATED] if things & set(self._settled) else []
        found = {
            other: self._compared(scope, names, self.by_rule[other])
            for other in rules
            if other != rule
        }
        return {other: judged for other, judged in found.items() if all(map(_is_rated, judged))}

    def _judged_by(self, rater: str, scope: Sequence[ShownRun]) -> int:
        things = {thing for run in scope for thing in self._keys.of_run(run)}
        return len(things & set(self._own[rater].by_thing)) if rater in self._own else 0

    def _votes(self, thing: int) -> list[str]:
        return [own.by_thing[thing] for own in self._own.values() if thing in own.by_thing]

    def _row(self, run: ShownRun, query: ShownQuery, said: Verdicts) -> QueryRow:
        asked = self._keys.asked(run, query)
        return QueryRow(
            query_id=query.query_id,
            question=query.question,
            category=query.category,
            notes=said.notes.get(asked.key, ""),
            summary=summarise(said.judgments(asked)),
            verdicts=tuple(said.relevance(thing) for thing in asked.things),
        )

    def _compared(
        self, scope: Sequence[ShownRun], names: Mapping[str, str], said: Verdicts
    ) -> tuple[ComparedRun, ...]:
        return tuple(
            ComparedRun(
                run=run.run,
                name=names.get(run.run, run.run),
                search_method=run.search_method,
                llm=run.llm,
                queries=tuple(self._compared_query(run, query, said) for query in run.queries),
            )
            for run in scope
        )

    def _compared_query(self, run: ShownRun, query: ShownQuery, said: Verdicts) -> ComparedQuery:
        row = self._row(run, query, said)
        return ComparedQuery(
            position=query.position,
            query_id=query.query_id,
            question=query.question,
            category=query.category,
            summary=row.summary,
            verdicts=row.verdicts,
        )


@dataclass(frozen=True, slots=True)
class PackedComparison:
    """Runs to compare, the same judged otherwise, and each rater's number of verdicts."""

    runs: tuple[ComparedRun, ...]
    without_rater: Mapping[str, Sequence[ComparedRun]]
    other_rules: Mapping[str, Sequence[ComparedRun]]
    shares: Mapping[str, int]


class _Keys:
    """A number for every thing and every answer of some runs, as verdicts are kept by."""

    def __init__(self, runs: Sequence[ShownRun]) -> None:
        shown = (thing for run in runs for query in run.queries for thing in _things(query))
        self.things = dict(zip(dict.fromkeys(shown), count(1)))
        answers = [(run.run, query.query_id) for run in runs for query in run.queries]
        self.answers = {answer: key for key, answer in enumerate(answers, start=1)}

    def asked(self, run: ShownRun, query: ShownQuery) -> AskedQuery:
        """Return a query with the numbers of its judged things."""
        return AskedQuery(
            key=self.answers[run.run, query.query_id],
            run_id=run.run,
            query_id=query.query_id,
            state=query.state,
            things=tuple(self.things[shown.thing] for shown in query.results),
            emptiness=self.things[query.emptiness] if query.emptiness else None,
        )

    def of_run(self, run: ShownRun) -> set[int]:
        """Return the numbers of all that a run showed or left empty."""
        return {self.things[thing] for query in run.queries for thing in _things(query)}

    def by_rater(self, raters: Sequence[str], said: PackedJudgments) -> dict[str, Verdicts]:
        """Return each rater's verdicts, by thing number; things that no run showed are left out."""
        given: dict[str, dict[int, str]] = {rater: {} for rater in raters}
        graded: dict[str, dict[int, float]] = {rater: {} for rater in raters}
        noted: dict[str, dict[int, str]] = {rater: {} for rater in raters}
        for (rater, thing), verdict in said.verdicts.items():
            if rater in given and thing in self.things:
                given[rater][self.things[thing]] = verdict
        for (rater, answer), grade in said.quality.items():
            if rater in graded and answer in self.answers:
                graded[rater][self.answers[answer]] = float(grade)
        for (rater, answer), text in said.notes.items():
            if rater in noted and answer in self.answers:
                noted[rater][self.answers[answer]] = text
        return {rater: Verdicts(given[rater], graded[rater], noted[rater]) for rater in raters}


def _things(query: ShownQuery) -> list[Thing]:
    shown = [result.thing for result in query.results]
    return shown if query.emptiness is None else [*shown, query.emptiness]


def _last(history: Sequence[LoggedEvent]) -> str | None:
    event = standing(history)
    return event.new if event else None


def _is_rated(run: ComparedRun) -> bool:
    return any(query.summary.judged_count or query.summary.empty_outcome for query in run.queries)


def _one_line_end(text: str) -> str:
    """`text` with the line ends that a CSV file keeps."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
