"""One item of an evaluation as its page shows it: the score of each part, and its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.evaluations.answers import SentenceVerdict, Support
from webapp.metrics.evaluations.chunks import ChunkScore
from webapp.metrics.evaluations.json_answers import WEIGHTS, JsonScore
from webapp.metrics.evaluations.json_outputs import CLASSES, SchemaFailure
from webapp.metrics.evaluations.soft_match import Coverage, Likeness
from webapp.services.evaluations.evaluations import ItemInFull
from webapp.services.evaluations.rows import MOST_PARTS, EvaluationKind, score_again
from webapp.web.evaluations import figures
from webapp.web.frame import formatting

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


class JudgeablePart(Struct, frozen=True):
    """A part that may be judged: its name in the form, the machine's score, the rater's verdict."""

    key: str
    passed: bool | None
    verdict: int | None


class Segment(Struct, frozen=True):
    """A piece of a text; ``look`` is "common", "missed", "surplus" or empty."""

    text: str
    look: str = ""


class SentenceShown(Struct, frozen=True):
    """One sentence of an answer beside the contexts it cites, by id (none: not there)."""

    said: JudgeablePart
    text: str
    look: str
    support: str
    cosine: str
    contexts: tuple[tuple[str, str | None], ...]


class ChunkShown(Struct, frozen=True):
    """One chunk, its words in common with the expected answer marked."""

    said: JudgeablePart
    segments: tuple[Segment, ...]
    n_common: int
    n_words: int


class ListLine(Struct, frozen=True):
    """One line of a field; ``look`` as in a segment, ``pair`` the number of its pair, if any."""

    text: str
    look: str = ""
    pair: int | None = None


class FieldShown(Struct, frozen=True):
    """One field of a JSON answer: points earned of those possible, the reason, both sides."""

    said: JudgeablePart
    label: str
    score: str
    points: str
    weight: str
    why: str
    expected: tuple[ListLine, ...]
    given: tuple[ListLine, ...]


class ItemInWords(Struct, frozen=True):
    """One item: its question, the expected answer, and its parts, of which one kind is filled.

    ``n_hidden`` parts are not shown; ``failure`` says why an output is unusable.
    """

    question: str
    expected: tuple[Segment, ...]
    sentences: tuple[SentenceShown, ...] = ()
    chunks: tuple[ChunkShown, ...] = ()
    fields: tuple[FieldShown, ...] = ()
    surplus: tuple[str, ...] = ()
    n_surplus: int = 0
    n_hidden: int = 0
    failure: str = ""
    output: str = ""
    strategy: str = ""


def shown(kind: EvaluationKind, item: ItemInFull) -> ItemInWords:
    """Return the content of an item's page."""
    score, verdicts = score_again(kind, item.row, item.parts)
    if isinstance(score, ChunkScore):
        return _chunks(item, score)
    if isinstance(score, JsonScore):
        return _json(item, score)
    return _answer(item, verdicts)


def _said(item: ItemInFull, number: int) -> JudgeablePart:
    part = item.parts[number]
    return JudgeablePart(part["key"], part["passed"], item.judged.get(part["key"]))


def _answer(item: ItemInFull, verdicts: Sequence[SentenceVerdict]) -> ItemInWords:
    contexts: Mapping[str, str] = item.row["contexts"]
    found = tuple(
        SentenceShown(
            said=_said(item, number),
            text=cut(verdict.sentence.text),
            look=SUPPORTS[verdict.support][0],
            support=gettext(SUPPORTS[verdict.support][1]),
            cosine=""
            if verdict.cosine is None
            else formatting.figure(verdict.cosine, "coefficient"),
            contexts=tuple(
                (name, cut(contexts[name]) if name in contexts else None)
                for name in dict.fromkeys(verdict.sentence.citations)
            ),
        )
        for number, verdict in enumerate(verdicts[:MOST_PARTS])
    )
    gold = item.row["gold"]
    return ItemInWords(
        question=item.row["question"],
        expected=() if gold is None else (Segment(cut(gold)),),
        sentences=found,
        n_hidden=max(0, len(verdicts) - MOST_PARTS),
    )


