"""Uploaded files scored into rows to keep: nothing is stored before all is scored."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from webapp.exporters.evaluations import score_documents as documents
from webapp.exporters.evaluations.score_documents import WaitingRows
from webapp.importers.evaluations import cited_answers, expected_json
from webapp.importers.evaluations.expected_json import JsonAnswerSet
from webapp.importers.runs.json_documents import load
from webapp.importers.runs.problems import ImportRefused, UnreadableFile, error
from webapp.importers.runs.questions import looks_like
from webapp.metrics.evaluations.answers import AnswerScale, AnswerScore
from webapp.metrics.evaluations.chunks import ChunkScore
from webapp.metrics.evaluations.json_answers import Gate
from webapp.metrics.evaluations.similarity import DEFAULT_TAU_SIM, Embedder
from webapp.records import Problem
from webapp.services.evaluations import evaluations as evaluation_rows
from webapp.services.evaluations import scoring
from webapp.services.evaluations.evaluations import EvaluationKind, ScoredRow
from webapp.services.evaluations.scoring import NamedBytes, ScoredFile
from webapp.steps import Tell, nobody

MOST_ROWS = 50_000
"""Rows of one evaluation on the pages; the command line takes any number."""
MOST_PROBLEMS = 200
"""Problems that are kept in words; all are counted."""

_KEPT = ScoredRow.__struct_fields__
_EXPECTED = {EvaluationKind.ANSWERS: "answers_file", EvaluationKind.CHUNKS: "chunks_file"}


class NothingScored(ImportRefused):
    """Not one row of a file can be scored: most likely it is another file."""


class TooManyRows(ImportRefused):
    """The file has more rows than the pages take."""


class ScoringSettings(Struct, frozen=True):
    """How a file is to be scored; settings of another kind are ignored.

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
    def scale(self) -> AnswerScale:
        """The scale of cited answers, with the threshold that goes with its embedder."""
        default = self.embedder.default_tau_sim if self.embedder else DEFAULT_TAU_SIM
        tau_sim = default if self.tau_sim is None else self.tau_sim
        return AnswerScale(self.embedder, tau_sim, self.keep_citations)

    def stated(self) -> dict[str, Any]:
        """Return the settings as they are stored; those that were not given are left out."""
        if self.kind is EvaluationKind.JSON:
            average, rate = self.gate.min_average, self.gate.min_pass_rate
            gate = {"min_average": float(average), "min_pass_rate": float(rate)}
            if self.subset is None:
                return gate
            return gate | {"subset": self.subset.name, "stop_at_gate": self.stop_at_gate}
        first = {} if self.first is None else {"first": self.first}
        if self.kind is EvaluationKind.CHUNKS:
            return first
        scale = self.scale
        return first | {
            "tau_sim": scale.tau_sim,
            "embedder": self.embedder.name if self.embedder else None,
            "keep_citations": scale.keep_citations,
        }


class Scored(Struct, frozen=True):
    """Files scored, with their problems; the rows themselves are elsewhere.

    ``figures`` are name, value, n and why there is no value, in the order to show them.
    ``n_rows`` counts the rows that the file has, scored or not.
    """

    settings: ScoringSettings
    files: tuple[dict[str, str], ...]
    sha256: str
    provenance: Mapping[str, str]
    head: Mapping[str, Any]
    figures: tuple[dict[str, Any], ...]
    problems: tuple[Problem, ...]
    n_problems: int
    n_items: int
    n_rows: int

    def stated(self) -> dict[str, Any]:
        """Return the settings as they are stored; a partial scoring adds the number of all rows."""
        stated = self.settings.stated()
        if "first" in stated or "subset" in stated:
            stated["rows"] = self.n_rows
        return stated


class _ReportedProblems(Struct):
    kept: list[Problem] = field(default_factory=list)
    n: int = 0

    def add(self, found: Problem) -> None:
        self.n += 1
        if len(self.kept) < MOST_PROBLEMS:
            self.kept.append(found)


