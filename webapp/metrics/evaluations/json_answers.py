"""JSON answers against the expected ones: a score from 0 to 100 made of seven parts.

All parts are exact fractions. An output that is not the object that was asked for scores 0
with a reason (``json_outputs``), and stays in every mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct, field

from webapp.metrics.evaluations.json_outputs import (
    CLASSES,
    MOST_ITEMS,
    ReadOutput,
    SchemaFailure,
    read_output,
)
from webapp.metrics.evaluations.soft_match import Coverage, Likeness, cover, likeness

WEIGHTS = {
    "target_audience": Fraction(10, 100),
    "main_topic": Fraction(10, 100),
    "sub_topic": Fraction(10, 100),
    "detailed_description": Fraction(30, 100),
    "original_evidence": Fraction(20, 100),
    "predicted_questions": Fraction(10, 100),
    "grounding": Fraction(10, 100),
}
"""The parts of the score with their weights, which add up to 1."""

MOST_DESCRIPTIONS = 12
MOST_QUESTIONS = 10
MOST_KEYWORDS = 30
HITS_FOR_ALL = 8
LENGTH_FOR_ALL = 40
MOST_ENTRIES = 12
MOST_REFS = 6
MOST_ANCHORS = 6

_ENGLISH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{2,}")
_CHINESE = re.compile("[\u4e00-\u9fff]{2,}")


class Context(Struct, frozen=True):
    """One text that the model was given, with the file it is from."""

    source_path: str
    text: str


class JsonQuestion(Struct, frozen=True):
    """One question with its expected answer, the model's raw output and its contexts."""

    row_id: str
    question: str
    expected: Mapping[str, Any]
    output: str | None
    contexts: tuple[Context, ...] = ()


class KeywordEvidence(Struct, frozen=True):
    """Keywords expected and found again, and the length of the given text.

    score = min(1, hits / 8) x (1 if length >= 40 else length / 40).
    """

    keywords: tuple[str, ...] = ()
    hits: tuple[str, ...] = ()
    length: int = 0

    @property
    def score(self) -> Fraction:
        """The part's score."""
        found = min(Fraction(1), Fraction(len(self.hits), HITS_FOR_ALL))
        return found * min(Fraction(1), Fraction(self.length, LENGTH_FOR_ALL))


class Reference(Struct, frozen=True):
    """One reference of the answer's source_map: the file it names and where it points.

    ``entry`` and ``ref`` are positions from 0; ``anchor`` is the first one that was found.
    """

    entry: int
    ref: int
    file: str | None
    file_known: bool
    anchor: str | None

    @property
    def ok(self) -> bool:
        """Whether the file is one of the contexts' and their text contains an anchor."""
        return self.file_known and self.anchor is not None


class JsonScore(Struct, frozen=True):
    """One answer scored, field by field; without ``fields`` every part is 0.

    ``parts`` are the sub-scores from 0 to 1 in the order of ``WEIGHTS``; the rest says why.
    """

    question: JsonQuestion
    output: ReadOutput
    parts: Mapping[str, Fraction]
    classes: Mapping[str, Likeness] = field(default_factory=dict)
    descriptions: Coverage | None = None
    questions: Coverage | None = None
    evidence: KeywordEvidence | None = None
    references: tuple[Reference, ...] = ()

    @property
    def schema_ok(self) -> bool:
        """Whether the output is the object that was asked for."""
        return self.output.fields is not None

    @property
    def reason(self) -> SchemaFailure | None:
        """Why it is not."""
        return self.output.reason

    @property
    def score(self) -> Fraction:
        """100 x the weighted sum of the parts."""
        return 100 * sum((WEIGHTS[name] * part for name, part in self.parts.items()), Fraction(0))

    @property
    def too_long(self) -> tuple[str, ...]:
        """The lists that have more items than they may, which is a warning."""
        given = self.output.fields or {}
        return tuple(name for name, most in MOST_ITEMS.items() if len(given.get(name, ())) > most)


def score(question: JsonQuestion) -> JsonScore:
    """The score of one answer against what was expected."""
    output = read_output(question.output)
    if output.fields is None:
        return JsonScore(question, output, dict.fromkeys(WEIGHTS, Fraction(0)))
    expected, given = question.expected, output.fields
    classes = {name: likeness(expected.get(name), given[name]) for name in CLASSES}
    descriptions = _cover("detailed_description", expected, given, MOST_DESCRIPTIONS)
    questions = _cover("predicted_questions", expected, given, MOST_QUESTIONS)
    evidence = evidence_of(_text(expected.get("original_evidence")), given["original_evidence"])
    references = tuple(_references(given["source_map"], question.contexts))
    parts = {name: Fraction(found.matches) for name, found in classes.items()}
    parts["detailed_description"] = descriptions.f1
    parts["original_evidence"] = evidence.score
    parts["predicted_questions"] = questions.f1
    parts["grounding"] = grounding(references)
    return JsonScore(
        question, output, parts, classes, descriptions, questions, evidence, references
    )


def keywords(text: str) -> tuple[str, ...]:
    """The distinct keywords of `text`: English tokens in lower case, then Chinese bigrams.

    A token is a letter or digit, then two or more letters, digits, ``.``, ``_`` or ``-``.

    >>> keywords("The LoRA-v2 adapter, v1 資料集")
    ('the', 'lora-v2', 'adapter', '資料', '料集')
    """
    english = [token.lower() for token in _ENGLISH.findall(text)]
    chinese = [run[i : i + 2] for run in _CHINESE.findall(text) for i in range(len(run) - 1)]
    return tuple(dict.fromkeys([*english, *chinese]))


def evidence_of(expected: str, given: str) -> KeywordEvidence:
    """The first 30 keywords of `expected` and those of them that are keywords of `given`.

    >>> found = evidence_of("sertifikat hak milik", "Sertifikat hak milik, lengkap")
    >>> found.hits, found.length, found.score  # 3/8 x 29/40
    (('sertifikat', 'hak', 'milik'), 29, Fraction(87, 320))
    """
    wanted = keywords(expected)[:MOST_KEYWORDS]
    there = set(keywords(given))
    return KeywordEvidence(
        wanted, tuple(word for word in wanted if word in there), len(given.strip())
    )


def grounding(references: Sequence[Reference]) -> Fraction:
    """References that are ok / references looked at; 0 without any."""
    if not references:
        return Fraction(0)
    return Fraction(sum(reference.ok for reference in references), len(references))


def _cover(name: str, expected: Mapping[str, Any], given: Mapping[str, Any], most: int) -> Coverage:
    wanted = expected.get(name)
    return cover(wanted if isinstance(wanted, list) else [], given[name], most=most)


def _references(entries: Sequence[object], contexts: Sequence[Context]) -> Iterator[Reference]:
    files = {context.source_path for context in contexts}
    text = "\n".join(context.text for context in contexts)
    for position, entry in enumerate(entries[:MOST_ENTRIES]):
        for number, ref in enumerate(_list_in(entry, "refs")[:MOST_REFS]):
            file = ref.get("file") if isinstance(ref, dict) else None
            anchors = _list_in(ref, "anchors")[:MOST_ANCHORS]
            yield Reference(
                entry=position,
                ref=number,
                file=file if isinstance(file, str) else None,
                file_known=isinstance(file, str) and file in files,
                anchor=next((a for a in map(_text, anchors) if a.strip() and a in text), None),
            )


def _list_in(outer: object, key: str) -> list[Any]:
    """The list under `key` of an object; an empty one where there is none."""
    inner = outer.get(key) if isinstance(outer, dict) else None
    return inner if isinstance(inner, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
