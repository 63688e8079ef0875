"""A stored run checked against the gold questions in force, with people's decisions by hand.

The results are not stored: every request evaluates anew, so that figures and matrix move with each
decision. The cards are the properties that the run's V2 file lists, counted from 0; a run
without one is checked by the text of its answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import exists, select
from sqlalchemy.orm import Session, selectinload

from webapp import failures
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Study
from webapp.exporters.gold.gold_questions import CARD, manual_json
from webapp.failures import Missing
from webapp.i18n import gettext, mark
from webapp.importers.agreement import manual_input
from webapp.importers.agreement.manual_input import ManualResult
from webapp.importers.gold import listed_properties
from webapp.importers.runs.property_particulars import identity
from webapp.metrics.agreement.agreement import BinaryAgreement, binary_agreement
from webapp.metrics.agreement.report import VerdictByHand
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.metrics.gold.constraint_rules import CardFacts, Check, Outcome
from webapp.metrics.gold.constraints import (
    CardEvaluation,
    ConstraintReport,
    MissingRule,
    QueryEvaluation,
    evaluate,
    evaluate_query,
)
from webapp.records import Card, Problem, QueryState, Relevance
from webapp.services.agreement.agreement import JudgedRun
from webapp.services.comparisons import chosen_runs
from webapp.services.gold import card_decisions, gold
from webapp.services.gold.card_decisions import Decision, Place, Step
from webapp.services.gold.gold import Gold
from webapp.services.judging import verdicts
from webapp.services.judging.events import UnknownQuery
from webapp.services.judging.judged_things import from_row
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


class ShownCard(Struct, frozen=True):
    """A card as a person reads it: its title, its address and its rank in the answer.

    ``rank`` and ``judged_thing`` are ``None`` where the answer's text does not show it.
    """

    title: str
    url: str | None
    rank: int | None
    judged_thing: int | None


class CheckedCard(Struct, frozen=True):
    """One card with its checks and every decision on it, the oldest first."""

    evaluation: CardEvaluation
    shown: ShownCard
    steps: tuple[Step, ...]

    @property
    def in_force(self) -> Mapping[str, Step]:
        """The decision in force on each subject, made on any run's card."""
        last = {step.subject: step for step in self.steps}
        return {place[2]: step for place, step in card_decisions.standing(last.values()).items()}


def are_listed(queries: Iterable[Query]) -> bool:
    """Whether a file lists the properties of a run with these queries."""
    return any(isinstance(query.extra.get("properties"), list) for query in queries)


def facts_of_cards(queries: Mapping[int, Query]) -> dict[int, tuple[CardFacts, ...]]:
    """Return the facts of every card of a run that constraints check, by question number."""
    if are_listed(queries.values()):
        return {number: _listed(query) for number, query in queries.items()}
    return {
        number: _in_text(query)
        for number, query in queries.items()
        if query.state != QueryState.UNREADABLE
    }


def facts_of_one(session: Session, query: Query) -> tuple[CardFacts, ...]:
    """Return the facts of one query's cards that constraints check."""
    if are_listed([query]) or _is_run_listed(session, query.run_id):
        return _listed(query)
    return () if query.state == QueryState.UNREADABLE else _in_text(query)


def shown_in_text(facts: Sequence[CardFacts], query: Query) -> tuple[ShownCard, ...]:
    """Return each listed card with the result that shows it: by slug, in order, else by place."""
    by_slug: defaultdict[str, deque[Result]] = defaultdict(deque)
    for result in query.results:
        by_slug[result.card.get("slug") or ""].append(result)
    found = []
    for position, card in enumerate(facts):
        its = _result(card, position, query.results, by_slug)
        seen = from_row(its.card) if its else None
        found.append(
            ShownCard(
                title=seen.title if seen else card.name,
                url=seen.url if seen else None,
                rank=its.rank if its else None,
                judged_thing=its.judged_thing_id if its else None,
            )
        )
    return tuple(found)


def checked(
    evaluated: Iterable[CardEvaluation], shown: Sequence[ShownCard], steps: Sequence[Step]
) -> tuple[CheckedCard, ...]:
    """Return the cards of one query with their checks and the decisions on each."""
    return tuple(
        CheckedCard(card, shown[index], tuple(step for step in steps if step.card == index))
        for index, card in enumerate(evaluated)
    )


