"""Scoring of files by the automatic evaluations; nothing is stored before all is scored."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any, BinaryIO, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict

from relevansi.db.tables.evaluations import Evaluation
from relevansi.exporters.evaluations import score_documents as documents
from relevansi.exporters.evaluations.score_documents import ScoredRow, WaitingRows
from relevansi.importers.agreement import manual_input
from relevansi.importers.evaluations import cited_answers, expected_json
from relevansi.importers.evaluations.expected_json import JsonAnswerSet
from relevansi.importers.gold import gold_questions, listed_properties
from relevansi.importers.runs.json_documents import load
from relevansi.importers.runs.problems import ImportRefused, UnreadableFile, error, warning
from relevansi.importers.runs.questions import unknown_format
from relevansi.metrics.evaluations import answers, chunks, json_answers
from relevansi.metrics.evaluations.chunks import ChunkMeans, ChunkRow
from relevansi.metrics.evaluations.json_answers import Gate, JsonQuestion, JsonSummary
from relevansi.metrics.evaluations.similarity import DEFAULT_TAU_SIM, Embedder
from relevansi.metrics.gold import constraints
from relevansi.records import Problem
from relevansi.services.evaluations.embedders import VectorEmbedder
from relevansi.services.evaluations.evaluations import EvaluationKind

MAX_ROWS = 50_000
"""The most rows of an evaluation on the pages; the command line takes any number."""

MAX_ROWS_OF_MODEL = 500
"""The same where a model makes vectors of every text: what a request has time for."""

MAX_PROBLEMS = 200
"""How many problems are stored in words; all are counted."""

_EXPECTED = {EvaluationKind.ANSWERS: "answers_file", EvaluationKind.CHUNKS: "chunks_file"}

Figures = Sequence[Mapping[str, Any]]
"""Figures in the order to show them: name, value, n, and why there is no value."""

Take = Callable[[ScoredRow], None]
"""A callback for each scored row."""

Report = Callable[[Problem], None]
"""A callback for each problem."""


class NamedBytes(Struct, frozen=True):
    name: str
    data: bytes


class ScoringSettings(Struct, frozen=True):
    """The settings by which a file is scored; those of another kind are ignored.

    ``first`` is the number of rows after which to stop. ``subset`` is a dev set of JSON
    answers, scored first; with ``stop_at_gate`` the rest is scored only if it passes. ``prompt``
    must be the one that JSON answers state.
    """

    kind: EvaluationKind
    embedder: Embedder | None = None
    tau_sim: float | None = None
    keep_citations: bool = False
    gate: Gate = field(default_factory=Gate)
    first: int | None = None
    subset: NamedBytes | None = None
    stop_at_gate: bool = False
    prompt: NamedBytes | None = None

    @property
    def scale(self) -> answers.AnswerScale:
        """The scale of cited answers, with the threshold that goes with its embedder."""
        default = self.embedder.default_tau_sim if self.embedder else DEFAULT_TAU_SIM
        tau_sim = default if self.tau_sim is None else self.tau_sim
        return answers.AnswerScale(self.embedder, tau_sim, self.keep_citations)

    def as_stored(self) -> dict[str, Any]:
        """Return the settings as they are stored, without those that are not set."""
        if self.kind is EvaluationKind.JSON:
            gate: dict[str, Any] = _gate(self.gate)
            if self.subset is None:
                return gate
            return gate | {"subset": self.subset.name, "stop_at_gate": self.stop_at_gate}
        first = {} if self.first is None else {"first": self.first}
        if self.kind is EvaluationKind.CHUNKS:
            return first
        scale = self.scale
        # The digest of an evaluation is over these: another order would score a file twice.
        return first | {
            "tau_sim": scale.tau_sim,
            "embedder": self.embedder.name if self.embedder else None,
            "keep_citations": scale.keep_citations,
        }


def constraint_scoring(
    gold: NamedBytes,
    results: NamedBytes,
    manual: NamedBytes | None = None,
    *,
    threshold: Fraction | None = None,
    missing: constraints.MissingRule = constraints.MissingRule.COUNTED,
) -> tuple[constraints.ConstraintReport, tuple[Problem, ...]]:
    """Return the cards of `results` checked against `gold`, with decisions of `manual`; problems.

    Raises an ``ImportRefused``.
    """
    gold_file = gold_questions.read(gold.name, gold.data)
    listed = listed_properties.read(results.name, results.data)
    problems = list(listed.problems)
    ids = {question.query_id for question in gold_file.questions}
    problems += [
        warning("result_without_question", results.name, query_id=query_id)
        for query_id in listed.cards
        if query_id not in ids
    ]
    decisions = constraints.Decisions()
    if manual is not None:
        manual_file = manual_input.read(manual.name, manual.data)
        decisions = constraints.Decisions.of(manual_file.decisions)
        counts = {query_id: len(listed.cards.get(query_id, ())) for query_id in ids}
        problems += [*manual_file.problems, *manual_input.check_cards(manual_file, counts)]
        automatic = {question.query_id for question in gold_file.questions if not question.manual}
        for query_id in sorted({query_id for query_id, _ in decisions.cards} & automatic):
            problems.append(warning("decision_on_automatic", manual.name, query_id=query_id))
    if threshold is None:
        threshold = gold_file.threshold
    report = constraints.evaluate(
        gold_file.questions, listed.cards, threshold=threshold, decisions=decisions, missing=missing
    )
    return report, tuple(problems)


RowT = TypeVar("RowT")


def score_rows(
    settings: ScoringSettings, name: str, file: BinaryIO, take: Take, report: Report
) -> tuple[dict[str, Any], Figures]:
    """Return the head and the figures of a report on rows of cited answers or chunks.

    `take` gets each scored row, `report` each problem.
    """
    if settings.kind is EvaluationKind.ANSWERS:
        return _score_answers(settings, name, file, take, report)
    means = ChunkMeans()
    by_strategy: dict[str, ChunkMeans] = {}

    def score_row(_line: int, row: ChunkRow) -> ScoredRow:
        score = chunks.score(row)
        means.add(score)
        by_strategy.setdefault(row.strategy or "", ChunkMeans()).add(score)
        return documents.chunk_row(score)

    rows = cited_answers.read_chunks(name, file)
    left_out = _score_each(settings, rows, score_row, take, report)
    strategies = {} if set(by_strategy) == {""} else by_strategy
    head = {
        "summary": means.figures(),
        "strategies": {name: part.figures() for name, part in strategies.items()},
        "first_n": settings.first,
        "left_out": left_out,
    }
    return head, _figures(means.figures(), means.count)


def _score_answers(
    settings: ScoringSettings, name: str, file: BinaryIO, take: Take, report: Report
) -> tuple[dict[str, Any], Figures]:
    scale, summary = settings.scale, answers.AnswerSummary()

    def score_row(line: int, row: answers.AnswerRow) -> ScoredRow | Problem:
        try:
            answer = answers.score(row, scale)
        except answers.SimilaritiesDoNotFit as wrong:
            n_cosines, n_claims = wrong.args
            counts = {"found": n_cosines, "expected": n_claims}
            return error("line_similarities_count", name, counts, line=line)
        summary.add(answer)
        return documents.answer_row(answer)

    rows = cited_answers.read_answers(name, file)
    left_out = _score_each(settings, rows, score_row, take, report)
    figures = summary.figures()
    head = {
        "summary": {figure["name"]: figure["value"] for figure in figures},
        "embedder": summary.embedder(scale),
        "tau_sim": scale.tau_sim,
        "keep_citations": scale.keep_citations,
        "faithfulness": "fallback: min(1, 0.6 + 0.4 overlap)",
        "settings": summary.settings,
        "first_n": settings.first,
        "left_out": left_out,
        "why_undefined": {figure["name"]: figure["why"] for figure in figures if figure["why"]},
    }
    return head, figures


def _score_each(
    settings: ScoringSettings,
    entries: Iterable[tuple[int, RowT] | Problem],
    score_row: Callable[[int, RowT], ScoredRow | Problem],
    take: Take,
    report: Report,
) -> int:
    """Score the rows of a file, each with its line; return how many are left out."""
    n_rows, left_out, last = 0, 0, None
    for entry in entries:
        line = entry.line if isinstance(entry, Problem) else entry[0]
        # One line may yield several problems: it is one row.
        n_rows += line != last
        if settings.first is not None and n_rows > settings.first:
            break
        outcome = entry if isinstance(entry, Problem) else score_row(*entry)
        if isinstance(outcome, Problem):
            report(outcome)
            left_out += line != last
        else:
            take(outcome)
        last = line
    return left_out


def score_json(
    settings: ScoringSettings, answered: JsonAnswerSet, take: Take, report: Report
) -> tuple[dict[str, Any], Figures]:
    """Return the head and the figures of the report on JSON answers; `take` gets each scored row.

    With a dev set in `settings` it is scored first. Where it misses the gate, the rest is not
    scored if the settings say so. Raises an ``ImportRefused`` for another prompt than theirs.
    """
    prompt, dev_set, questions, subset = settings.prompt, settings.subset, answered.questions, None
    if prompt is not None:
        digests = {
            "own": sha256(prompt.data).hexdigest(),
            "stated": answered.provenance["prompt_sha256"],
        }
        if digests["own"] != digests["stated"].lower():
            raise ImportRefused(error("other_prompt", prompt.name, digests))
    stopped = False
    if dev_set is not None:
        ids = expected_json.read_subset(dev_set.name, dev_set.data)
        row_ids = {question.row_id for question in questions}
        unknown = [row_id for row_id in ids if row_id not in row_ids]
        if unknown:
            report(error("subset_ids_unknown", dev_set.name, {"ids": expected_json.some(unknown)}))
        chosen = tuple(question for question in questions if question.row_id in set(ids))
        # Takes no rows: the summary of all `questions` below takes them.
        subset = _summary(chosen, settings.gate, lambda _: None)
        stopped = settings.stop_at_gate and not subset.gate_passed
        questions = chosen if stopped else questions
    summary = _summary(questions, settings.gate, take)
    averages = documents.json_summary(summary)
    head = {
        "provenance": dict(answered.provenance),
        "gate": _gate(settings.gate),
        "subset": documents.json_summary(subset) if subset else None,
        "stopped": stopped,
        "summary": averages,
        "part_means": {"subset": subset.part_means if subset else None, "all": summary.part_means},
        "reasons": dict(summary.reasons),
        "too_long": dict(summary.too_long),
    }
    means = {name: averages[name] for name in ("eval_score_avg", "schema_pass_rate")}
    return head, _figures(means | summary.part_means, summary.count)


def _figures(values: Mapping[str, float | None], n: int) -> list[answers.Figure]:
    return [answers.Figure(name=name, value=value, n=n, why=None) for name, value in values.items()]


def _summary(questions: Sequence[JsonQuestion], gate: Gate, take: Take) -> JsonSummary:
    summary = JsonSummary(gate)
    for question in questions:
        score = json_answers.score(question)
        summary.add(score)
        take(documents.json_row(score))
    return summary


def _gate(gate: Gate) -> dict[str, float]:
    return {"min_average": float(gate.min_average), "min_pass_rate": float(gate.min_pass_rate)}


def score(settings: ScoringSettings, files: Sequence[NamedBytes], rows: WaitingRows) -> Evaluation:
    """Return the evaluation of `files`, to be stored; its scored rows are added to `rows`.

    JSON answers may be two files: expected answers, and outputs to join with them. Raises an
    ``ImportRefused``.
    """
    problems: list[Problem] = []
    n_problems = n_rows = 0
    file, is_json = files[0], settings.kind is EvaluationKind.JSON
    most = MAX_ROWS_OF_MODEL if isinstance(settings.embedder, VectorEmbedder) else MAX_ROWS

    def report(problem: Problem) -> None:
        nonlocal n_problems
        n_problems += 1
        if n_problems <= MAX_PROBLEMS:
            problems.append(problem)

    def take(row: ScoredRow) -> None:
        if rows.n >= most:
            raise ImportRefused(error("too_many_rows", files[-1].name, {"limit": most}))
        rows.add(row._asdict())

    provenance: Mapping[str, str] = {}
    if is_json:
        if len(files) == 1:
            answered = expected_json.read(file.name, file.data)
        else:
            outputs = files[1].name, io.BytesIO(files[1].data)
            answered = expected_json.join(file.name, file.data, *outputs)
        for problem in answered.problems:
            report(problem)
        provenance, n_rows = answered.provenance, len(answered.questions)
        head, figures = score_json(settings, answered, take, report)
    else:
        n_rows = cited_answers.count_rows(file.name, io.BytesIO(file.data))
        head, figures = score_rows(settings, file.name, io.BytesIO(file.data), take, report)
        if not rows.n:
            raise _nothing_scored(settings.kind, file, problems)
    parts = filter(None, (*files, settings.subset, settings.prompt))
    listed = [{"name": part.name, "sha256": sha256(part.data).hexdigest()} for part in parts]
    stored = settings.as_stored()
    identity = json.dumps([settings.kind, stored, [part["sha256"] for part in listed]])
    is_part = "first" in stored or "subset" in stored
    return Evaluation(
        kind=str(settings.kind),
        name=" + ".join(part["name"] for part in listed),
        files=listed,
        sha256=sha256(identity.encode()).hexdigest(),
        settings=stored | {"rows": n_rows} if is_part else stored,
        provenance=dict(provenance),
        head=head,
        figures=list(figures),
        problems=[asdict(problem) for problem in problems],
        n_problems=n_problems,
        n_items=rows.n,
    )


def _nothing_scored(
    kind: EvaluationKind, file: NamedBytes, problems: list[Problem]
) -> ImportRefused:
    """Return why no row was scored: the file is of another kind, else the problems of its rows."""
    expected = _EXPECTED[kind]
    no_row = error("no_row_scored", file.name)
    try:
        document, _ = load(file.name, file.data, expected=expected)
    except UnreadableFile as unreadable:
        is_lines = unreadable.problem.details.get("found") == "json_lines"
        return ImportRefused(no_row if is_lines else unreadable.problem, *problems)
    if isinstance(document, dict) and problems and problems[0].code.startswith("line_value"):
        return ImportRefused(no_row, *problems)
    return ImportRefused(unknown_format(file.name, document, expected))
