"""How well the automatic figures of an evaluation predict people's verdicts on its items.

Of several raters the majority of ✓ and ✗ on a part counts, a tie counts for nothing; the
median of their grades counts for the item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation, EvaluationItem, ItemJudgment
from webapp.exporters.evaluations.machine_agreement_json import binary_json, correlation_json
from webapp.metrics.agreement.agreement import BinaryAgreement, binary_agreement
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.metrics.evaluations.rank_correlation import RankCorrelation, rank_correlation
from webapp.services.evaluations import evaluations
from webapp.services.evaluations.rows import FIGURES, GRADE, EvaluationKind, headline

BOOTSTRAP = Bootstrap()
MOST_SHOWN = 20


class ItemDisagreement(Struct, frozen=True):
    """One item on which people and machine differ.

    ``n_differ`` of ``n_parts`` parts that both judged; ``gap`` is how far the grade / 5 lies
    from ``headline``, the value of the item's headline ``figure``, ``None`` without both.
    """

    position: int
    item_id: str
    question: str
    n_differ: int
    n_parts: int
    grade: float | None
    figure: str | None
    headline: float | None

    @property
    def gap(self) -> float | None:
        """|grade / 5 - headline|, ``None`` without both."""
        if self.grade is None or self.headline is None:
            return None
        return abs(self.grade / 5 - self.headline)


class MachineAgreementReport(Struct, frozen=True):
    """Machine against people: verdicts on parts, all and (for fields) each, and grades.

    ``figures`` hold the rank correlation of each figure with the grades.
    """

    n_raters: int
    n_items: int
    n_graded: int
    overall: BinaryAgreement
    fields: Mapping[str, BinaryAgreement]
    figures: Mapping[str, RankCorrelation]
    disagreements: tuple[ItemDisagreement, ...]
    bootstrap: Bootstrap


class _MergedItem(Struct):
    """One item with people's merged verdicts on it."""

    item: EvaluationItem
    verdicts: Mapping[str, bool]
    grade: float | None

    def pairs(self) -> list[tuple[str, bool, bool]]:
        """(part, machine, people) where both have a verdict."""
        return [
            (part["key"], part["passed"], self.verdicts[part["key"]])
            for part in self.item.parts
            if part["passed"] is not None and part["key"] in self.verdicts
        ]


def report(
    session: Session,
    evaluation: Evaluation,
    *,
    rater_id: int | None = None,
    bootstrap: Bootstrap = BOOTSTRAP,
) -> MachineAgreementReport:
    """Return how well each automatic figure of the evaluation predicts the human one.

    With `rater_id` only this rater's verdicts count, else those of all, merged.
    """
    kind = evaluations.kind(evaluation)
    judged, n_raters = _judged(session, evaluation, rater_id)
    pairs = [pair for one in judged for pair in one.pairs()]
    said = {key for key, _, _ in pairs}
    keys = [key for key in FIGURES[kind] if key in said] if kind is EvaluationKind.JSON else []
    graded = [one for one in judged if one.grade is not None]
    return MachineAgreementReport(
        n_raters=n_raters,
        n_items=len(judged),
        n_graded=len(graded),
        overall=binary_agreement([(m, p) for _, m, p in pairs], bootstrap=bootstrap),
        fields={
            key: binary_agreement([(m, p) for k, m, p in pairs if k == key], bootstrap=bootstrap)
            for key in keys
        },
        figures={name: _correlation(name, graded, bootstrap) for name in FIGURES[kind]},
        disagreements=_disagreements(kind, judged),
        bootstrap=bootstrap,
    )


def document(found: MachineAgreementReport) -> dict[str, Any]:
    """Return the report as JSON has it."""
    bootstrap = found.bootstrap
    return {
        "raters": found.n_raters,
        "items": found.n_items,
        "graded": found.n_graded,
        "verdicts": binary_json(found.overall),
        "verdicts_by_field": {name: binary_json(one) for name, one in found.fields.items()},
        "grades": {name: correlation_json(one) for name, one in found.figures.items()},
        "intervals": {
            "method": bootstrap.method,
            "confidence": bootstrap.confidence,
            "resamples": bootstrap.resamples,
            "seed": bootstrap.seed,
        },
    }


def _judged(
    session: Session, evaluation: Evaluation, rater_id: int | None
) -> tuple[list[_MergedItem], int]:
    wanted = (
        select(EvaluationItem, ItemJudgment)
        .join(ItemJudgment, ItemJudgment.item_key == EvaluationItem.id)
        .where(EvaluationItem.evaluation_id == evaluation.id, ItemJudgment.value.is_not(None))
        .order_by(EvaluationItem.position, ItemJudgment.rater_id)
    )
    if rater_id is not None:
        wanted = wanted.where(ItemJudgment.rater_id == rater_id)
    rows = session.execute(wanted)
    items: dict[int, EvaluationItem] = {}
    said: dict[int, dict[str, list[int]]] = {}
    raters = set()
    for item, judgment in rows:
        items[item.id] = item
        raters.add(judgment.rater_id)
        if judgment.value is not None:
            said.setdefault(item.id, {}).setdefault(judgment.part, []).append(judgment.value)
    return [_merged(items[key], parts) for key, parts in said.items()], len(raters)


def _merged(item: EvaluationItem, said: Mapping[str, Sequence[int]]) -> _MergedItem:
    verdicts = {
        part: 2 * sum(values) > len(values)
        for part, values in said.items()
        if part != GRADE and 2 * sum(values) != len(values)
    }
    return _MergedItem(item, verdicts, float(median(said[GRADE])) if GRADE in said else None)


def _correlation(name: str, graded: Sequence[_MergedItem], bootstrap: Bootstrap) -> RankCorrelation:
    pairs = [
        (float(one.item.result[name]), one.grade)
        for one in graded
        if one.grade is not None and one.item.result[name] is not None
    ]
    return rank_correlation(pairs, bootstrap=bootstrap)


def _disagreements(
    kind: EvaluationKind, judged: Sequence[_MergedItem]
) -> tuple[ItemDisagreement, ...]:
    """The items on which people and machine differ, most parts first, then the widest gap."""
    found = []
    for one in judged:
        pairs = one.pairs()
        figure, value = headline(kind, one.item.result) or (None, None)
        found.append(
            ItemDisagreement(
                position=one.item.position,
                item_id=one.item.item_id,
                question=str(one.item.row.get("question", "")),
                n_differ=sum(machine != people for _, machine, people in pairs),
                n_parts=len(pairs),
                grade=one.grade,
                figure=figure,
                headline=value,
            )
        )
    differing = [one for one in found if one.n_differ or one.gap]
    differing.sort(key=lambda one: (-one.n_differ, -(one.gap or 0), one.position))
    return tuple(differing[:MOST_SHOWN])
