"""``relevansi score``: the automatic evaluations of files, nothing stored."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import click
from msgspec import Struct

from webapp import labels, notation
from webapp.cli.frame import output as progress
from webapp.cli.frame.options import FILE, formats
from webapp.cli.frame.output import TerminalTable, printed, say, write, write_json, write_pieces
from webapp.exporters.evaluations import score_documents as documents
from webapp.exporters.evaluations import score_reports
from webapp.exporters.evaluations.score_documents import WaitingRows, csv_file, json_file
from webapp.exporters.frame.tables import Document
from webapp.exporters.gold.constraint_reports import constraints_json
from webapp.i18n import gettext, mark
from webapp.importers.evaluations import expected_json
from webapp.importers.evaluations.expected_json import JsonAnswerSet, JsonQuestionSet
from webapp.importers.runs import problems
from webapp.importers.runs.json_documents import load
from webapp.importers.runs.prices import exact_number
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.evaluations.answers import AnswerScale, AnswerScore
from webapp.metrics.evaluations.chunks import ChunkScore
from webapp.metrics.evaluations.json_answers import Gate, JsonSummary
from webapp.metrics.evaluations.similarity import DEFAULT_TAU_SIM, Embedder, LexicalEmbedder
from webapp.metrics.gold.constraints import (
    ConstraintReport,
    ConstraintTotals,
    MissingRule,
    headline_figures,
)
from webapp.metrics.gold.registry import CONSTRAINT_LABELS, CONSTRAINT_MEASURES
from webapp.records import Problem
from webapp.services.evaluations import scoring
from webapp.services.evaluations.scoring import KEY_VARIABLE, JsonScoring, NamedBytes, ScoredFile

ALL_FORMATS = ("table", "markdown", "latex", "json", "csv")


class ShareOption(click.ParamType[Fraction]):
    """A number between two ends, kept exactly as the decimal that the user wrote."""

    name = "NUMBER"

    def __init__(self, highest: int) -> None:
        self.highest = highest

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Fraction:
        """Return the exact fraction; fails unless it is a number from 0 to the highest."""
        if isinstance(value, Fraction):
            return value
        number = exact_number(value)
        if number is None or not 0 <= number <= self.highest:
            says = gettext("%(value)s is not a number from 0 to %(highest)s.")
            self.fail(says % {"value": value, "highest": self.highest}, param, ctx)
        return number


first_rows = click.option(
    "--n", "first", type=click.IntRange(min=1), help="Score the first N rows only."
)


WIDTH = 100

MISSING_NOTES = {
    MissingRule.COUNTED: mark(
        "What is asked but not on a card (MISSING) counts as not passed, as in the recorded "
        "evaluations; --missing left-out leaves it out, as in their description."
    ),
    MissingRule.LEFT_OUT: mark(
        "What is asked but not on a card (MISSING) is left out, as in the description of the "
        "method; its recorded evaluations count it as not passed."
    ),
}


def constraints_table(report: ConstraintReport) -> bytes:
    """The figures of the evaluation, per constraint, per category, and the matrix."""
    whole = report.totals
    figures = _new(gettext("Figure"), gettext("Value"))
    for name, found in headline_figures(report).items():
        figures.row(gettext(CONSTRAINT_MEASURES[name].label), notation.four(found.value))
    figures.section()
    for constraint, value in whole.pca.items():
        figures.row(gettext(CONSTRAINT_LABELS[constraint]), notation.four(value))
    counts = gettext(
        "%(queries)s questions, %(cards)s cards, threshold %(threshold)s",
        queries=whole.n_queries,
        cards=whole.n_properties,
        threshold=notation.number(float(report.threshold)),
    )
    note = gettext(MISSING_NOTES[report.missing])
    parts = (counts, figures, _matrix(whole), _categories(report.categories), note)
    return printed(parts, width=WIDTH)


def report_table(report: Document) -> bytes:
    """A report of scores: its tables, and below them its sentences."""
    parts: list[TerminalTable | str] = []
    for section in report.sections:
        for found in section.tables:
            table = _new(*(column.heading for column in found.columns), title=found.title)
            for row in found.rows:
                table.row(*(cell.text for cell in row))
            parts += [table, *found.notes]
        if section.sentences:
            parts += [f"{section.title}:", *(f"* {said}" for said in section.sentences)]
    return printed(parts, width=WIDTH)


def _matrix(whole: ConstraintTotals) -> TerminalTable:
    table = _new("", gettext("Met"), gettext("Not met"))
    matrix = whole.matrix
    table.row(gettext("Has data"), f"TP {matrix.tp}", f"FN {matrix.fn}")
    table.row(gettext("No data"), f"FP {matrix.fp}", f"TN {matrix.tn}")
    return table


def _categories(categories: Mapping[str, ConstraintTotals]) -> TerminalTable:
    table = _new(
        gettext("Category"),
        gettext("Questions"),
        gettext("Query success rate"),
        gettext("Results"),
        gettext("Mean CPR"),
    )
    for name, part in categories.items():
        success = f"{part.n_successful} ({notation.four(part.success_rate)})"
        cpr = notation.four(part.mean_cpr)
        table.row(labels.category(name), str(part.n_queries), success, str(part.n_properties), cpr)
    return table


def _new(first: str, *others: str, title: str = "") -> TerminalTable:
    table = TerminalTable(title)
    table.left(first)
    table.right(*others)
    return table


ITEM_FORMATS = ("json", "csv")
"""The formats that hold every item; the others hold the summary."""

_SHOWN_FROM_BYTES = 2 * 2**20
"""From this size of a file on, its reading is shown on a terminal."""


def write_items(
    rows: WaitingRows,
    head: Mapping[str, Any],
    columns: Sequence[str],
    file_format: str,
    output: Path | None,
) -> None:
    """Write all items: JSON behind the keys of `head`, CSV under its columns."""
    pieces = csv_file(columns, rows) if file_format == "csv" else json_file(head, rows)
    if output is None:
        write_pieces(pieces)
        return
    with output.open("wb") as file:
        file.writelines(pieces)


def write_report(
    kind: str,
    name: str,
    head: Mapping[str, Any],
    figures: Sequence[Mapping[str, Any]],
    file_format: str,
    output: Path | None,
) -> None:
    """Write the summary of a file as a table for the terminal, or as a report."""
    report = score_reports.report(kind, name, head, figures)
    writer = score_reports.WRITERS.get(file_format)
    write(writer(report) if writer else report_table(report), output)


def tell(found: Problem) -> None:
    """Print a problem of a file on the standard error."""
    say(f"relevansi: {problems.message(found)}", err=True)


def failure_of(refused: ImportRefused) -> click.ClickException:
    """Return the failure to end with; every other problem of the file is printed before."""
    for problem in refused.problems[1:]:
        tell(problem)
    return click.ClickException(problems.message(refused.problem))


def questions_in(path: Path) -> JsonQuestionSet:
    """Return the questions with expected JSON answers in a file, its problems printed."""
    try:
        asked = expected_json.read_questions(path.name, path.read_bytes())
    except ImportRefused as refused:
        raise failure_of(refused) from refused
    for problem in asked.problems:
        tell(problem)
    return asked


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """`path` opened to be read, with a bar on a terminal while a large one is."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size < _SHOWN_FROM_BYTES or not sys.stderr.isatty():
            yield file
            return
        words = gettext("Scoring %(file)s", file=path.name)
        with progress.reading(file, size, words) as shown:
            yield shown


