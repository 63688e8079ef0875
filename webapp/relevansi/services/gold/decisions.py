"""People's decisions on cards by hand: constraints overridden, whole cards passed or failed.

Every decision is a step, a row of the log; the last step on a subject of a card is in force,
whoever made it. Undoing a step writes a new one, which can be undone in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.tables.evaluations import CardDecision
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.failures import Conflict, Refused
from relevansi.i18n import mark
from relevansi.importers.agreement.manual_input import CONSTRAINT_RESULTS
from relevansi.metrics.gold.constraints import CARD, Decisions
from relevansi.records import CONSTRAINTS
from relevansi.services.judging.reasons import ReasonMissing

MAX_REASON = 2_000  # characters
CLICK, POOLED, IMPORT, UNDO = "click", "pooled", "import", "undo"
"""How a decision was made: on a run's page, while rating blind, by a file, by undoing another."""

DecisionKey = tuple[int, int, str]
"""What a decision is about: number of the question, index of the card from 0, and subject."""


class Decision(Struct, frozen=True):
    """A decision on one subject of a card (counted from 0); a null outcome takes it back."""

    card: int
    subject: str
    outcome: str | None
    reason: str = ""
    cause: str = CLICK


class UnfitDecision(Refused):
    message = mark("There is nothing of that kind to decide here")
    remedy = failures.RELOAD


class DecisionReplaced(Conflict):
    message = mark("This decision was followed by another")
    remedy = mark("Nothing was undone. Reload the page to see the current state.")


class Step(Struct, frozen=True):
    """One decision as it was made: by whom, when and how ("click", "pooled", "import", "undo")."""

    id: int
    query_key: int
    query_id: int
    card: int
    subject: str
    outcome: str | None
    reason: str
    cause: str
    rater_id: int
    by: str
    at: datetime

    @property
    def key(self) -> DecisionKey:
        return self.query_id, self.card, self.subject


def steps(session: Session, where: ColumnElement[bool]) -> list[Step]:
    """Return every step on the cards of the queries that `where` holds for, the oldest first."""
    rows = (
        select(  # in the order of the fields of ``Step``
            CardDecision.id,
            CardDecision.query_key,
            Query.query_id,
            CardDecision.card,
            CardDecision.subject,
            CardDecision.outcome,
            CardDecision.reason,
            CardDecision.cause,
            CardDecision.rater_id,
            Rater.name,
            CardDecision.at,
        )
        .join(Query, Query.id == CardDecision.query_key)
        .join(Rater, Rater.id == CardDecision.rater_id)
        .where(where)
        .order_by(CardDecision.id)
    )
    return [Step(*row) for row in session.execute(rows)]


def in_force(session: Session, run_id: str) -> dict[DecisionKey, Step]:
    """Return the decision in force on each subject of a run's cards."""
    return latest(steps(session, Query.run_id == run_id))


def latest(oldest_first: Iterable[Step]) -> dict[DecisionKey, Step]:
    """Return the step in force on each subject: the last, unless it withdrew the decision.

    A reason on a whole card counts without an outcome too: it is a comment.
    """
    last = {step.key: step for step in oldest_first}
    return {
        key: step
        for key, step in last.items()
        if step.outcome is not None or (step.subject == CARD and step.reason)
    }


def for_evaluation(in_force: Mapping[DecisionKey, Step]) -> Decisions:
    """Return decisions in force as ``evaluate`` takes them."""
    return Decisions.of((*key, step.outcome, step.reason) for key, step in in_force.items())


def decide(
    session: Session,
    rater: Rater,
    query: Query,
    decision: Decision,
    now: datetime,
    *,
    again: bool = False,
) -> None:
    """Store a decision on one subject of a card.

    A decision equal to the one in force is not stored, unless made `again` on purpose. Raises
    ``UnfitDecision``, and ``ReasonMissing`` for an override without a reason.
    """
    decision = replace(decision, reason=decision.reason.strip()[:MAX_REASON])
    is_on_card = decision.subject == CARD
    outcomes = {"pass", "fail"} if is_on_card else CONSTRAINT_RESULTS
    if decision.subject not in {CARD, *CONSTRAINTS} or decision.outcome not in {None, *outcomes}:
        raise UnfitDecision(decision.subject, decision.outcome)
    if not is_on_card and decision.outcome is not None and not decision.reason:
        raise ReasonMissing
    on_card = (CardDecision.query_key == query.id) & (CardDecision.card == decision.card)
    earlier = [step for step in steps(session, on_card) if step.subject == decision.subject]
    # The last row is in force, whichever person wrote it: unlike events of judging, decisions
    # know no device and no order on it.
    current = (earlier[-1].outcome, earlier[-1].reason) if earlier else (None, "")
    if again or current != (decision.outcome, decision.reason):
        write(session, rater, query, decision, now)


def write(session: Session, rater: Rater, query: Query, decision: Decision, now: datetime) -> None:
    """Store a decision as the newest step, whatever is in force."""
    row = CardDecision(query_key=query.id, rater_id=rater.id, at=now, **asdict(decision))
    session.add(row)
    session.flush()
