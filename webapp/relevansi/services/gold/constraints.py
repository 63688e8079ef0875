"""A stored run checked against the gold questions in force, with people's decisions by hand.

No result is stored: every request evaluates anew, so that figures and matrix follow each decision.
The cards are the properties that the run's V2 file lists, counted from 0; those of a run without
such a file are the results in the text of its answers.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from msgspec import Struct
from sqlalchemy import exists, select
from sqlalchemy.orm import Session, selectinload

from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Study
from relevansi.exporters.gold.constraint_reports import manual_json
from relevansi.failures import Missing
from relevansi.i18n import gettext, mark
from relevansi.importers.agreement import manual_input
from relevansi.importers.frame import bounded
from relevansi.importers.gold import listed_properties
from relevansi.kinds.property import Card
from relevansi.metrics.gold.constraint_rules import CardFacts, Check
from relevansi.metrics.gold.constraints import (
    CARD,
    CardEvaluation,
    CheckedContender,
    ConstraintComparison,
    ConstraintReport,
    MissingRule,
    QueryEvaluation,
    compare_constraints,
    evaluate,
)
from relevansi.records import Problem, QueryState
from relevansi.services.gold import decisions, gold
from relevansi.services.gold.decisions import MAX_REASON, Decision, DecisionKey, Step
from relevansi.services.gold.gold import Gold
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.runs import runs


class NoGold(Missing):
    message = mark("These questions have no gold questions yet")
    remedy = mark("Choose their file on the run's page of constraints first.")


class CheckedCard(Struct, frozen=True):
    """One card with its checks, the result that shows it, and all decisions on it by time."""

    evaluation: CardEvaluation
    result: Result | None
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        return str(self.result.card.get("title", "")) if self.result else self.evaluation.card.name

    @property
    def in_force(self) -> Mapping[str, Step]:
        """The decision in force on each subject, made on any run's card."""
        last = {step.subject: step for step in self.steps}
        return {step.subject: step for step in decisions.latest(last.values()).values()}

    @property
    def relevant_checks(self) -> tuple[Check, ...]:
        """The checks of constraints that the question has, or on which somebody decided."""
        in_force = self.in_force
        checks = self.evaluation.checks
        return tuple(c for c in checks if c.rule is not None or c.constraint in in_force)


class CheckedRun(Struct, frozen=True):
    """A run with its evaluation; ``gold`` and ``report`` are ``None`` without gold questions.

    ``queries`` are by number, ``in_force`` are people's decisions in force; ``from_text`` is true
    if no file lists properties.
    """

    run: Run
    queries: Mapping[int, Query]
    from_text: bool
    gold: Gold | None = None
    report: ConstraintReport | None = None
    in_force: Mapping[DecisionKey, Step] = {}


class CheckedQuery(Struct, frozen=True):
    """One question of a checked run: its cards, and the numbers of its neighbours."""

    run: Run
    report: ConstraintReport
    line: QueryEvaluation
    cards: tuple[CheckedCard, ...]
    before: int | None
    after: int | None


def facts_of_cards(queries: Mapping[int, Query]) -> dict[int, tuple[CardFacts, ...]]:
    """Return the facts of every card of a run that constraints check, by question number."""
    has_listed = _have_listed(queries.values())
    return {number: _facts(query, has_listed=has_listed) for number, query in queries.items()}


def facts_of_one(session: Session, query: Query) -> tuple[CardFacts, ...]:
    """Return the facts of the cards of one answer, without reading the other answers of its run."""
    is_list = Query.extra["properties"].as_string().startswith("[")  # as JSON writes it
    in_run = exists().where(Query.run_id == query.run_id, is_list).select()
    has_listed = _have_listed([query]) or bool(session.scalar(in_run))
    return _facts(query, has_listed=has_listed)


def _have_listed(queries: Iterable[Query]) -> bool:
    """Whether a V2 file listed properties for any of the queries."""
    return any(isinstance(query.extra.get("properties"), list) for query in queries)


def _facts(query: Query, *, has_listed: bool) -> tuple[CardFacts, ...]:
    """Return the facts of listed properties if the run has any, else of the results in text."""
    if has_listed:
        return listed_properties.facts_of(query.extra.get("properties") or ())
    if query.state == QueryState.UNREADABLE:
        return ()
    facts = []
    for result in query.results:
        card = Card(**result.card)
        facts.append(
            CardFacts(
                name=card.title,
                location=card.location or "",
                listing_type=card.listing_type or card.price_note,
                # 0 in a text is an unknown number, as runs wrote it.
                price=Fraction(card.price) if card.price else None,
                bedrooms=Fraction(card.bedrooms) if card.bedrooms else None,
                floors=Fraction(card.floors) if card.floors else None,
                slug=card.slug,
            )
        )
    return tuple(facts)


