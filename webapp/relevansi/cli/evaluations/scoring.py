"""``relevansi score``: the automatic evaluations of files, nothing stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from relevansi import labels, notation
from relevansi.cli.frame.options import FILE, FiniteRange, Reply, replies
from relevansi.cli.frame.output import notice, write_pieces
from relevansi.config import secret
from relevansi.exporters.evaluations import score_documents as documents
from relevansi.exporters.evaluations.score_documents import WaitingRows
from relevansi.exporters.frame.tables import Table, numbers, table_of, text_table
from relevansi.exporters.gold.constraint_reports import constraints_json
from relevansi.i18n import gettext, mark
from relevansi.importers.evaluations import expected_json
from relevansi.importers.evaluations.expected_json import JsonAnswerSet, JsonQuestionSet
from relevansi.importers.runs import problems
from relevansi.importers.runs.json_documents import load
from relevansi.importers.runs.prices import exact_number
from relevansi.metrics.evaluations.json_answers import Gate
from relevansi.metrics.evaluations.similarity import Embedder
from relevansi.metrics.gold.constraint_rules import CONSTRAINT_LABELS, CONSTRAINT_MEASURES
from relevansi.metrics.gold.constraints import ConstraintReport, MissingRule, headline_figures
from relevansi.records import Problem
from relevansi.services.evaluations import embedders, scoring
from relevansi.services.evaluations.embedders import KEY_VARIABLE
from relevansi.services.evaluations.evaluations import EvaluationKind
from relevansi.services.evaluations.scoring import Figures, NamedBytes, ScoringSettings

ALL_FORMATS = ("table", "markdown", "latex", "json", "csv")


def up_to(highest: int) -> Callable[[str], Fraction]:
    """The type of an option: a number from 0, kept exactly as the decimal that the user wrote."""

    def number(written: str) -> Fraction:
        value = exact_number(written)
        if value is None or not 0 <= value <= highest:
            message = mark("%(value)s is not a number from 0 to %(highest)s.")
            raise click.BadParameter(gettext(message, value=written, highest=highest))
        return value

    return number


first_rows = click.option(
    "--n", "first", type=click.IntRange(min=1), help="Score the first N rows only."
)


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


def constraint_parts(report: ConstraintReport) -> Iterator[Table | str]:
    """Yield the figures, the matrix and the categories of a report, and how MISSING counts."""
    totals, matrix = report.totals, report.totals.matrix
    headlines = headline_figures(report).items()
    figures = [(CONSTRAINT_MEASURES[name].label, figure) for name, figure in headlines]
    figures += [(CONSTRAINT_LABELS[name], figure) for name, figure in totals.pca.items()]
    counts = gettext(
        "%(queries)s questions, %(cards)s cards, threshold %(threshold)s",
        queries=totals.n_queries,
        cards=totals.n_properties,
        threshold=notation.number(float(report.threshold)),
    )
    of_run = table_of(
        "",
        "",
        figures,
        (
            (gettext("Figure"), lambda line: gettext(line[0])),
            (numbers(gettext("Value")), lambda line: notation.four(line[1].value)),
        ),
    )
    cells = (
        (gettext("Has data"), f"TP {matrix.tp}", f"FN {matrix.fn}"),
        (gettext("No data"), f"FP {matrix.fp}", f"TN {matrix.tn}"),
    )
    of_matrix = text_table("", ("", gettext("Met"), gettext("Not met")), cells, numeric={1, 2})
    by_category = table_of(
        "",
        "",
        report.categories.items(),
        (
            (gettext("Category"), lambda line: labels.category(line[0])),
            (numbers(gettext("Questions")), lambda line: str(line[1].n_queries)),
            (
                numbers(gettext("Query success rate")),
                lambda line: f"{line[1].n_successful} ({notation.four(line[1].success_rate)})",
            ),
            (numbers(gettext("Results")), lambda line: str(line[1].n_properties)),
            (numbers(gettext("Mean CPR")), lambda line: notation.four(line[1].mean_cpr)),
        ),
    )
    yield from (counts, of_run, of_matrix, by_category)
    yield gettext(MISSING_NOTES[report.missing])


def warn(problem: Problem) -> None:
    """Print a problem on the standard error."""
    notice(problems.message(problem))


def questions_in(path: Path) -> JsonQuestionSet:
    """Return the questions with expected JSON answers in a file, its problems printed."""
    question_set = expected_json.read_questions(path.name, path.read_bytes())
    for problem in question_set.problems:
        warn(problem)
    return question_set


def _write(
    kind: str, name: str, head: Mapping[str, Any], figures: Figures, rows: WaitingRows, reply: Reply
) -> None:
    """Write all items, the summary as a table for the terminal, or a report."""
    match reply.file_format:
        case "json":
            write_pieces(documents.json_file(head, rows), reply.output)
        case "csv":
            write_pieces(documents.csv_file(documents.COLUMNS[kind], rows), reply.output)
        case _:
            reply.document(documents.report(kind, name, head, figures))


@click.group("score")
def score_command() -> None:
    """Score files automatically: constraints, cited answers, chunks, JSON answers."""


@score_command.command("json-v2")
@click.argument("file", type=FILE, required=False)
@click.option("--questions", type=FILE, help="Questions with what is expected (JSON).")
@click.option("--outputs", type=FILE, help="Outputs by id (JSON Lines).")
@click.option("--provenance", type=FILE, help="The provenance fields, where no file has them.")
@click.option("--prompt", type=FILE, help="The prompt: its SHA-256 must be prompt_sha256.")
@click.option("--subset", type=FILE, help="A dev set (ids), scored first; the gate is its.")
@click.option("--gate", is_flag=True, help="Exit with 1 when the gate is not passed.")
@click.option("--min-average", type=up_to(100), default="95")
@click.option("--min-pass-rate", type=up_to(1), default="0.98")
@replies(*ALL_FORMATS)
def json_v2_command(  # noqa: PLR0913 (a parameter for each option)
    *,
    file: Path | None,
    questions: Path | None,
    outputs: Path | None,
    provenance: Path | None,
    prompt: Path | None,
    subset: Path | None,
    gate: bool,
    min_average: Fraction,
    min_pass_rate: Fraction,
    reply: Reply,
) -> None:
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
    with WaitingRows() as rows:
        answered = _answered(file, questions, outputs, provenance)
        for problem in answered.problems:
            warn(problem)
        limits = Gate(min_average, min_pass_rate)
        settings = ScoringSettings(
            EvaluationKind.JSON,
            gate=limits,
            subset=_file(subset) if subset else None,
            stop_at_gate=gate,
            prompt=_file(prompt) if prompt else None,
        )
        head, figures = scoring.score_json(
            settings, answered, lambda row: rows.add(row.result), warn
        )
        for name, n in sorted(head["too_long"].items()):
            notice(documents.too_long(name, n))
        names = [path.name for path in (file, questions, outputs, subset, prompt) if path]
        _write("json-v2", " + ".join(names), head, figures, rows, reply)
    deciding = head["subset"] or head["summary"]
    if gate and not deciding["gate_passed"]:
        refusal = gettext(
            "The gate is not passed: mean score %(average)s (at least %(min_average)s), schema "
            "pass rate %(rate)s (at least %(min_rate)s).",
            average=notation.four(deciding["eval_score_avg"]),
            min_average=notation.number(float(limits.min_average)),
            rate=notation.four(deciding["schema_pass_rate"]),
            min_rate=notation.number(float(limits.min_pass_rate)),
        )
        raise click.ClickException(refusal)


def _answered(
    file: Path | None, questions: Path | None, outputs: Path | None, provenance: Path | None
) -> JsonAnswerSet:
    """Return the questions with their answers, of one file or of two joined by id."""
    if file is not None and {questions, outputs, provenance} == {None}:
        return expected_json.read(file.name, file.read_bytes())
    if file is not None or questions is None or outputs is None:
        raise click.UsageError(gettext("Say either FILE or both --questions and --outputs."))
    sources: Any = None
    if provenance is not None:
        sources, _ = load(provenance.name, provenance.read_bytes(), expected="object")
        if not isinstance(sources, dict):
            refusal = gettext(
                "%(file)s is not a JSON object with provenance fields.", file=provenance.name
            )
            raise click.ClickException(refusal)
    with outputs.open("rb") as stream:
        data = questions.read_bytes()
        return expected_json.join(questions.name, data, outputs.name, stream, sources)


def _file(path: Path) -> NamedBytes:
    return NamedBytes(path.name, path.read_bytes())


@score_command.command("constraints")
@click.option("--results", required=True, type=FILE, help="V2 results: results.json.")
@click.option("--gold", required=True, type=FILE, help="Gold questions with constraints.")
@click.option("--manual-input", "manual", type=FILE, help="Decisions by hand.")
@click.option("--threshold", type=up_to(1), help="Mean pass rate to meet, else the gold file's.")
@click.option(
    "--missing",
    type=click.Choice([str(choice) for choice in MissingRule]),
    default=str(MissingRule.COUNTED),
    help="What is asked but not on a card: not passed, or left out.",
)
@replies("table", "json")
def constraints_command(
    results: Path,
    gold: Path,
    manual: Path | None,
    threshold: Fraction | None,
    missing: str,
    reply: Reply,
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
    report, remarks = scoring.constraint_scoring(
        _file(gold),
        _file(results),
        _file(manual) if manual else None,
        threshold=threshold,
        missing=MissingRule(missing),
    )
    for problem in remarks:
        warn(problem)
    if reply.is_json:
        reply.json(constraints_json(report))
    else:
        reply.text(constraint_parts(report))


@score_command.command("answers")
@click.argument("file", type=FILE)
@first_rows
@click.option(
    "--tau-sim",
    type=FiniteRange(-1, 1),
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
    "--keep-citations", is_flag=True, help="Let citations count as words in exact match and F1."
)
@replies(*ALL_FORMATS)
def answers_command(
    *, file: Path, embedder: str | None, embedder_model: str | None, reply: Reply, **limits: Any
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
    settings = ScoringSettings(EvaluationKind.ANSWERS, chosen, **limits)
    _score_rows(settings, file, reply)


@score_command.command("chunks")
@click.argument("file", type=FILE)
@first_rows
@replies(*ALL_FORMATS)
def chunks_command(file: Path, first: int | None, reply: Reply) -> None:
    """Score retrieved chunks by the words they share with the expected answer.

    \b
    JSON: {summary: MEANS, strategies: {NAME: MEANS}, first_n, left_out,
      items: [{id, strategy, iou, recall, precision, precision_omega, f1}]}
    MEANS: {count, iou, recall, precision, precision_omega, f1}. Rows that name
    no strategy stand under "" where others do.
    """  # noqa: D301
    settings = ScoringSettings(EvaluationKind.CHUNKS, first=first)
    _score_rows(settings, file, reply)


def _score_rows(settings: ScoringSettings, path: Path, reply: Reply) -> None:
    """Score the rows of a file and write them; refuses a file of which none can be scored."""
    with WaitingRows() as rows, path.open("rb") as file:
        head, figures = scoring.score_rows(
            settings, path.name, file, lambda row: rows.add(row.result), warn
        )
        if not head["summary"]["count"]:
            refusal = gettext("Not one row of %(file)s could be scored.", file=path.name)
            raise click.ClickException(refusal)
        _write(str(settings.kind), path.name, head, figures, rows, reply)


def _embedder(chosen: str | None, model: str | None) -> Embedder | None:
    if chosen in {None, "lexical", "package"}:
        return embedders.chosen_embedder(chosen or "")
    if not chosen.startswith(("http://", "https://")):
        refusal = gettext("--embedder is lexical, package or the address of an endpoint.")
        raise click.UsageError(refusal)
    if not model:
        raise click.UsageError(gettext("Say which model to ask the endpoint: --embedder-model."))
    return embedders.endpoint(chosen, model, secret(KEY_VARIABLE))
