"""The figures of an evaluation as its pages write them, each with what explains it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from webapp.exporters.evaluations import score_reports
from webapp.exporters.exports.measures import read_together
from webapp.i18n import gettext, mark
from webapp.metrics.evaluations import json_answers
from webapp.metrics.evaluations.answers import WhyUndefined
from webapp.metrics.evaluations.registry import ANSWER_MAIN, EVALUATIONS
from webapp.metrics.judging.registry import Measure, Unit
from webapp.services.evaluations.rows import EvaluationKind
from webapp.web.frame import formatting
from webapp.web.rating.figures import UndefinedReason, reasons_of

WHY_UNDEFINED = score_reports.WHY_UNDEFINED | {
    WhyUndefined.NO_EMBEDDER: mark(
        "No cosines: give claim_similarities in the file or choose what makes them."
    ),
}

FIELDS = {
    "target_audience": mark("Target audience"),
    "main_topic": mark("Main topic"),
    "sub_topic": mark("Sub-topic"),
}
"""The class fields, which one measure explains."""

JUDGED = "avg_faithfulness_judge"
_WITH_JUDGE = {"avg_faithfulness": ("avg_faithfulness", JUDGED)}

OF_ITEMS = {
    "overlap": "avg_overlap",
    "faithfulness": "avg_faithfulness",
    "em": "avg_em",
    "f1": "avg_f1",
    "score": "eval_score_avg",
    "total_tokens": "avg_total_tokens",
    "latency_ms": "p50_latency_ms",
}
"""The measure whose label an item's figure has, where it is not its own."""

ITEM_LABELS = {
    "overlap": mark("Supported claims (overlap)"),
    "faithfulness": mark("Faithfulness (fallback)"),
    "em": mark("Exact match"),
    "f1": mark("F1 (words)"),
    "total_tokens": mark("Tokens"),
    "score": mark("Score"),
    "latency_ms": mark("Latency (ms)"),
}


class ScoreCell(Struct, frozen=True):
    """One figure in words; ``about`` names the measure that explains it, if one does."""

    name: str
    label: str
    value: str
    n: int | None = None
    about: str = ""
    meaning: str = ""
    why: str = ""


def cells(kind: EvaluationKind, figures: Iterable[Mapping[str, Any]]) -> tuple[ScoreCell, ...]:
    """Return the figures of a summary."""
    return tuple(_cell(kind, one) for one in figures)


def main_cells(kind: EvaluationKind, figures: Iterable[Mapping[str, Any]]) -> tuple[ScoreCell, ...]:
    """Return the figures of the main table; a judge's faithfulness is beside the fallback."""
    found = {cell.name: cell for cell in cells(kind, figures)}
    if kind is not EvaluationKind.ANSWERS:
        return tuple(found.values())
    names = [name for one in ANSWER_MAIN for name in _WITH_JUDGE.get(one, (one,))]
    return tuple(found[name] for name in names if name in found)


def appendix_cells(
    kind: EvaluationKind, figures: Iterable[Mapping[str, Any]]
) -> tuple[ScoreCell, ...]:
    """Return the figures that are not in the main table."""
    stated = tuple(figures)
    main = {cell.name for cell in main_cells(kind, stated)}
    return tuple(cell for cell in cells(kind, stated) if cell.name not in main)


def item_cells(kind: EvaluationKind, result: Mapping[str, Any]) -> tuple[ScoreCell, ...]:
    """Return the figures of one item; of JSON answers only the score: its fields say the rest."""
    names = {
        EvaluationKind.ANSWERS: (
            "overlap",
            "faithfulness",
            "em",
            "f1",
            "total_tokens",
            "latency_ms",
        ),
        EvaluationKind.CHUNKS: ("iou", "recall", "precision", "precision_omega", "f1"),
        EvaluationKind.JSON: ("score",),
    }[kind]
    found = tuple(
        ScoreCell(name, item_label(kind, name), written(result[name], unit_of(kind, name)))
        for name in names
    )
    judge = result.get("faithfulness_judge")
    if judge is None:
        return found
    return (*found, ScoreCell("judge", gettext("Faithfulness (judge)"), formatting.figure(judge)))


def item_label(kind: EvaluationKind, name: str) -> str:
    """Return what an item's figure is called."""
    measures = EVALUATIONS[kind].measures
    own = FIELDS.get(name) or (measures[name].label if name in measures else ITEM_LABELS[name])
    return gettext(own)


def unit_of(kind: EvaluationKind, name: str) -> Unit:
    """Return what an item's figure is measured in."""
    if name == "score":
        return "score 0-100"
    found = EVALUATIONS[kind].measures.get(OF_ITEMS.get(name, name))
    return found.unit if found and kind is EvaluationKind.ANSWERS else "ratio"


def written(value: float | None, unit: Unit) -> str:
    """Return a figure as the reader's language writes it; undefined is "-"."""
    if value is None:
        return formatting.UNDEFINED
    if unit == "ratio":
        return formatting.figure(value)
    return formatting.number(round(value, 2 if unit == "score 0-100" else 1))


def measures(kind: EvaluationKind) -> tuple[Measure, ...]:
    """Return what explains the figures of a summary."""
    return tuple(EVALUATIONS[kind].measures.values())


def reasons() -> tuple[UndefinedReason, ...]:
    """Return what explains a figure without a value."""
    return reasons_of(WHY_UNDEFINED)


def advice(kind: EvaluationKind) -> tuple[str, ...]:
    """Return which figures to read together, in sentences."""
    evaluation = EVALUATIONS[kind]
    return tuple(read_together(one, evaluation.measures) for one in evaluation.advice)


def rules(kind: EvaluationKind) -> tuple[str, ...]:
    """Return the rules of thumb for an evaluation."""
    return tuple(map(gettext, EVALUATIONS[kind].rules))


def weight(name: str) -> str:
    """Return how many points of 100 a field of a JSON answer can earn."""
    return formatting.number(float(100 * json_answers.WEIGHTS[name]))


def _cell(kind: EvaluationKind, one: Mapping[str, Any]) -> ScoreCell:
    name, value, n = one["name"], one["value"], one["n"]
    if name == JUDGED:
        label = gettext("Faithfulness (judge)")
        meaning = gettext("The mean of what a judge gave in the file, beside the fallback.")
        return ScoreCell(name, label, written(value, "ratio"), n, meaning=meaning)
    measure = EVALUATIONS[kind].measures["classes" if name in FIELDS else name]
    label = gettext(FIELDS.get(name, measure.label))
    return ScoreCell(
        name=name,
        label=label,
        value=written(value, measure.unit),
        n=n,
        about=measure.name,
        meaning=gettext(measure.meaning),
        why=one["why"] or "",
    )