def shown_in_text(facts: Sequence[CardFacts], query: Query) -> list[Result | None]:
    """Return the result that shows each listed card: by slug, in order, else by place."""
    by_slug: defaultdict[str, deque[Result]] = defaultdict(deque)
    for result in query.results:
        by_slug[result.card.get("slug") or ""].append(result)
    results: list[Result | None] = []
    for position, card in enumerate(facts):
        if card.slug and by_slug[card.slug]:
            results.append(by_slug[card.slug].popleft())
            continue
        at_place = query.results[position] if position < len(query.results) else None
        # Two slugs that differ are two properties, though both are at this place.
        is_other = at_place is not None and card.slug and at_place.card.get("slug")
        results.append(None if is_other else at_place)
    return results


def check_cards(
    evaluated: Sequence[CardEvaluation], query: Query, steps: Sequence[Step]
) -> tuple[CheckedCard, ...]:
    """Return evaluated cards with the results that show them and the decisions on them."""
    results = shown_in_text([card.card for card in evaluated], query)
    return tuple(
        CheckedCard(card, result, tuple(step for step in steps if step.card == index))
        for index, (card, result) in enumerate(zip(evaluated, results, strict=True))
    )


def checked_run(
    session: Session, study: Study, run_id: str, missing: MissingRule = MissingRule.COUNTED
) -> CheckedRun:
    """Return a run with its evaluation under the gold questions in force.

    Raises ``UnknownRun``.
    """
    run = runs.find(session, study, run_id)
    queries = queries_of(session, run)
    from_text = not _have_listed(queries.values())
    gold_in_force = gold.in_force(session, run.question_set_id)
    if gold_in_force is None:
        return CheckedRun(run, queries, from_text)
    in_force = decisions.in_force(session, run.id)
    report = evaluate(
        gold_in_force.questions,
        facts_of_cards(queries),
        threshold=gold_in_force.threshold,
        decisions=decisions.for_evaluation(in_force),
        missing=missing,
    )
    return CheckedRun(run, queries, from_text, gold_in_force, report, in_force)


def checked_query(
    session: Session,
    study: Study,
    run_id: str,
    query_id: int,
    missing: MissingRule = MissingRule.COUNTED,
) -> CheckedQuery:
    """Return one gold question of a run; raises ``UnknownRun``, ``NoGold``, ``UnknownQuery``."""
    checked = checked_run(session, study, run_id, missing)
    if checked.report is None:
        raise NoGold(run_id)
    numbers = [query.question.query_id for query in checked.report.queries]
    if query_id not in numbers:
        raise UnknownQuery(run_id, query_id)
    place = numbers.index(query_id)
    line = checked.report.queries[place]
    query = checked.queries.get(query_id)
    steps = decisions.steps(session, (Query.run_id == run_id) & (Query.query_id == query_id))
    cards = check_cards(line.cards, query, steps) if query else ()
    before = numbers[place - 1] if place else None
    after = numbers[place + 1] if place + 1 < len(numbers) else None
    return CheckedQuery(checked.run, checked.report, line, cards, before, after)


def decide(
    session: Session, rater: Rater, run_id: str, query_id: int, decision: Decision, now: datetime
) -> None:
    """Store a decision on a card of one run.

    Raises ``UnknownRun``, ``UnknownQuery`` and what ``decisions.decide``
    raises.
    """
    queries = queries_of(session, runs.find(session, rater.study, run_id), locked=True)
    if query_id not in queries:
        raise UnknownQuery(run_id, query_id)
    if decision.card >= len(facts_of_cards(queries)[query_id]):
        raise UnknownQuery(query_id, decision.card)
    decisions.decide(session, rater, queries[query_id], decision, now)


