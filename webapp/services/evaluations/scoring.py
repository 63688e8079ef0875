"""Files scored by the automatic evaluations, row by row; problems come between the scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any, BinaryIO, TypeVar

from msgspec import Struct

from webapp.exporters.evaluations import score_documents as documents
from webapp.importers.agreement import manual_input
from webapp.importers.evaluations import cited_answers, expected_json, retrieved_chunks
from webapp.importers.evaluations.expected_json import JsonAnswerSet, UnusableProvenance
from webapp.importers.gold import gold_questions, listed_properties, manual_decisions
from webapp.importers.runs.problems import error, warning
from webapp.metrics.evaluations import answers, chunks, json_answers
from webapp.metrics.evaluations.answer_summary import AnswerSummary
from webapp.metrics.evaluations.answers import (
    AnswerRow,
    AnswerScale,
    AnswerScore,
    SimilaritiesDoNotFit,
)
from webapp.metrics.evaluations.chunks import ChunkScore, ChunkSummary
from webapp.metrics.evaluations.json_answer_summary import Gate, JsonSummary
from webapp.metrics.evaluations.json_answers import JsonScore
from webapp.metrics.gold import constraints
from webapp.metrics.gold.constraints import (
    DEFAULT_THRESHOLD,
    NO_DECISIONS,
    ConstraintReport,
    GoldQuestion,
    MissingRule,
)
from webapp.records import Problem

Row = TypeVar("Row")
Score = TypeVar("Score")


class NamedBytes(Struct, frozen=True):
    """The name and the bytes of one file."""

    name: str
    data: bytes


class ConstraintScoring(Struct, frozen=True):
    """A run evaluated against a gold file, and the problems of the files."""

    report: ConstraintReport
    problems: tuple[Problem, ...]


class ScoredFile(Struct, frozen=True):
    """A file scored row by row: how many rows were, the head of its report, and its figures."""

    n_scored: int
    head: dict[str, Any]
    figures: list[dict[str, Any]]


class JsonScoring(Struct, frozen=True):
    """JSON answers scored: the dev set first where one is named, then all.

    ``scores`` and ``summary`` are those of the dev set alone where it did not pass the gate
    that was asked to hold (`stopped`).
    """

    summary: JsonSummary
    scores: tuple[JsonScore, ...]
    subset: JsonSummary | None = None
    stopped: bool = False


def constraint_scoring(
    gold: NamedBytes,
    results: NamedBytes,
    manual: NamedBytes | None = None,
    *,
    threshold: Fraction | None = None,
    missing: MissingRule = MissingRule.COUNTED,
) -> ConstraintScoring:
    """The cards of `results` against `gold`, with people's decisions in `manual`.

    The threshold is the one given, else the gold file's, else 0.6. Decisions on questions
    or cards that are not there are reported, as are results without a gold question.
    """
    asked = gold_questions.read(gold.name, gold.data)
    listed = listed_properties.read(results.name, results.data)
    problems = list(listed.problems)
    ids = {question.query_id for question in asked.questions}
    problems += [
        warning("result_without_question", results.name, query_id=query_id)
        for query_id in listed.cards
        if query_id not in ids
    ]
    decisions = NO_DECISIONS
    if manual is not None:
        decided = manual_input.read(manual.name, manual.data)
        decisions = manual_decisions.decisions(decided)
        counts = {query_id: len(listed.cards.get(query_id, ())) for query_id in ids}
        problems += [*decided.problems, *manual_input.check_cards(decided, counts)]
        problems += _on_automatic(manual.name, asked.questions, decisions)
    report = constraints.evaluate(
        asked.questions,
        listed.cards,
        threshold=_threshold(threshold, asked.threshold),
        decisions=decisions,
        missing=missing,
    )
    return ConstraintScoring(report, tuple(problems))


def score_answers(
    name: str,
    file: BinaryIO,
    scale: AnswerScale,
    take: Callable[[AnswerScore], None],
    tell: Callable[[Problem], None],
    *,
    first: int | None = None,
) -> ScoredFile:
    """The summary of the cited answers in `file`; `take` gets each score, `tell` each problem.

    `first` is the number of rows after which to stop.
    """

    def scored(line: int, row: AnswerRow) -> AnswerScore | Problem:
        try:
            return answers.score(row, scale)
        except SimilaritiesDoNotFit as wrong:
            counts = {"found": wrong.n_given, "expected": wrong.n_claims}
            return error("line_similarities_count", name, counts, line=line)

    summary, rows = AnswerSummary(), cited_answers.read(name, file)
    left_out = _all(_scores(rows, scored, first), summary.add, take, tell)
    head = documents.answers_head(summary, scale, first=first, left_out=left_out)
    return ScoredFile(summary.count, head, documents.answer_figures(summary))


def score_chunks(
    name: str,
    file: BinaryIO,
    take: Callable[[ChunkScore], None],
    tell: Callable[[Problem], None],
    *,
    first: int | None = None,
) -> ScoredFile:
    """The summary of the chunks in `file`; `take` gets the score of each row, `tell` problems."""
    summary, rows = ChunkSummary(), retrieved_chunks.read(name, file)
    found = _scores(rows, lambda _line, row: chunks.score(row), first)
    left_out = _all(found, summary.add, take, tell)
    head = documents.chunks_head(summary, first=first, left_out=left_out)
    return ScoredFile(summary.overall.count, head, documents.chunk_figures(summary))


def json_scoring(
    answered: JsonAnswerSet,
    *,
    gate: Gate,
    subset: Sequence[str] | None = None,
    stop_at_gate: bool = False,
) -> JsonScoring:
    """The score of every answer; those of the dev set `subset` have a summary of their own.

    With `stop_at_gate`, a dev set that does not pass ends the scoring: the rest is not
    read.
    """
    if subset is None:
        return _json(answered, gate)
    wanted = set(subset)
    dev = tuple(q for q in answered.questions if q.row_id in wanted)
    dev_set = _json(JsonAnswerSet(dev, answered.provenance), gate)
    if stop_at_gate and not dev_set.summary.gate_passed:
        return JsonScoring(dev_set.summary, dev_set.scores, dev_set.summary, stopped=True)
    whole = _json(answered, gate)
    return JsonScoring(whole.summary, whole.scores, dev_set.summary)


def subset_problems(name: str, ids: Sequence[str], answered: JsonAnswerSet) -> tuple[Problem, ...]:
    """Return the problems of a dev set: ids that are not a question of the set."""
    return expected_json.check_subset(name, ids, [q.row_id for q in answered.questions])


def check_prompt(prompt: NamedBytes, provenance: Mapping[str, str]) -> None:
    """Return if `prompt` is the one that the answers state; raises `UnusableProvenance`."""
    own, stated = sha256(prompt.data).hexdigest(), provenance["prompt_sha256"]
    if own != stated.lower():
        words = {"own": own, "stated": stated}
        raise UnusableProvenance(error("other_prompt", prompt.name, words))


def _json(answered: JsonAnswerSet, gate: Gate) -> JsonScoring:
    summary = JsonSummary(gate)
    scores = tuple(json_answers.score(question) for question in answered.questions)
    for score in scores:
        summary.add(score)
    return JsonScoring(summary, scores)


def _all(
    found: Iterator[Score | Problem],
    add: Callable[[Score], None],
    take: Callable[[Score], None],
    tell: Callable[[Problem], None],
) -> int:
    """Take every score and tell every problem; return how many lines were left out."""
    left_out, last = 0, None
    for one in found:
        if isinstance(one, Problem):
            tell(one)
            left_out += one.line is None or one.line != last
            last = one.line
        else:
            add(one)
            take(one)
    return left_out


def _scores(
    rows: Iterator[tuple[int, Row] | Problem],
    scored: Callable[[int, Row], Score | Problem],
    first: int | None,
) -> Iterator[Score | Problem]:
    """The scores of the first rows; a line with several problems is one row."""
    n_rows, last = 0, None
    for found in rows:
        line = found.line if isinstance(found, Problem) else found[0]
        if line != last:
            n_rows, last = n_rows + 1, line
        if first is not None and n_rows > first:
            return
        yield found if isinstance(found, Problem) else scored(*found)


def _threshold(stated: Fraction | None, in_file: Fraction | None) -> Fraction:
    if stated is not None:
        return stated
    return DEFAULT_THRESHOLD if in_file is None else in_file


def _on_automatic(
    name: str, asked: Sequence[GoldQuestion], decisions: constraints.Decisions
) -> list[Problem]:
    """A warning for each question that has cards decided by hand and is not a manual one."""
    automatic = {question.query_id for question in asked if not question.manual}
    decided = sorted({query_id for query_id, _ in decisions.cards} & automatic)
    return [warning("decision_on_automatic", name, query_id=query_id) for query_id in decided]
