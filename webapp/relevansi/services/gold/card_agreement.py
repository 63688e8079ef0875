"""The agreement of constraints and people on the cards of a run, and whole cards judged by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Study
from relevansi.kinds.property import Card
from relevansi.metrics.agreement.agreement import BinaryAgreement, binary_agreement
from relevansi.metrics.agreement.conflicts import JudgedRun, VerdictByHand
from relevansi.metrics.gold.constraint_rules import Outcome
from relevansi.metrics.gold.constraints import CARD, GoldQuestion, evaluate_query
from relevansi.records import Relevance
from relevansi.services.comparisons import chosen_runs
from relevansi.services.gold import constraints, decisions
from relevansi.services.gold.constraints import CheckedCard
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.votes import votes_by_item


class CardJudgedTwice(Struct, frozen=True):
    """One card that constraints and people judged; ``index`` counts from 0 in its answer.

    Its evaluation has no decisions by hand. ``relevant`` of ``decided`` people call the card
    relevant; ``person`` says whether their merged verdict does.
    """

    question: GoldQuestion
    index: int
    card: CheckedCard
    relevant: int
    decided: int
    person: bool

    @property
    def machine(self) -> bool:
        return self.card.evaluation.cpr == 1

    @property
    def distance(self) -> Fraction:
        """|CPR - share of people|, with the merged verdict in place of a share without votes."""
        share = Fraction(self.relevant, self.decided) if self.decided else Fraction(self.person)
        assert self.card.evaluation.cpr is not None  # MISSING counts
        return abs(self.card.evaluation.cpr - share)


class ConstraintAgreement(Struct, frozen=True):
    """The agreement of constraints and people on the cards of a run, and why others are left out.

    ``left_out`` counts the cards by reason.
    """

    run: Run
    rule: str
    agreement: BinaryAgreement
    disagreed: tuple[CardJudgedTwice, ...]
    left_out: Mapping[str, int]


def agreement_with_people(
    session: Session, study: Study, run_id: str, rule: Rule
) -> ConstraintAgreement:
    """Return how well the constraints predict people's verdicts on the cards of a run.

    The cards on which they disagree are sorted by distance, the largest first. Raises
    ``UnknownRun`` and ``NoGold``.
    """
    checked = constraints.checked_run(session, study, run_id)
    if checked.report is None:
        raise constraints.NoGold(run_id)
    ratings = reports.verdicts_under(session, study, Query.run_id == run_id, rule)
    all_votes = votes_by_item(session, study, Query.run_id == run_id)
    left_out = Counter({"manual": 0, "not shown": 0, "undecided": 0})
    compared: list[CardJudgedTwice] = []
    for line in checked.report.queries:
        question, query = line.question, checked.queries.get(line.question.query_id)
        facts = [card.card for card in line.cards]
        alone = evaluate_query(replace(question, manual=False), facts).cards
        for index, card in enumerate(constraints.check_cards(alone, query, ()) if query else ()):
            checks = card.evaluation.checks
            item_id = card.result.judged_item_id if card.result else None
            person = None if item_id is None else ratings.relevance(item_id)
            if question.manual or all(c.outcome is Outcome.NA for c in checks):
                left_out["manual"] += 1
            elif item_id is None:
                left_out["not shown"] += 1
            elif person in {None, Relevance.UNSURE}:
                left_out["undecided"] += 1
            else:
                votes = Counter(all_votes[item_id].values())
                relevant = votes[str(Relevance.RELEVANT)]
                decided = relevant + votes[str(Relevance.NOT_RELEVANT)]
                is_relevant = person is Relevance.RELEVANT
                pair = CardJudgedTwice(question, index, card, relevant, decided, is_relevant)
                compared.append(pair)
    apart = [pair for pair in compared if pair.machine != pair.person]
    apart.sort(key=lambda pair: (-pair.distance, pair.question.query_id, pair.index))
    agreement = binary_agreement((pair.machine, pair.person) for pair in compared)
    return ConstraintAgreement(checked.run, rule.name, agreement, tuple(apart), left_out)


def judged_by_hand(session: Session, study: Study) -> Iterator[JudgedRun]:
    """Yield every run of the study on whose cards as a whole somebody decided.

    Cards that the text of an answer does not show are left out.
    """
    all_runs = runs.in_order(session, study)
    names = chosen_runs.names_of(all_runs)
    for run in all_runs:
        in_force = decisions.in_force(session, run.id).values()
        on_cards = [step for step in in_force if step.subject == CARD and step.outcome is not None]
        if not on_cards:
            continue
        queries = constraints.queries_of(session, run)
        facts = constraints.facts_of_cards(queries)
        verdicts, titles = [], {}
        for step in on_cards:
            query = queries[step.query_id]
            result = constraints.shown_in_text(facts[step.query_id], query)[step.card]
            if result is not None:
                card, passed = Card(**result.card), step.outcome == Outcome.PASS
                titles[card.identity] = card.title
                verdicts.append(VerdictByHand(query.question_id, card.identity, passed))
        questions = {
            query.question_id: (query.question.position, query.question.text)
            for query in queries.values()
        }
        yield JudgedRun(names[run.id], tuple(verdicts), questions, titles)
