"""``relevansi score``: the automatic evaluations of files, nothing stored."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click

from webapp.cli.evaluations import score_tables
from webapp.cli.evaluations.score_json import json_v2_command
from webapp.cli.evaluations.score_options import ALL_FORMATS, ShareOption, first_rows
from webapp.cli.evaluations.score_output import (
    ITEM_FORMATS,
    failure_of,
    reading,
    tell,
    write_items,
    write_report,
)
from webapp.cli.frame.options import FILE, formats
from webapp.cli.frame.output import write, write_json
from webapp.exporters.evaluations import score_documents as documents
from webapp.exporters.evaluations.waiting_rows import WaitingRows
from webapp.exporters.gold.constraint_json import constraints_json
from webapp.i18n import gettext
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.evaluations.answers import AnswerScale, AnswerScore
from webapp.metrics.evaluations.chunks import ChunkScore
from webapp.metrics.evaluations.similarity import DEFAULT_TAU_SIM, Embedder, LexicalEmbedder
from webapp.metrics.gold.constraints import MissingRule
from webapp.services.evaluations import embedders, scoring
from webapp.services.evaluations.embedders import KEY_VARIABLE
from webapp.services.evaluations.scoring import ScoredFile


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
    write(score_tables.constraints_table(found.report), output)


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
    """Write a scored file, its rows included where the format has them; fail without a score."""
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
        return embedders.packaged()
    if not chosen.startswith(("http://", "https://")):
        raise click.UsageError(
            gettext("--embedder is lexical, package or the address of an endpoint.")
        )
    if not model:
        raise click.UsageError(gettext("Say which model to ask the endpoint: --embedder-model."))
    return embedders.endpoint(chosen, model, os.environ.get(KEY_VARIABLE))


def _read(path: Path) -> scoring.NamedBytes:
    return scoring.NamedBytes(path.name, path.read_bytes())
