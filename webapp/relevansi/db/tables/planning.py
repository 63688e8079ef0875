"""The rules by which a study decides how much is judged, and the questions drawn: tables."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Index, String, Text, and_, func, or_, select
from sqlalchemy.orm import Mapped, aliased, mapped_column

from relevansi.db.tables.base import Base, reference


class RuleKind(StrEnum):
    """The kinds of rules; see ``PlanningRule``.

    A sample that grew ("sequence") cannot be chosen since version 1.1.0; its sample still counts.
    """

    FIXED = "fixed"
    MACHINE_HELP = "machine_help"
    SEQUENCE = "sequence"


class RuleOutcome(StrEnum):
    """Why a rule ended.

    The owner stopped it, another took its place, it reached its aim, or its kind is gone.
    """

    STOPPED = "stopped"
    REPLACED = "replaced"
    REACHED = "reached"
    RETIRED = "retired"


SAMPLING = frozenset({RuleKind.FIXED, RuleKind.SEQUENCE, RuleKind.MACHINE_HELP})
"""The kinds of rules that draw questions."""


class PlanningRule(Base):
    """A rule that a study follows, as it was chosen; the newest that has not ended is in force.

    ``kind`` is "fixed" (a sample of a set size) or "machine_help" (people judge a sample, a machine
    everything); before 1.1.0 also "sequence", whose ``outcome`` is "retired" if it still ran.
    ``seed`` draws the sample. ``verdicts_before`` counts people's verdicts on the set when the rule
    was chosen. ``outcome`` says in one word why it ended.
    """

    __tablename__ = "planning_rules"
    __table_args__ = (Index(None, "study_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = reference("studies.id")
    question_set_id: Mapped[int] = reference("question_sets.id", index=True)
    kind: Mapped[str] = mapped_column(String(16))
    settings: Mapped[dict[str, Any]]
    seed: Mapped[int] = mapped_column(BigInteger)
    verdicts_before: Mapped[int]
    rater_id: Mapped[int] = reference("raters.id", index=True)
    chosen_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    verdicts_at_end: Mapped[int | None]
    outcome: Mapped[str | None] = mapped_column(String(16))


class SampledQuestion(Base):
    """A question that a rule drew, in the order of drawing (from 1), with the stratum it is of."""

    __tablename__ = "sampled_questions"
    __table_args__ = (Index(None, "rule_id", "position"),)

    rule_id: Mapped[int] = reference("planning_rules.id", primary_key=True)
    question_id: Mapped[int] = reference("questions.id", primary_key=True)
    position: Mapped[int]
    stratum: Mapped[str] = mapped_column(Text, default="")


def restricts_questions() -> ColumnElement[bool]:
    """Return the condition on ``PlanningRule`` that only the questions it drew are asked.

    It is the newest of its question set, was chosen before people judged any of it, and is in
    force, has reached its aim, or is of a kind that is gone.
    """
    later = aliased(PlanningRule)
    closed = [str(RuleOutcome.REACHED), str(RuleOutcome.RETIRED)]
    newest = select(func.max(later.id)).where(later.question_set_id == PlanningRule.question_set_id)
    return and_(
        or_(*(PlanningRule.kind == str(kind) for kind in sorted(SAMPLING))),  # cheaper than a list
        PlanningRule.verdicts_before == 0,
        or_(
            PlanningRule.ended_at.is_(None),
            *(PlanningRule.outcome == outcome for outcome in closed),
        ),
        PlanningRule.id == newest.scalar_subquery(),
    )
