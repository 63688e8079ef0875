"""The evaluation of constraints as tables: a line for each question, a line for each card."""

from __future__ import annotations

from fractions import Fraction

from webapp.exporters.frame.csv_cells import Cell, csv_bytes
from webapp.metrics.gold.constraints import ConstraintReport
from webapp.records import CONSTRAINTS

QUESTION_COLUMNS = (
    "query_id",
    "question",
    "category",
    "expected_result",
    "num_properties",
    "mean_cpr",
    "strict_success",
    "is_success",
    "confusion_category",
)
CARD_COLUMNS = (
    "query_id",
    "card",
    "name",
    "slug",
    "cpr",
    "manual_result",
    "comment",
    *CONSTRAINTS,
    *(f"{name}_automatic" for name in CONSTRAINTS),
    "distance_km",
)


def questions_csv(report: ConstraintReport) -> bytes:
    """A line for each question of the gold file, in its order."""
    rows = [
        (
            query.question.query_id,
            query.question.text,
            query.question.category,
            str(query.question.expected),
            len(query.cards),
            _number(query.mean_cpr),
            query.strict_success,
            int(query.is_success),
            str(query.confusion),
        )
        for query in report.queries
    ]
    return csv_bytes([QUESTION_COLUMNS, *rows])


def cards_csv(report: ConstraintReport) -> bytes:
    """A line for each card: its constraints' outcomes, with and without people's decisions."""
    rows: list[list[Cell]] = []
    for query in report.queries:
        for index, card in enumerate(query.cards):
            distances = (check.distance_km for check in card.checks)
            passed = {True: "pass", False: "fail", None: "pending" if card.pending else None}
            rows.append(
                [
                    query.question.query_id,
                    index,
                    card.card.name,
                    card.card.slug,
                    _number(card.cpr),
                    passed[card.passed],
                    card.comment,
                    *(str(check.outcome) for check in card.checks),
                    *(str(check.automatic) for check in card.checks),
                    next((km for km in distances if km is not None), None),
                ]
            )
    return csv_bytes([CARD_COLUMNS, *rows])


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