def _chunks(item: ItemInFull, score: ChunkScore) -> ItemInWords:
    texts = score.row.retrieved_chunks
    found = tuple(
        ChunkShown(
            said=_said(item, number),
            segments=tuple(_marked(cut(text), {"common": score.common})),
            n_common=len(score.chunk_words[number]),
            n_words=len(set(text.split())),
        )
        for number, text in enumerate(texts[:MOST_PARTS])
    )
    looks = {"common": score.common, "missed": score.missed}
    return ItemInWords(
        question=score.row.question,
        expected=tuple(_marked(cut(score.row.expected_answer), looks)),
        chunks=found,
        surplus=tuple(sorted(score.surplus)[:MOST_WORDS]),
        n_surplus=len(score.surplus),
        n_hidden=max(0, len(texts) - MOST_PARTS),
        strategy=score.row.strategy or "",
    )


def _json(item: ItemInFull, score: JsonScore) -> ItemInWords:
    failure = ""
    if score.reason is not None:
        failure = f"{gettext(FAILURES[score.reason])} {score.output.field or ''}".strip()
    return ItemInWords(
        question=score.question.question,
        expected=(),
        fields=tuple(_field(item, score, number) for number in range(len(item.parts))),
        failure=failure,
        output=cut(score.question.output or ""),
    )


def _field(item: ItemInFull, score: JsonScore, number: int) -> FieldShown:
    said = _said(item, number)
    name, earned = said.key, float(item.parts[number]["score"])
    expected, given = score.question.expected, score.output.fields or {}
    if name == "grounding":
        sides = _paths(score)
    elif (pairs := _coverage(score, name)) is not None:
        sides = _paired(pairs, expected.get(name), given.get(name))
    else:
        sides = (_lines(expected.get(name)), _lines(given.get(name)))
    return FieldShown(
        said=said,
        label=figures.item_label(EvaluationKind.JSON, name),
        score=formatting.figure(earned),
        points=formatting.number(round(float(100 * WEIGHTS[name]) * earned, 2)),
        weight=figures.weight(name),
        why=_why(score, name),
        expected=sides[0],
        given=sides[1],
    )


def _coverage(score: JsonScore, name: str) -> Coverage | None:
    return {"detailed_description": score.descriptions, "predicted_questions": score.questions}.get(
        name
    )


def _why(score: JsonScore, name: str) -> str:
    """The reason for a field's points, in a sentence."""
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


def _paired(
    pairs: Coverage, expected: object, given: object
) -> tuple[tuple[ListLine, ...], tuple[ListLine, ...]]:
    """Both lists, paired items with the number of their pair."""
    numbers = {pair.expected: n for n, pair in enumerate(pairs.pairs, 1)}
    others = {pair.given: n for n, pair in enumerate(pairs.pairs, 1)}
    left = expected if isinstance(expected, list) else []
    right = given if isinstance(given, list) else []
    return (
        tuple(_entry(text, numbers.get(i), "missed") for i, text in enumerate(left)),
        tuple(
            _entry(text, others.get(i), "surplus" if i < pairs.n_given else "ignored")
            for i, text in enumerate(right)
        ),
    )


def _entry(text: object, pair: int | None, otherwise: str) -> ListLine:
    return ListLine(cut(plain(text)), "common" if pair else otherwise, pair)


def _paths(score: JsonScore) -> tuple[tuple[ListLine, ...], tuple[ListLine, ...]]:
    """The files of the contexts, and every reference with its outcome."""
    files = tuple(ListLine(cut(context.source_path)) for context in score.question.contexts)
    found = []
    for one in score.references:
        file = cut(one.file or "-")
        if one.ok:
            found.append(ListLine(f"{file}: “{cut(one.anchor or '')}”", "common"))
        elif not one.file_known:
            words = gettext("%(file)s: the file is none of the contexts'", file=file)
            found.append(ListLine(words, "surplus"))
        else:
            found.append(ListLine(gettext("%(file)s: no anchor found", file=file), "surplus"))
    return files, tuple(found)


def _lines(value: object) -> tuple[ListLine, ...]:
    if value is None:
        return ()
    return tuple(
        ListLine(cut(plain(one))) for one in (value if isinstance(value, list) else [value])
    )


def plain(value: object) -> str:
    """Return a value of a JSON answer as a text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _marked(text: str, looks: Mapping[str, frozenset[str]]) -> Iterator[Segment]:
    """The text in pieces: words that have a look, and the text between them."""
    waiting = ""
    for piece in re.split(r"(\s+)", text):
        look = next((name for name, words in looks.items() if piece in words), "")
        if not look:
            waiting += piece
            continue
        if waiting:
            yield Segment(waiting)
        waiting = ""
        yield Segment(piece, look)
    if waiting:
        yield Segment(waiting)


def cut(text: Any) -> str:
    """Return a text as long as a page can bear."""
    words = str(text)
    return words if len(words) <= MOST_TEXT else words[:MOST_TEXT] + "…"