def _is_run_listed(session: Session, run_id: str) -> bool:
    """Whether any query of a run has its properties listed; a list is written with "["."""
    listed = Query.extra["properties"].as_string().startswith("[")
    return bool(session.scalar(exists().where(Query.run_id == run_id, listed).select()))


def _listed(query: Query) -> tuple[CardFacts, ...]:
    return listed_properties.facts_of(query.extra.get("properties") or ())


def _in_text(query: Query) -> tuple[CardFacts, ...]:
    return tuple(_facts_in_text(from_row(result.card)) for result in query.results)


def _facts_in_text(card: Card) -> CardFacts:
    """Return the facts in the text of a card; a price of 0 was none."""
    return CardFacts(
        name=card.title,
        location=card.location or "",
        listing_type=card.listing_type or card.price_note,
        price=_fraction(card.price),
        bedrooms=_fraction(card.bedrooms),
        floors=_fraction(card.floors),
        slug=card.slug,
    )


def _fraction(number: int | None) -> Fraction | None:
    return Fraction(number) if number else None


def _result(
    card: CardFacts,
    position: int,
    results: Sequence[Result],
    by_slug: Mapping[str, deque[Result]],
) -> Result | None:
    same = by_slug.get(card.slug) if card.slug else None
    if same:
        return same.popleft()
    there = results[position] if position < len(results) else None
    slug = there.card.get("slug") if there else None
    return there if there and not (card.slug and slug) else None


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
    shown = shown_in_text([card.card for card in evaluation.cards], asked) if asked else ()
    steps = card_decisions.steps(session, run.id, query_id)
    return CheckedQuery(
        run=found,
        evaluation=evaluation,
        cards=checked(evaluation.cards, shown, steps),
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
    if wanted.card >= len(facts_of_cards(queries).get(query_id, ())):
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
    counts = {query_id: len(cards) for query_id, cards in facts_of_cards(queries).items()}
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
    facts = facts_of_cards(queries)
    return {number: shown_in_text(facts[number], query) for number, query in queries.items()}


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
        from_text=not are_listed(queries.values()),
    )
    asked = gold.in_force(session, run.question_set_id)
    if asked is None:
        return bare
    in_force = card_decisions.standing(card_decisions.steps(session, run.id))
    report = evaluate(
        asked.questions,
        facts_of_cards(queries),
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


INTERVALS = Bootstrap(resamples=1000)


class Votes(Struct, frozen=True):
    """People's verdicts on a card, counted before a rule merges them."""

    relevant: int
    not_relevant: int

    @property
    def share(self) -> Fraction | None:
        """Relevant / decided."""
        decided = self.relevant + self.not_relevant
        return Fraction(self.relevant, decided) if decided else None


class CardJudgedTwice(Struct, frozen=True):
    """One card that both judged; ``index`` counts from 0 in the list of its question.

    ``cpr`` is its automatic constraint pass rate; ``distance`` how far that is from the
    share of people who call it relevant.
    """

    query_id: int
    question: str
    index: int
    card: ShownCard
    checks: tuple[Check, ...]
    cpr: Fraction
    votes: Votes
    machine: bool
    person: bool

    @property
    def distance(self) -> Fraction:
        """|CPR - share of people|, with the merged verdict in place of a share without votes."""
        share = self.votes.share
        return abs(self.cpr - (Fraction(self.person) if share is None else share))


class ConstraintAgreement(Struct, frozen=True):
    """All cards of a run that machine and people judged, and those that were left out."""

    run: CheckedRun
    rule: str
    agreement: BinaryAgreement
    disagreed: tuple[CardJudgedTwice, ...]
    n_cards: int
    n_manual: int
    n_not_shown: int
    n_undecided: int


def compare(session: Session, study: Study, run_id: str, rule: Rule) -> ConstraintAgreement:
    """Return how well the constraints predict people's verdicts on the cards of a run.

    The cards they disagree on come first where they are furthest apart. Raises
    ``UnknownRun`` and ``NoGold``.
    """
    checked = checked_run(session, study, run_id)
    if checked.report is None:
        raise NoGold(run_id)
    run = runs.find(session, study, run_id)
    scope = Query.run_id == run.id
    said = reports.verdicts_under(session, study, scope, rule)
    votes = _votes(session, study, run_id)
    shown = shown_cards(session, run)
    left = Counter[str]()
    compared: list[CardJudgedTwice] = []
    for query in checked.report.queries:
        cards = shown.get(query.question.query_id, ())
        for index, (card, evaluated) in enumerate(zip(cards, _automatic(query), strict=True)):
            person = None if card.judged_thing is None else said.relevance(card.judged_thing)
            why = _why_left_out(query, card, evaluated, person)
            if why or card.judged_thing is None or evaluated.cpr is None:
                left[why] += 1
                continue
            compared.append(
                CardJudgedTwice(
                    query_id=query.question.query_id,
                    question=query.question.text,
                    index=index,
                    card=card,
                    checks=evaluated.checks,
                    cpr=evaluated.cpr,
                    votes=votes.get(card.judged_thing, Votes(0, 0)),
                    machine=evaluated.cpr == 1,
                    person=person is Relevance.RELEVANT,
                )
            )
    apart = [one for one in compared if one.machine != one.person]
    return ConstraintAgreement(
        run=checked,
        rule=rule.name,
        agreement=binary_agreement(
            ((one.machine, one.person) for one in compared), bootstrap=INTERVALS
        ),
        disagreed=tuple(sorted(apart, key=lambda one: (-one.distance, one.query_id, one.index))),
        n_cards=len(compared) + left.total(),
        n_manual=left["manual"],
        n_not_shown=left["not shown"],
        n_undecided=left["undecided"],
    )


def _automatic(query: QueryEvaluation) -> tuple[CardEvaluation, ...]:
    """Return the cards as the machine alone has them."""
    question = replace(query.question, manual=False)
    return evaluate_query(question, [card.card for card in query.cards]).cards


def _why_left_out(
    query: QueryEvaluation, card: ShownCard, evaluated: CardEvaluation, person: Relevance | None
) -> str:
    if query.question.manual or all(c.outcome is Outcome.NA for c in evaluated.checks):
        return "manual"
    if card.judged_thing is None:
        return "not shown"
    return "undecided" if person in {None, Relevance.UNSURE} else ""


def _votes(session: Session, study: Study, run_id: str) -> Mapping[int, Votes]:
    """Return the votes of the study's raters on a run's cards, by judged thing."""
    ids = [rater.id for rater in studies.raters(session, study)]
    by_rater = verdicts.by_rater(session, Query.run_id == run_id, ids)
    cast = Counter(item for own in by_rater.values() for item in own.by_thing.items())
    return {
        thing: Votes(cast[thing, str(Relevance.RELEVANT)], cast[thing, str(Relevance.NOT_RELEVANT)])
        for thing in {thing for thing, _ in cast}
    }


def judged_by_hand(session: Session, study: Study) -> Iterator[JudgedRun]:
    """Yield every run of the study on whose cards as a whole somebody decided.

    Cards that the text of an answer does not show are left out.
    """
    of_study = select(Run).where(Run.study_id == study.id).order_by(Run.imported_at, Run.id)
    every = session.scalars(of_study).all()
    names = chosen_runs.names_of(every)
    for run in every:
        in_force = card_decisions.standing(card_decisions.steps(session, run.id))
        outcomes = {
            (number, card): step.outcome
            for (number, card, subject), step in in_force.items()
            if subject == CARD and step.outcome is not None
        }
        if outcomes:
            yield _judged_run(session, run, names[run.id], outcomes)


def _judged_run(
    session: Session, run: Run, name: str, outcomes: dict[tuple[int, int], str]
) -> JudgedRun:
    shown = shown_cards(session, run)
    asked = session.scalars(select(Query).where(Query.run_id == run.id)).all()
    queries = {query.query_id: query for query in asked}
    verdicts, titles = [], {}
    for (number, card), outcome in outcomes.items():
        query, rank = queries[number], shown[number][card].rank
        result = next((one for one in query.results if one.rank == rank), None)
        if result is not None:
            seen = from_row(result.card)
            titles[identity(seen)] = seen.title
            passed = outcome == ManualResult.PASS
            verdicts.append(VerdictByHand(name, query.question_id, identity(seen), passed))
    return JudgedRun(
        name=name,
        verdicts=tuple(verdicts),
        questions={
            query.question_id: (query.question.position, query.question.text)
            for query in queries.values()
        },
        titles=titles,
    )
