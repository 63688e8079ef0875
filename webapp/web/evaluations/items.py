"""One item of an evaluation as its page shows it: the score of each part, and its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from webapp.exporters.evaluations import score_reports
from webapp.exporters.exports.metrics_tables import read_together
from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.evaluations import json_answers
from webapp.metrics.evaluations.answers import SentenceVerdict, Support, WhyUndefined
from webapp.metrics.evaluations.chunks import ChunkScore
from webapp.metrics.evaluations.json_answers import CLASSES, WEIGHTS, JsonScore, SchemaFailure
from webapp.metrics.evaluations.registry import ANSWER_MAIN, EVALUATIONS
from webapp.metrics.evaluations.similarity import Coverage, Likeness
from webapp.metrics.judging.registry import Measure, Unit
from webapp.services.evaluations.evaluations import (
    MOST_PARTS,
    EvaluationKind,
    ItemInFull,
    score_again,
)
from webapp.web.frame import formatting
from webapp.web.rating.figures import reasons_of

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


Shown = dict[str, Any]
"""What a template reads, by name."""
Lines = list[tuple[str, str, int | None]]
"""Texts, each with a look ("common", "missed", "surplus", "ignored" or none) and its pair."""


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
        ScoreCell(name, item_label(kind, name), figure_text(result[name], unit_of(kind, name)))
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


def figure_text(value: float | None, unit: Unit) -> str:
    """Return a figure as the reader's language writes it; undefined is "-"."""
    if value is None:
        return formatting.UNDEFINED
    if unit == "ratio":
        return formatting.figure(value)
    return formatting.number(round(value, 2 if unit == "score 0-100" else 1))


def measures(kind: EvaluationKind) -> tuple[Measure, ...]:
    """Return what explains the figures of a summary."""
    return tuple(EVALUATIONS[kind].measures.values())


def reasons() -> dict[str, str]:
    """Return what explains a figure without a value."""
    return reasons_of(WHY_UNDEFINED)


def advice(kind: EvaluationKind) -> tuple[str, ...]:
    """Return which figures to read together, in sentences."""
    evaluation = EVALUATIONS[kind]
    return tuple(read_together(one, evaluation.measures) for one in evaluation.advice)


def rules(kind: EvaluationKind) -> tuple[str, ...]:
    """Return the rules of thumb for an evaluation."""
    return tuple(map(gettext, EVALUATIONS[kind].rules))


def weight_of(name: str) -> str:
    """Return how many points of 100 a field of a JSON answer can earn."""
    return formatting.number(float(100 * json_answers.WEIGHTS[name]))


def _cell(kind: EvaluationKind, one: Mapping[str, Any]) -> ScoreCell:
    name, value, n = one["name"], one["value"], one["n"]
    if name == JUDGED:
        label = gettext("Faithfulness (judge)")
        meaning = gettext("The mean of what a judge gave in the file, beside the fallback.")
        return ScoreCell(name, label, figure_text(value, "ratio"), n, meaning=meaning)
    measure = EVALUATIONS[kind].measures["classes" if name in FIELDS else name]
    label = gettext(FIELDS.get(name, measure.label))
    return ScoreCell(
        name=name,
        label=label,
        value=figure_text(value, measure.unit),
        n=n,
        about=measure.name,
        meaning=gettext(measure.meaning),
        why=one["why"] or "",
    )


MOST_TEXT = 20_000
MOST_WORDS = 150

SUPPORTS = {
    Support.SUPPORTED: ("good", mark("Supported")),
    Support.NO_CITATION: ("bad", mark("No citation")),
    Support.SEVERAL_CITATIONS: ("bad", mark("Several citations")),
    Support.UNKNOWN_CONTEXT: ("bad", mark("Cites what is not among the contexts")),
    Support.TOO_FAR: ("bad", mark("Unsupported: too far from the context")),
    Support.NOT_MEASURED: ("open", mark("Not measured: no cosine")),
    Support.DO_NOT_KNOW: ("calm", mark("Says “I don't know”")),
    Support.DO_NOT_KNOW_CITED: ("bad", mark("Says “I don't know” and yet cites")),
}
"""The look and the words for the outcome of a sentence."""