def undo(session: Session, rater: Rater, run_id: str, step_id: int, now: datetime) -> Step:
    """Return the decision that was undone; the one before it is in force again.

    Raises ``UnknownRun``, and ``DecisionReplaced`` for a step that is not the last on its subject.
    """
    queries = queries_of(session, runs.find(session, rater.study, run_id), locked=True)
    steps = {step.id: step for step in decisions.steps(session, Query.run_id == run_id)}
    undone = steps.get(step_id)
    if undone is None:
        raise decisions.DecisionReplaced(step_id)
    on_subject = [step for step in steps.values() if step.key == undone.key]
    if on_subject[-1] is not undone:
        raise decisions.DecisionReplaced(step_id)
    outcome, reason = None, ""
    if len(on_subject) > 1:
        outcome, reason = on_subject[-2].outcome, on_subject[-2].reason
    reversal = Decision(undone.card, undone.subject, outcome, reason, decisions.UNDO)
    decisions.write(session, rater, queries[undone.query_id], reversal, now)
    return undone


def import_manual(
    session: Session, rater: Rater, run_id: str, name: str, data: bytes, now: datetime
) -> tuple[int, int, tuple[Problem, ...]]:
    """Store the decisions of a manual_input.json; return how many are new, how many fit, problems.

    A decision fits if the run has its card. Subjects that the file does not name stay as they are.
    An override without a reason gets one that names the file, unless it repeats the outcome in
    force. Raises ``UnknownRun`` and an ``ImportRefused``.
    """
    run = runs.find(session, rater.study, run_id)
    manual = bounded.call(name, manual_input.read, name, data)
    queries = queries_of(session, run, locked=True)
    counts = {query_id: len(cards) for query_id, cards in facts_of_cards(queries).items()}
    cards_last = sorted(manual.decisions, key=lambda entry: entry[2] == CARD)
    fitting = [entry for entry in cards_last if entry[1] < counts.get(entry[0], 0)]
    in_force = decisions.in_force(session, run.id)
    n_new = 0
    for query_id, card, subject, outcome, reason in fitting:
        current = in_force.get((query_id, card, subject))
        current_outcome = current.outcome if current else None
        current_reason = current.reason if current else ""
        lacks_reason = subject != CARD and not reason
        is_same_reason = lacks_reason or current_reason == reason[:MAX_REASON]
        if current_outcome == outcome and is_same_reason:
            continue
        why = gettext("Taken from %(file)s", file=name) if lacks_reason else reason[:MAX_REASON]
        decision = Decision(card, subject, outcome, why, decisions.IMPORT)
        decisions.write(session, rater, queries[query_id], decision, now)
        n_new += 1
    problems = (*manual.problems, *manual_input.check_cards(manual, counts))
    return n_new, len(fitting), problems


def manual_document(session: Session, study: Study, run_id: str, now: datetime) -> dict[str, Any]:
    """Return the decisions in force on a run as a manual_input.json; raises ``UnknownRun``."""
    in_force = decisions.in_force(session, runs.find(session, study, run_id).id)
    rows = [(*key, step.outcome, step.reason) for key, step in in_force.items()]
    return manual_json(rows, timestamp=now.isoformat())


def queries_of(session: Session, run: Run, *, locked: bool = False) -> dict[int, Query]:
    """Return a run's queries by their number; `locked` until the transaction ends."""
    of_run = select(Query).where(Query.run_id == run.id).order_by(Query.id)
    with_results = of_run.options(selectinload(Query.results))
    queries = session.scalars(of_run.with_for_update() if locked else with_results)
    return {query.query_id: query for query in queries}


def checked_runs(session: Session, study: Study, runs: Sequence[Run]) -> tuple[CheckedRun, ...]:
    """Return `runs` of one question set with their evaluations; none without gold questions."""
    if gold.in_force(session, runs[0].question_set_id) is None:
        return ()
    return tuple(checked_run(session, study, run.id) for run in runs)


def compare_runs(
    checked_runs: Sequence[CheckedRun], names: Mapping[str, str]
) -> ConstraintComparison | None:
    """Return checked runs of one question set compared; ``None`` of none."""
    if not checked_runs:
        return None
    contenders = []
    for checked in checked_runs:
        assert checked.report is not None
        numbers = (query.question.query_id for query in checked.report.queries)
        contenders.append(
            CheckedContender(
                run=checked.run.id,
                name=names[checked.run.id],
                report=checked.report,
                not_run=tuple(number for number in numbers if number not in checked.queries),
                decided=len(checked.in_force),
                from_text=checked.from_text,
            )
        )
    gold_in_force = checked_runs[0].gold
    assert gold_in_force is not None
    return compare_constraints(
        contenders,
        gold=gold_in_force.version.name,
        version=gold_in_force.version.number,
        threshold=gold_in_force.threshold,
    )
