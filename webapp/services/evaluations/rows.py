"""A scored row as it is stored: the input, the item, its parts, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from msgspec import Struct, to_builtins

from webapp.exporters.evaluations import score_documents as documents
from webapp.metrics.evaluations import answers, chunks, json_answers
from webapp.metrics.evaluations.answers import (
    AnswerRow,
    AnswerScore,
    LlmCall,
    SentenceVerdict,
    Support,
)
from webapp.metrics.evaluations.chunks import ChunkRow, ChunkScore
from webapp.metrics.evaluations.json_answers import WEIGHTS, Context, JsonQuestion, JsonScore
from webapp.metrics.evaluations.sentences import sentences

Score: TypeAlias = AnswerScore | ChunkScore | JsonScore

GRADE = "grade"
"""The part that is the whole item: graded 0 to 5."""

MOST_PARTS = 200
"""Sentences or chunks of one item that people are shown; the page says how many more there are."""

LEAST_PASSED = 0.5
"""A field that earned at least this share counts as passed by the machine."""


class EvaluationKind(StrEnum):
    """Which automatic evaluation."""

    ANSWERS = "answers"
    CHUNKS = "chunks"
    JSON = "json-v2"


HEADLINES = {
    EvaluationKind.ANSWERS: ("overlap", "f1"),
    EvaluationKind.CHUNKS: ("f1",),
    EvaluationKind.JSON: ("score",),
}
"""The headline figure of an item, else the next one; 0 to 1, a score to 100."""

FIGURES = {
    EvaluationKind.ANSWERS: ("overlap", "faithfulness", "em", "f1"),
    EvaluationKind.CHUNKS: chunks.FIGURES,
    EvaluationKind.JSON: ("score", *WEIGHTS),
}
"""The figures of an item that may predict a grade."""

COLUMNS = {
    EvaluationKind.ANSWERS: documents.ANSWER_ITEM,
    EvaluationKind.CHUNKS: documents.CHUNK_ITEM,
    EvaluationKind.JSON: documents.JSON_ITEM,
}
"""The columns of the table of items."""


class ScoredRow(Struct, frozen=True):
    """One scored row, ready to be kept.

    Each of ``parts`` has a ``key`` and the machine's verdict, ``passed`` (null: none).
    """

    item_id: str
    row: Mapping[str, Any]
    result: Mapping[str, Any]
    parts: tuple[Mapping[str, Any], ...]
    failed: bool


def of_answer(score: AnswerScore) -> ScoredRow:
    """A cited answer; it failed where a claim is not supported or a contract is broken."""
    parts = tuple(
        {
            "key": str(number),
            "passed": _supported(verdict.support),
            "support": str(verdict.support),
            "cosine": verdict.cosine,
        }
        for number, verdict in enumerate(score.verdicts)
    )
    failed = score.idk_with_citation > 0 or any(part["passed"] is False for part in parts)
    kept = to_builtins(score.row)
    return ScoredRow(score.row.row_id, kept, documents.answer_item(score), parts, failed)


def of_chunks(score: ChunkScore) -> ScoredRow:
    """A row of chunks; a chunk passes with a word in common, the row fails with none."""
    parts = tuple(
        {"key": str(number), "passed": bool(words)}
        for number, words in enumerate(score.chunk_words)
    )
    kept = to_builtins(score.row)
    return ScoredRow(score.row.row_id, kept, documents.chunk_item(score), parts, not score.common)


def of_json(score: JsonScore) -> ScoredRow:
    """A JSON answer; a field passes with half of its points, a wrong form fails the answer."""
    parts = tuple(
        {"key": name, "passed": part >= LEAST_PASSED, "score": float(part)}
        for name, part in score.parts.items()
    )
    kept = to_builtins(score.question)
    item = documents.json_item(score)
    return ScoredRow(score.question.row_id, kept, item, parts, not score.schema_ok)


def score_again(
    kind: EvaluationKind, row: Mapping[str, Any], parts: tuple[Mapping[str, Any], ...]
) -> tuple[Score, tuple[SentenceVerdict, ...]]:
    """The score of a kept row with all that explains it, and an answer's sentences.

    No embedder is asked again: the sentences' cosines are kept in the parts.
    """
    if kind is EvaluationKind.ANSWERS:
        answer = _answer(row)
        verdicts = tuple(
            SentenceVerdict(sentence, Support(part["support"]), part["cosine"])
            for sentence, part in zip(sentences(answer.answer), parts, strict=True)
        )
        return answers.score(answer), verdicts
    if kind is EvaluationKind.CHUNKS:
        chunk_row = ChunkRow(**{**row, "retrieved_chunks": tuple(row["retrieved_chunks"])})
        return chunks.score(chunk_row), ()
    contexts = tuple(Context(**one) for one in row["contexts"])
    return json_answers.score(JsonQuestion(**{**row, "contexts": contexts})), ()


def headline(kind: EvaluationKind, result: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the headline figure of an item, its name and value from 0 to 1, if it has one."""
    name = next((name for name in HEADLINES[kind] if result[name] is not None), None)
    if name is None:
        return None
    return name, result[name] / 100 if kind is EvaluationKind.JSON else result[name]


def _supported(support: Support) -> bool | None:
    if support in (Support.DO_NOT_KNOW, Support.DO_NOT_KNOW_CITED, Support.NOT_MEASURED):
        return None
    return support is Support.SUPPORTED


def _answer(row: Mapping[str, Any]) -> AnswerRow:
    calls = row["calls"]
    given = row["claim_similarities"]
    return AnswerRow(
        **{
            **row,
            "calls": None if calls is None else tuple(LlmCall(**call) for call in calls),
            "claim_similarities": None if given is None else tuple(given),
        }
    )
