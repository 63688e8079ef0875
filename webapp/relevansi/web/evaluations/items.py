"""One item of an evaluation as its page shows it: the score of each part, and its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import convert

from relevansi import notation
from relevansi.db.tables.evaluations import EvaluationItem
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.evaluations import chunks, json_answers
from relevansi.metrics.evaluations.answers import Support, sentences
from relevansi.metrics.evaluations.chunks import ChunkRow
from relevansi.metrics.evaluations.json_answers import (
    CLASSES,
    WEIGHTS,
    JsonQuestion,
    JsonScore,
    SchemaFailure,
)
from relevansi.metrics.evaluations.registry import EVALUATIONS
from relevansi.metrics.evaluations.similarity import Coverage
from relevansi.services.evaluations.evaluations import ITEM_FIGURES, EvaluationKind

LABELS = {
    "overlap": mark("Supported claims (overlap)"),
    "faithfulness": mark("Faithfulness (fallback)"),
    "faithfulness_judge": mark("Faithfulness (judge)"),
    "em": mark("Exact match"),
    "total_tokens": mark("Tokens"),
    "latency_ms": mark("Latency (ms)"),
    "score": mark("Score"),
    "target_audience": mark("Target audience"),
    "main_topic": mark("Main topic"),
    "sub_topic": mark("Sub-topic"),
}
"""What figures of an item are called that are not called as the figures of a summary."""

NO_RATIOS = {"total_tokens": 1, "latency_ms": 1, "score": 2}
"""The figures of an item that are no ratios, with the decimals that they are shown with."""

MOST_PARTS = 200
MOST_CHARACTERS = 500_000
LONGEST_PART = 20_000
"""What a page shows of the parts of an item, of all together and of each, in characters."""
_SHORT = 200  # characters, which are never cut

Fields = dict[str, Any]
"""What a template reads, by name."""
Lines = list[tuple[str, str, int | None]]
"""Texts, each with a look ("common", "missed", "surplus", "ignored" or none) and its pair."""


def figures(kind: EvaluationKind, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = [*ITEM_FIGURES[kind], "total_tokens", "latency_ms", "faithfulness_judge"]
    if kind is EvaluationKind.JSON:
        names = ["score"]
    return [(item_label(kind, key), _number(key, result[key])) for key in names if key in result]


def _number(name: str, value: float | None) -> str:
    if value is None or name not in NO_RATIOS:
        return notation.figure(value)
    return notation.number(round(value, NO_RATIOS[name]))


def item_label(kind: EvaluationKind, name: str) -> str:
    if kind is EvaluationKind.ANSWERS and name == "f1":
        return gettext("F1 (words)")
    return gettext(LABELS.get(name) or EVALUATIONS[kind].measures[name].label)


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


def item_fields(kind: EvaluationKind, item: EvaluationItem) -> Fields:
    """Return what the page of an item shows beside its figures: each part as it was scored.

    Why it was scored so is computed anew from the row, but no embedder is asked again: the stored
    parts have the cosines.
    """
    fields = {
        EvaluationKind.ANSWERS: _answer,
        EvaluationKind.CHUNKS: _chunks,
        EvaluationKind.JSON: _json,
    }[kind](item)
    cut = {name: _cut(fields[name], LONGEST_PART)[0] for name in fields if name != "parts"}
    cut["parts"], room = [], MOST_CHARACTERS
    for part in fields["parts"][:MOST_PARTS]:
        if room > 0:
            share = min(LONGEST_PART, room)
            part_cut, unused = _cut(part, share)
            cut["parts"].append(part_cut)
            room -= share - unused
    return {**cut, "is_cut": cut != fields, "n_parts": len(fields["parts"])}


def _cut(value: Any, room: int) -> tuple[Any, int]:
    """A value whose texts and entries have no more characters together than there is room for.

    The room that is left comes with it. Entries of a list behind the first for which there is none
    are left out.
    """
    match value:
        case str() if len(value) > max(room, _SHORT):
            return f"{value[: max(room, _SHORT)]}…", 0
        case str():
            return value, room - len(value)
        case dict():
            fields: Fields = {}
            for name, inner in value.items():
                fields[name], room = _cut(inner, room)
            return fields, room
        case list() | tuple():
            entries: list[Any] = []
            for inner in value:
                if isinstance(value, list) and entries and room <= 0:
                    break
                entry, room = _cut(inner, room - 1)
                entries.append(entry)
            return type(value)(entries), room
    return value, room


def _answer(item: EvaluationItem) -> Fields:
    gold, contexts = item.row["gold"], item.row["contexts"]
    parts = []
    for part, sentence in zip(item.parts, sentences(item.row["answer"]), strict=True):
        look, support = SUPPORTS[part["support"]]
        cosine = part["cosine"]
        in_words = {
            "text": sentence.text,
            "look": look,
            "support": gettext(support),
            "cosine": "" if cosine is None else notation.figure(cosine, "coefficient"),
            "contexts": [(name, contexts.get(name)) for name in dict.fromkeys(sentence.citations)],
        }
        parts.append({**part, **in_words})
    return {"expected": () if gold is None else ((gold, ""),), "parts": parts}


def _chunks(item: EvaluationItem) -> Fields:
    score = chunks.score(convert(item.row, ChunkRow))
    looks = {"common": score.common, "missed": score.missed}
    parts = []
    for part, text in zip(item.parts, score.row.retrieved_chunks, strict=True):
        words = set(text.split())
        counts = {"n_common": len(words & score.common), "n_words": len(words)}
        parts.append({**part, **counts, "segments": _marked(text, {"common": score.common})})
    return {
        "expected": _marked(score.row.expected_answer, looks),
        "surplus": sorted(score.surplus),
        "n_surplus": len(score.surplus),
        "parts": parts,
    }


def _json(item: EvaluationItem) -> Fields:
    score, failure = json_answers.score(convert(item.row, JsonQuestion)), ""
    if score.reason is not None:
        failure = f"{gettext(FAILURES[score.reason])} {score.output.field or ''}".strip()
    parts = [{**part, **_field(score, part["key"], float(part["score"]))} for part in item.parts]
    return {"parts": parts, "failure": failure, "output": score.question.output}


def _field(score: JsonScore, name: str, earned: float) -> Fields:
    expected, answered = score.question.expected.get(name), (score.output.fields or {}).get(name)
    coverage = {"detailed_description": score.descriptions, "predicted_questions": score.questions}
    pairs = coverage.get(name)
    expected_lines: Lines = [(line, "", None) for line in lines_of(expected)]
    answered_lines: Lines = [(line, "", None) for line in lines_of(answered)]
    if name == "grounding":
        expected_lines, answered_lines = _paths(score)
    elif pairs is not None:
        expected_lines, answered_lines = _paired(pairs, expected, answered)
    weight = float(100 * WEIGHTS[name])
    return {
        "label": item_label(EvaluationKind.JSON, name),
        "points": notation.number(round(weight * earned, 2)),
        "weight": notation.number(weight),
        "why": _why(score, name, pairs),
        "expected": expected_lines,
        "given": answered_lines,
    }


def _why(score: JsonScore, name: str, pairs: Coverage | None) -> str:
    """Return why a field of a JSON answer earned its points."""
    if not score.schema_ok:
        return gettext("The output failed, so every field has 0.")
    if name in CLASSES:
        field_class = score.classes[name]
        if field_class.contained:
            return gettext("One text contains the other.")
        alike = notation.figure(float(field_class.jaccard))
        words = mark("Jaccard of character pairs %(value)s, below 0.72.")
        if field_class.matches:
            words = mark("Jaccard of character pairs %(value)s, at least 0.72.")
        return gettext(words, value=alike)
    if pairs is not None:
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
    ok, n = sum(reference.ok for reference in score.references), len(score.references)
    return gettext("%(ok)s of %(n)s references lead back to the contexts.", ok=ok, n=n)


def _paired(pairs: Coverage, expected: object, answered: object) -> tuple[Lines, Lines]:
    """Return expected and answered texts, marked by the pairs that they form."""

    def side(texts: object, place: int, unpaired: str) -> Lines:
        numbers = {pair[place]: number for number, pair in enumerate(pairs.pairs, 1)}
        lines: Lines = []
        for at, text in enumerate(texts if isinstance(texts, list) else []):
            look = "common" if at in numbers else unpaired
            if look == "surplus" and at >= pairs.n_given:
                look = "ignored"
            lines.append((plain(text), look, numbers.get(at)))
        return lines

    return side(expected, 0, "missed"), side(answered, 1, "surplus")


def _paths(score: JsonScore) -> tuple[Lines, Lines]:
    quoted: Lines = []
    for reference in score.references:
        file = reference.file or "-"
        line = gettext("%(file)s: no anchor found", file=file)
        if reference.ok:
            line = f"{file}: “{reference.anchor}”"
        elif not reference.file_known:
            line = gettext("%(file)s: the file is none of the contexts'", file=file)
        quoted.append((line, "common" if reference.ok else "surplus", None))
    return [(context.source_path, "", None) for context in score.question.contexts], quoted


def lines_of(value: object) -> list[str]:
    """Return a value of a JSON answer as one text for each entry."""
    if value is None:
        return []
    return [plain(part) for part in (value if isinstance(value, list) else [value])]


def plain(value: object) -> str:
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