class _JsonOptions(Struct, frozen=True):
    file: Path | None
    questions: Path | None
    outputs: Path | None
    provenance: Path | None
    prompt: Path | None
    subset: Path | None
    gate: bool
    min_average: Fraction
    min_pass_rate: Fraction
    file_format: str
    output: Path | None


@click.command("json-v2")
@click.argument("file", type=FILE, required=False)
@click.option("--questions", type=FILE, help="Questions with what is expected (JSON).")
@click.option("--outputs", type=FILE, help="Outputs by id (JSON Lines).")
@click.option("--provenance", type=FILE, help="The provenance fields, where no file has them.")
@click.option("--prompt", type=FILE, help="The prompt: its SHA-256 must be prompt_sha256.")
@click.option("--subset", type=FILE, help="A dev set (ids), scored first; the gate is its.")
@click.option("--gate", is_flag=True, help="Exit with 1 when the gate is not passed.")
@click.option("--min-average", type=ShareOption(100), default="95", show_default=True)
@click.option("--min-pass-rate", type=ShareOption(1), default="0.98", show_default=True)
@formats(*ALL_FORMATS)
def json_v2_command(**said: Any) -> None:
    """Score JSON answers, in FILE or as --questions and --outputs joined by id.

    With --subset the dev set is scored first and then all; with --gate too, all are
    scored only if the dev set passes.

    \b
    JSON: {provenance: {prompt_sha256, prompt_version, index_version, model_id,
      adapter_id or registry_model_id, eval_set_version},
      gate: {min_average, min_pass_rate},
      subset: SUMMARY | null, stopped, summary: SUMMARY,
      part_means: {subset: {FIELD: mean} | null, all: {FIELD: mean}},
      reasons: {REASON: n}, too_long: {FIELD: n},
      items: [{id, schema_ok, reason, score, target_audience, main_topic,
               sub_topic, detailed_description, original_evidence,
               predicted_questions, grounding}]}
    SUMMARY: {count, eval_score_avg, schema_pass_rate, gate_passed}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    asked = _JsonOptions(**said)
    try:
        answered = _answered(asked)
        if asked.prompt is not None:
            scoring.check_prompt(_file(asked.prompt), answered.provenance)
        ids = _subset(asked.subset, answered)
    except ImportRefused as refused:
        raise failure_of(refused) from refused
    limits = Gate(asked.min_average, asked.min_pass_rate)
    found = scoring.json_scoring(answered, gate=limits, subset=ids, stop_at_gate=asked.gate)
    for name, n in sorted(found.summary.too_long.items()):
        say(f"relevansi: {score_reports.too_long(name, n)}", err=True)
    _write_json_score(asked, answered, found)
    deciding = found.subset or found.summary
    if asked.gate and not deciding.gate_passed:
        raise click.ClickException(_gate_message(deciding))


def _answered(asked: _JsonOptions) -> JsonAnswerSet:
    both = asked.questions is not None and asked.outputs is not None
    neither = {asked.questions, asked.outputs, asked.provenance} == {None}
    if not (both and asked.file is None) and not (neither and asked.file is not None):
        raise click.UsageError(gettext("Say either FILE or both --questions and --outputs."))
    if asked.file is not None:
        answered = expected_json.read(asked.file.name, asked.file.read_bytes())
    else:
        assert asked.questions is not None
        assert asked.outputs is not None
        stated = _object(asked.provenance) if asked.provenance else None
        data = asked.questions.read_bytes()
        with reading(asked.outputs) as stream:
            answered = expected_json.join(
                asked.questions.name, data, asked.outputs.name, stream, stated
            )
    for problem in answered.problems:
        tell(problem)
    return answered


def _subset(path: Path | None, answered: JsonAnswerSet) -> tuple[str, ...] | None:
    if path is None:
        return None
    ids = expected_json.read_subset(path.name, path.read_bytes())
    for problem in scoring.subset_problems(path.name, ids, answered):
        tell(problem)
    return ids


def _file(path: Path) -> NamedBytes:
    return NamedBytes(path.name, path.read_bytes())


def _object(path: Path) -> Mapping[str, object]:
    document, _ = load(path.name, path.read_bytes(), expected="object")
    if not isinstance(document, dict):
        raise click.ClickException(
            gettext("%(file)s is not a JSON object with provenance fields.", file=path.name)
        )
    return document


def _write_json_score(asked: _JsonOptions, answered: JsonAnswerSet, found: JsonScoring) -> None:
    head = documents.json_head(
        answered.provenance, found.summary, found.subset, stopped=found.stopped
    )
    if asked.file_format not in ITEM_FORMATS:
        files = (asked.file, asked.questions, asked.outputs, asked.subset, asked.prompt)
        name = " + ".join(file.name for file in files if file)
        figures = documents.json_figures(found.summary)
        write_report("json-v2", name, head, figures, asked.file_format, asked.output)
        return
    with WaitingRows() as rows:
        for score in found.scores:
            rows.add(documents.json_item(score))
        write_items(rows, head, documents.JSON_ITEM, asked.file_format, asked.output)


def _gate_message(summary: JsonSummary) -> str:
    average, rate = summary.average, summary.schema_pass_rate
    return gettext(
        "The gate is not passed: mean score %(average)s (at least %(min_average)s), schema "
        "pass rate %(rate)s (at least %(min_rate)s).",
        average=notation.four(average),
        min_average=notation.number(float(summary.gate.min_average)),
        rate=notation.four(rate),
        min_rate=notation.number(float(summary.gate.min_pass_rate)),
    )


@click.group("score")
def score_command() -> None:
    """Score files automatically: constraints, cited answers, chunks, JSON answers."""


score_command.add_command(json_v2_command)


@score_command.command("constraints")
@click.option("--results", required=True, type=FILE, help="V2 results: results.json.")
@click.option("--gold", required=True, type=FILE, help="Gold questions with constraints.")
@click.option("--manual-input", "manual", type=FILE, help="Decisions by hand.")
@click.option(
    "--threshold", type=ShareOption(1), help="Mean pass rate to meet, else the gold file's."
)
@click.option(
    "--missing",
    type=click.Choice([str(choice) for choice in MissingRule]),
    default=str(MissingRule.COUNTED),
    show_default=True,
    help="What is asked but not on a card: not passed, or left out.",
)
@formats("table", "json")
def constraints_command(
    results: Path,
    gold: Path,
    manual: Path | None,
    threshold: Fraction | None,
    missing: str,
    file_format: str,
    output: Path | None,
) -> None:
    """Check the cards of a V2 run against gold questions.

    \b
    JSON: {total_queries, total_properties, threshold_t, missing, pca: {CONSTRAINT},
      mean_cpr, strict_success_ratio, query_success_rate,
      confusion_matrix: {tp, fp, tn, fn, precision, recall, f1_score, accuracy},
      category_metrics: {NAME: {total_queries, successful_queries, success_rate,
                                total_properties, mean_cpr}},
      evaluations: [{query_id, question, category, expected_result, has_results,
                     num_properties, mean_cpr, strict_success, is_success,
                     confusion_category}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    try:
        found = scoring.constraint_scoring(
            _read(gold),
            _read(results),
            _read(manual) if manual else None,
            threshold=threshold,
            missing=MissingRule(missing),
        )
    except ImportRefused as refused:
        raise failure_of(refused) from refused
    for problem in found.problems:
        tell(problem)
    if file_format == "json":
        write_json(constraints_json(found.report), output)
        return
    write(constraints_table(found.report), output)


@score_command.command("answers")
@click.argument("file", type=FILE)
@first_rows
@click.option(
    "--tau-sim",
    type=click.FloatRange(-1, 1),
    help="Least cosine of a supported claim; 0.6, or 0.3 with --embedder lexical.",
)
@click.option(
    "--embedder",
    metavar="lexical|package|URL",
    help="What makes cosines where the file gives none: TF-IDF, the installed sentence "
    f"model, or an OpenAI-compatible endpoint (its key in {KEY_VARIABLE}).",
)
@click.option("--embedder-model", metavar="NAME", help="The model to ask an endpoint for.")
@click.option(
    "--keep-citations",
    is_flag=True,
    help="Let citations count as words in exact match and F1.",
)
@formats(*ALL_FORMATS)
def answers_command(
    file: Path,
    first: int | None,
    tau_sim: float | None,
    embedder: str | None,
    embedder_model: str | None,
    file_format: str,
    output: Path | None,
    *,
    keep_citations: bool,
) -> None:
    """Score answers with citations, one JSON object per line of FILE.

    \b
    JSON: {summary: {count, avg_faithfulness, avg_overlap, avg_em, avg_f1,
      abstain_rate, avg_total_tokens, avg_prompt_tokens, avg_completion_tokens,
      p50_latency_ms, p95_latency_ms, idk_with_citation_count},
      embedder, tau_sim, keep_citations, faithfulness,
      settings: {NAME: {lowest, highest, n}}, first_n, left_out, why_undefined,
      items: [{id, sentences, claim_sentences, supported, overlap, faithfulness,
               em, f1, abstain, total_tokens, latency_ms, idk_with_citation}]}
    A judge's figures stand beside: faithfulness_judge, avg_faithfulness_judge.
    """  # noqa: D301
    chosen = _embedder(embedder, embedder_model)
    default = chosen.default_tau_sim if chosen else DEFAULT_TAU_SIM
    tau_sim = default if tau_sim is None else tau_sim
    scale = AnswerScale(chosen, tau_sim, keep_citations)
    with WaitingRows() as rows:

        def keep(score: AnswerScore) -> None:
            if file_format in ITEM_FORMATS:
                rows.add(documents.answer_item(score))

        with reading(file) as stream:
            found = scoring.score_answers(file.name, stream, scale, keep, tell, first=first)
        _write("answers", file, found, rows, documents.ANSWER_ITEM, file_format, output)


@score_command.command("chunks")
@click.argument("file", type=FILE)
@first_rows
@formats(*ALL_FORMATS)
def chunks_command(file: Path, first: int | None, file_format: str, output: Path | None) -> None:
    """Score retrieved chunks by the words they share with the expected answer.

    \b
    JSON: {summary: MEANS, strategies: {NAME: MEANS}, first_n, left_out,
      items: [{id, strategy, iou, recall, precision, precision_omega, f1}]}
    MEANS: {count, iou, recall, precision, precision_omega, f1}. Rows that name
    no strategy stand under "" where others do.
    """  # noqa: D301
    with WaitingRows() as rows:

        def keep(score: ChunkScore) -> None:
            if file_format in ITEM_FORMATS:
                rows.add(documents.chunk_item(score))

        with reading(file) as stream:
            found = scoring.score_chunks(file.name, stream, keep, tell, first=first)
        _write("chunks", file, found, rows, documents.CHUNK_ITEM, file_format, output)


def _write(
    kind: str,
    file: Path,
    found: ScoredFile,
    rows: WaitingRows,
    columns: Sequence[str],
    file_format: str,
    output: Path | None,
) -> None:
    if not found.n_scored:
        raise click.ClickException(
            gettext("Not one row of %(file)s could be scored.", file=file.name)
        )
    if file_format in ITEM_FORMATS:
        write_items(rows, found.head, columns, file_format, output)
        return
    write_report(kind, file.name, found.head, found.figures, file_format, output)


def _embedder(chosen: str | None, model: str | None) -> Embedder | None:
    if chosen is None:
        return None
    if chosen == "lexical":
        return LexicalEmbedder()
    if chosen == "package":
        return scoring.packaged()
    if not chosen.startswith(("http://", "https://")):
        raise click.UsageError(
            gettext("--embedder is lexical, package or the address of an endpoint.")
        )
    if not model:
        raise click.UsageError(gettext("Say which model to ask the endpoint: --embedder-model."))
    return scoring.endpoint(chosen, model, os.environ.get(KEY_VARIABLE))


def _read(path: Path) -> scoring.NamedBytes:
    return scoring.NamedBytes(path.name, path.read_bytes())