FAILURES = {
    SchemaFailure.NOT_JSON: mark("The output is not JSON at all."),
    SchemaFailure.TRUNCATED: mark("The output was cut off before the object ended."),
    SchemaFailure.CODE_FENCE: mark("The object is inside a code fence."),
    SchemaFailure.EXTRA_TEXT: mark("There is text around the object."),
    SchemaFailure.NOT_AN_OBJECT: mark("The output is JSON, but not an object."),
    SchemaFailure.MISSING_FIELD: mark("A field is missing:"),
    SchemaFailure.WRONG_TYPE: mark("A field has the wrong type:"),
}
"""The reasons why an output scores 0, in words; the last two are followed by the field."""


def shown(kind: EvaluationKind, item: ItemInFull) -> Shown:
    """Return an item's question, expected answer and parts; ``n_hidden`` parts are not shown."""
    score, verdicts = score_again(kind, item.row, item.parts)
    empty = {"expected": (), "n_hidden": 0, "failure": "", "strategy": ""}
    if isinstance(score, ChunkScore):
        return empty | _chunks(item, score)
    if isinstance(score, JsonScore):
        return empty | _json(item, score)
    return empty | _answer(item, verdicts)


def _said(item: ItemInFull, number: int) -> Shown:
    part = item.parts[number]
    key = part["key"]
    return {"key": key, "passed": part["passed"], "verdict": item.judged.get(key)}


def _answer(item: ItemInFull, verdicts: Sequence[SentenceVerdict]) -> Shown:
    def sentence(number: int, verdict: SentenceVerdict) -> Shown:
        look, support = SUPPORTS[verdict.support]
        cosine = verdict.cosine
        return {
            "said": _said(item, number),
            "text": cut(verdict.sentence.text),
            "look": look,
            "support": gettext(support),
            "cosine": "" if cosine is None else formatting.figure(cosine, "coefficient"),
            "contexts": cited(verdict.sentence.citations, item.row["contexts"]),
        }

    gold = item.row["gold"]
    return {
        "question": item.row["question"],
        "expected": () if gold is None else ((cut(gold), ""),),
        "sentences": [sentence(n, one) for n, one in enumerate(verdicts[:MOST_PARTS])],
        "n_hidden": max(0, len(verdicts) - MOST_PARTS),
    }


