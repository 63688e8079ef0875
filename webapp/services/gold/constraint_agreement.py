"""The constraints' verdict on each card beside people's: how well it predicts theirs.

A card passes by machine when it meets everything that its question asks, before any decision
by hand; cards of questions that people alone can check are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.metrics.agreement.agreement import BinaryAgreement, binary_agreement
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.metrics.gold.constraint_rules import Check, Outcome
from webapp.metrics.gold.constraints import CardEvaluation, QueryEvaluation, evaluate_query
from webapp.records import Relevance
from webapp.services.gold import constraints
from webapp.services.gold.constraints import CheckedRun, NoGold
from webapp.services.gold.listed_cards import ShownCard
from webapp.services.judging import verdicts
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

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
    checked = constraints.checked_run(session, study, run_id)
    if checked.report is None:
        raise NoGold(run_id)
    run = runs.find(session, study, run_id)
    scope = Query.run_id == run.id
    said = reports.verdicts_under(session, study, scope, rule)
    votes = _votes(session, study, run_id)
    shown = constraints.shown_cards(session, run)
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
