"""A stored run checked against the gold questions in force, with people's decisions by hand.

The results are not stored: every request evaluates anew, so that figures and matrix move with each
decision. The cards are the properties that the run's V2 file lists, counted from 0; a run
without one is checked by the text of its answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from webapp import failures
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.exporters.gold.manual_input import manual_json
from webapp.failures import Missing
from webapp.i18n import gettext, mark
from webapp.importers.agreement import manual_input
from webapp.metrics.gold.constraint_rules import CardFacts
from webapp.metrics.gold.constraints import ConstraintReport, MissingRule, QueryEvaluation, evaluate
from webapp.records import Problem
from webapp.services.gold import card_decisions, gold, listed_cards
from webapp.services.gold.card_decisions import Decision, Place, Step
from webapp.services.gold.gold import Gold
from webapp.services.gold.listed_cards import CheckedCard, ShownCard
from webapp.services.judging.events import UnknownQuery
from webapp.services.runs import runs


class NoGold(Missing):
    """The run's question set has no gold questions yet."""

    message = mark("These questions have no gold questions yet")
    remedy = mark("Choose their file on the run's page of constraints first.")


class UnknownListedCard(Missing):
    """The query lists no card of that number."""

    message = mark("This run has no such question or card")
    remedy = failures.SEE_RUNS


class CheckedRun(Struct, frozen=True):
    """A run with its evaluation; ``gold`` and ``report`` are ``None`` without gold questions.

    ``in_force`` are people's decisions in force; ``from_text`` is true if no file lists properties.
    """

    id: str
    question_set_id: int
    search_method: str | None
    llm: str | None
    from_text: bool
    gold: Gold | None = None
    report: ConstraintReport | None = None
    in_force: Mapping[Place, Step] | None = None
    remarks: tuple[Problem, ...] = ()


class CheckedQuery(Struct, frozen=True):
    """One question of a checked run: its cards, all steps on them, and its neighbours."""

    run: CheckedRun
    evaluation: QueryEvaluation
    cards: tuple[CheckedCard, ...]
    steps: tuple[Step, ...]
    before: int | None
    after: int | None
    can_decide: bool


class ManualImport(Struct, frozen=True):
    """The result of importing a file of decisions: how many are new, how many fit the cards."""

    new: int
    fitting: int
    problems: tuple[Problem, ...]


def checked_run(
    session: Session,
    study: Study,
    run_id: str,
    missing: MissingRule = MissingRule.COUNTED,
    *,
    threshold: Fraction | None = None,
) -> CheckedRun:
    """Return a run with its evaluation under the gold questions in force.

    With `threshold` as if this were T. Raises ``UnknownRun``.
    """
    run = runs.find(session, study, run_id)
    return _checked(session, run, _queries(session, run), missing, threshold)


def checked_query(
    session: Session,
    study: Study,
    run_id: str,
    query_id: int,
    missing: MissingRule = MissingRule.COUNTED,
) -> CheckedQuery:
    """Return one gold question of a run with its cards.

    Raises ``UnknownRun``, ``NoGold``, and ``UnknownQuery`` for no question of the gold file.
    """
    run = runs.find(session, study, run_id)
    queries = _queries(session, run)
    found = _checked(session, run, queries, missing)
    if found.report is None:
        raise NoGold(run_id)
    numbers = [query.question.query_id for query in found.report.queries]
    if query_id not in numbers:
        raise UnknownQuery(run_id, query_id)
    at = numbers.index(query_id)
    evaluation = found.report.queries[at]
    asked = queries.get(query_id)
    shown = listed_cards.shown([card.card for card in evaluation.cards], asked) if asked else ()
    steps = card_decisions.steps(session, run.id, query_id)
    return CheckedQuery(
        run=found,
        evaluation=evaluation,
        cards=listed_cards.checked(evaluation.cards, shown, steps),
        steps=tuple(steps),
        before=numbers[at - 1] if at else None,
        after=numbers[at + 1] if at + 1 < len(numbers) else None,
        can_decide=asked is not None,
    )