def score(
    settings: ScoringSettings, files: Sequence[NamedBytes], rows: WaitingRows, tell: Tell = nobody
) -> Scored:
    """The summary of `files`, scored; their rows go into `rows`.

    JSON answers are one file, or questions and outputs. `tell` hears how many rows are scored.
    Raises an ``ImportRefused`` when nothing can be used, ``EmbedderUnusable`` when no cosines can
    be had.
    """
    told = _ReportedProblems()
    provenance: Mapping[str, str] = {}
    if settings.kind is EvaluationKind.JSON:
        head, figures, answered = _json(settings, files, rows, told, tell)
        provenance, n_rows = answered.provenance, len(answered.questions)
    else:
        n_rows = _rows(settings.kind, files[0])
        scored = _by_row(settings, files[0], rows, told, lambda done: tell(done, n_rows))
        _or_refuse(settings.kind, files[0], rows, told)
        head, figures = scored.head, scored.figures
    tell(n_rows, n_rows)
    all_files = [*files, *(one for one in (settings.subset, settings.prompt) if one)]
    listed = tuple({"name": f.name, "sha256": _sha256(f.data)} for f in all_files)
    stated = json.dumps([settings.kind, settings.stated(), [one["sha256"] for one in listed]])
    return Scored(
        settings=settings,
        files=listed,
        sha256=_sha256(stated.encode()),
        provenance=provenance,
        head=head,
        figures=tuple(figures),
        problems=tuple(told.kept),
        n_problems=told.n,
        n_items=rows.n,
        n_rows=n_rows,
    )


def _rows(kind: EvaluationKind, file: NamedBytes) -> int:
    count = (
        cited_answers.count_answers if kind is EvaluationKind.ANSWERS else cited_answers.count_lines
    )
    return count(file.name, io.BytesIO(file.data))


def _by_row(
    settings: ScoringSettings,
    file: NamedBytes,
    rows: WaitingRows,
    told: _ReportedProblems,
    tell: Callable[[int], None],
) -> ScoredFile:
    name, data, first = file.name, io.BytesIO(file.data), settings.first
    if settings.kind is EvaluationKind.ANSWERS:

        def keep_answer(score: AnswerScore) -> None:
            _take(file, rows, evaluation_rows.of_answer(score))
            tell(rows.n)

        return scoring.score_answers(name, data, settings.scale, keep_answer, told.add, first=first)

    def keep_chunks(score: ChunkScore) -> None:
        _take(file, rows, evaluation_rows.of_chunks(score))
        tell(rows.n)

    return scoring.score_chunks(name, data, keep_chunks, told.add, first=first)


def _json(
    settings: ScoringSettings,
    files: Sequence[NamedBytes],
    rows: WaitingRows,
    told: _ReportedProblems,
    tell: Tell,
) -> tuple[dict[str, Any], list[dict[str, Any]], JsonAnswerSet]:
    if len(files) == 1:
        answered = expected_json.read(files[0].name, files[0].data)
    else:
        questions, outputs = files
        answered = expected_json.join(
            questions.name, questions.data, outputs.name, io.BytesIO(outputs.data)
        )
    for problem in answered.problems:
        told.add(problem)
    if settings.prompt is not None:
        scoring.check_prompt(settings.prompt, answered.provenance)
    ids = _dev_set(settings.subset, answered, told)
    found = scoring.json_scoring(
        answered, gate=settings.gate, subset=ids, stop_at_gate=settings.stop_at_gate
    )
    for one in found.scores:
        _take(files[-1], rows, evaluation_rows.of_json(one))
        tell(rows.n, len(answered.questions))
    summary = found.summary
    head = documents.json_head(answered.provenance, summary, found.subset, stopped=found.stopped)
    return head, documents.json_figures(summary), answered


def _dev_set(
    file: NamedBytes | None, answered: JsonAnswerSet, told: _ReportedProblems
) -> tuple[str, ...] | None:
    if file is None:
        return None
    ids = expected_json.read_subset(file.name, file.data)
    for problem in scoring.subset_problems(file.name, ids, answered):
        told.add(problem)
    return ids


def _take(file: NamedBytes, rows: WaitingRows, row: ScoredRow) -> None:
    if rows.n >= MOST_ROWS:
        raise TooManyRows(error("too_many_rows", file.name, {"limit": MOST_ROWS}))
    rows.add({name: getattr(row, name) for name in _KEPT})  # asdict would copy every text


def _or_refuse(
    kind: EvaluationKind, file: NamedBytes, rows: WaitingRows, told: _ReportedProblems
) -> None:
    if rows.n:
        return
    expected = _EXPECTED[kind]
    try:
        document, _ = load(file.name, file.data, expected=expected)
    except UnreadableFile as unreadable:
        if unreadable.problem.details.get("found") != "json_lines":
            raise NothingScored(unreadable.problem, *told.kept) from unreadable
        raise NothingScored(error("no_row_scored", file.name), *told.kept) from unreadable
    if isinstance(document, dict) and told.kept and told.kept[0].code.startswith("line_value"):
        raise NothingScored(error("no_row_scored", file.name), *told.kept)
    looks = {"found": looks_like(document), "expected": expected}
    raise NothingScored(error("unknown_format", file.name, looks))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