def cited(citations: Iterable[str], contexts: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return the texts that a sentence cites, by name; ``None`` where no context has it."""
    return [
        (name, cut(contexts[name]) if name in contexts else None)
        for name in dict.fromkeys(citations)
    ]


def _chunks(item: ItemInFull, score: ChunkScore) -> Shown:
    row, looks = score.row, {"common": score.common, "missed": score.missed}
    return {
        "question": row.question,
        "expected": _marked(cut(row.expected_answer), looks),
        "chunks": [
            {
                "said": _said(item, number),
                "segments": _marked(cut(text), {"common": score.common}),
                "n_common": len(score.chunk_words[number]),
                "n_words": len(set(text.split())),
            }
            for number, text in enumerate(row.retrieved_chunks[:MOST_PARTS])
        ],
        "surplus": sorted(score.surplus)[:MOST_WORDS],
        "n_surplus": len(score.surplus),
        "n_hidden": max(0, len(row.retrieved_chunks) - MOST_PARTS),
        "strategy": row.strategy or "",
    }


def _json(item: ItemInFull, score: JsonScore) -> Shown:
    failure = ""
    if score.reason is not None:
        failure = f"{gettext(FAILURES[score.reason])} {score.output.field or ''}".strip()
    return {
        "question": score.question.question,
        "fields": [_field(item, score, number) for number in range(len(item.parts))],
        "failure": failure,
        "output": cut(score.question.output or ""),
    }


def _field(item: ItemInFull, score: JsonScore, number: int) -> Shown:
    said = _said(item, number)
    name, earned = said["key"], float(item.parts[number]["score"])
    expected, given = score.question.expected, score.output.fields or {}
    if name == "grounding":
        sides = _paths(score)
    elif (pairs := _coverage(score, name)) is not None:
        sides = _paired(pairs, expected.get(name), given.get(name))
    else:
        sides = (_lines(expected.get(name)), _lines(given.get(name)))
    return {
        "said": said,
        "label": item_label(EvaluationKind.JSON, name),
        "points": formatting.number(round(float(100 * WEIGHTS[name]) * earned, 2)),
        "weight": weight_of(name),
        "why": _why(score, name),
        "expected": sides[0],
        "given": sides[1],
    }


def _coverage(score: JsonScore, name: str) -> Coverage | None:
    return {"detailed_description": score.descriptions, "predicted_questions": score.questions}.get(
        name
    )


def _why(score: JsonScore, name: str) -> str:
    if not score.schema_ok:
        return gettext("The output failed, so every field has 0.")
    if name in CLASSES:
        return _why_alike(score.classes[name])
    if (pairs := _coverage(score, name)) is not None:
        return ngettext(
            "%(n)s pair; %(expected)s expected, %(given)s given and looked at, "
            "%(ignored)s beyond the limit.",
            "%(n)s pairs; %(expected)s expected, %(given)s given and looked at, "
            "%(ignored)s beyond the limit.",
            len(pairs.pairs),
            expected=pairs.n_expected,
            given=pairs.n_given,
            ignored=pairs.n_ignored,
        )
    if name == "original_evidence" and score.evidence is not None:
        return gettext(
            "%(hits)s of %(wanted)s keywords found (8 earn all), %(length)s characters "
            "(40 earn all): %(words)s",
            hits=len(score.evidence.hits),
            wanted=len(score.evidence.keywords),
            length=score.evidence.length,
            words=", ".join(score.evidence.hits) or "-",
        )
    ok = sum(reference.ok for reference in score.references)
    return gettext(
        "%(ok)s of %(n)s references lead back to the contexts.", ok=ok, n=len(score.references)
    )


def _why_alike(found: Likeness) -> str:
    if found.contained:
        return gettext("One text contains the other.")
    alike = formatting.figure(float(found.jaccard))
    if found.matches:
        return gettext("Jaccard of character pairs %(value)s, at least 0.72.", value=alike)
    return gettext("Jaccard of character pairs %(value)s, below 0.72.", value=alike)


def _paired(pairs: Coverage, expected: object, given: object) -> tuple[Lines, Lines]:
    numbers = {pair.expected: n for n, pair in enumerate(pairs.pairs, 1)}
    others = {pair.given: n for n, pair in enumerate(pairs.pairs, 1)}
    left = expected if isinstance(expected, list) else []
    right = given if isinstance(given, list) else []
    return (
        [_entry(text, numbers.get(i), "missed") for i, text in enumerate(left)],
        [
            _entry(text, others.get(i), "surplus" if i < pairs.n_given else "ignored")
            for i, text in enumerate(right)
        ],
    )


def _entry(text: object, pair: int | None, otherwise: str) -> tuple[str, str, int | None]:
    return cut(plain(text)), "common" if pair else otherwise, pair


def _paths(score: JsonScore) -> tuple[Lines, Lines]:
    found: Lines = []
    for one in score.references:
        file = cut(one.file or "-")
        if one.ok:
            found.append((f"{file}: “{cut(one.anchor or '')}”", "common", None))
        elif not one.file_known:
            words = gettext("%(file)s: the file is none of the contexts'", file=file)
            found.append((words, "surplus", None))
        else:
            found.append((gettext("%(file)s: no anchor found", file=file), "surplus", None))
    return [(cut(context.source_path), "", None) for context in score.question.contexts], found


def _lines(value: object) -> Lines:
    return [(line, "", None) for line in lines_of(value)]


def lines_of(value: object) -> list[str]:
    """Return a value of a JSON answer as one text for each entry."""
    if value is None:
        return []
    return [cut(plain(one)) for one in (value if isinstance(value, list) else [value])]


def plain(value: object) -> str:
    """Return a value of a JSON answer as a text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _marked(text: str, looks: Mapping[str, frozenset[str]]) -> list[tuple[str, str]]:
    pieces: list[tuple[str, str]] = []
    for piece in re.split(r"(\s+)", text):
        look = next((name for name, words in looks.items() if piece in words), "")
        if pieces and not look and not pieces[-1][1]:
            pieces[-1] = (pieces[-1][0] + piece, "")
        elif piece:
            pieces.append((piece, look))
    return pieces


def cut(text: Any) -> str:
    """Return a text as long as a page can bear."""
    words = str(text)
    return words if len(words) <= MOST_TEXT else words[:MOST_TEXT] + "…"
