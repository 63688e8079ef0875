"""The runs of a study whose cards people decided one run at a time, for the conflict report."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.exporters.gold.manual_input import CARD
from webapp.importers.agreement.manual_input import ManualResult
from webapp.importers.runs.property_identity import identity
from webapp.metrics.agreement.report import VerdictByHand
from webapp.services.agreement.agreement import JudgedRun, NumberedQuestion
from webapp.services.comparisons import chosen_runs
from webapp.services.gold import card_decisions, constraints
from webapp.services.judging.judged_things import from_row


def runs(session: Session, study: Study) -> Iterator[JudgedRun]:
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
            yield _judged(session, run, names[run.id], outcomes)


def _judged(
    session: Session, run: Run, name: str, outcomes: dict[tuple[int, int], str]
) -> JudgedRun:
    shown = constraints.shown_cards(session, run)
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
            query.question_id: NumberedQuestion(query.question.position, query.question.text)
            for query in queries.values()
        },
        titles=titles,
    )