def decide(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    wanted: Decision,
    now: datetime,
) -> None:
    """Decide a constraint of a card, or the whole card; see ``card_decisions.decide``.

    Raises ``UnknownRun``, ``UnknownQuery`` and ``UnknownListedCard`` too.
    """
    run = runs.find(session, rater.study, run_id)
    queries = _queries(session, run, locked=True)
    if query_id not in queries:
        raise UnknownQuery(run_id, query_id)
    if wanted.card >= len(listed_cards.facts(queries).get(query_id, ())):
        raise UnknownListedCard(query_id, wanted.card)
    card_decisions.decide(session, rater, queries[query_id], wanted, now)


def undo(session: Session, rater: Rater, run_id: str, step_id: int, now: datetime) -> Step:
    """Return the decision that was undone; raises ``UnknownRun`` and ``DecisionReplaced``."""
    run = runs.find(session, rater.study, run_id)
    _queries(session, run, locked=True)
    return card_decisions.undo(session, rater, run.id, step_id, now)


def import_manual(
    session: Session, rater: Rater, run_id: str, name: str, data: bytes, now: datetime
) -> ManualImport:
    """Take in the decisions of a manual_input.json.

    Raises ``UnknownRun`` and an ``ImportRefused``.
    """
    run = runs.find(session, rater.study, run_id)
    manual = manual_input.read(name, data)
    queries = _queries(session, run, locked=True)
    counts = {query_id: len(cards) for query_id, cards in listed_cards.facts(queries).items()}
    reason = gettext("Taken from %(file)s", file=name)
    new = card_decisions.take_in(session, rater, queries, counts, manual, reason, now)
    decided = [(o.query_id, o.card) for o in manual.overrides]
    decided += [(e.query_id, e.card) for e in manual.evaluations]
    return ManualImport(
        new=new,
        fitting=sum(card < counts.get(query_id, 0) for query_id, card in decided),
        problems=(*manual.problems, *manual_input.check_cards(manual, counts)),
    )


def manual_document(session: Session, study: Study, run_id: str, now: datetime) -> dict[str, Any]:
    """Return a run's decisions in force as manual_input.json; raises ``UnknownRun``."""
    run = runs.find(session, study, run_id)
    in_force = card_decisions.standing(card_decisions.steps(session, run.id))
    return manual_json(card_decisions.decided(in_force), timestamp=now.isoformat())


def shown_cards(session: Session, run: Run) -> dict[int, tuple[ShownCard, ...]]:
    """Return the cards of a run by number of the question, in the order of their numbers."""
    queries = _queries(session, run)
    facts = listed_cards.facts(queries)
    return {number: listed_cards.shown(facts[number], query) for number, query in queries.items()}


def card_facts(session: Session, run: Run) -> dict[int, tuple[CardFacts, ...]]:
    """Return the facts of a run's cards that constraints check, by number of the question."""
    return listed_cards.facts(_queries(session, run))


def _checked(
    session: Session,
    run: Run,
    queries: Mapping[int, Query],
    missing: MissingRule,
    threshold: Fraction | None = None,
) -> CheckedRun:
    bare = CheckedRun(
        id=run.id,
        question_set_id=run.question_set_id,
        search_method=run.search_method,
        llm=run.llm,
        from_text=not listed_cards.are_listed(queries.values()),
    )
    asked = gold.in_force(session, run.question_set_id)
    if asked is None:
        return bare
    in_force = card_decisions.standing(card_decisions.steps(session, run.id))
    report = evaluate(
        asked.questions,
        listed_cards.facts(queries),
        threshold=asked.threshold if threshold is None else threshold,
        decisions=card_decisions.decisions(in_force),
        missing=missing,
    )
    remarks = gold.remarks(session, run, asked)
    return replace(bare, gold=asked, report=report, in_force=in_force, remarks=remarks)


def _queries(session: Session, run: Run, *, locked: bool = False) -> dict[int, Query]:
    """Return a run's queries by their number; `locked` until the transaction ends."""
    wanted = select(Query).where(Query.run_id == run.id).order_by(Query.id)
    if locked:
        wanted = wanted.with_for_update()
    else:
        wanted = wanted.options(selectinload(Query.results))
    return {query.query_id: query for query in session.scalars(wanted)}
