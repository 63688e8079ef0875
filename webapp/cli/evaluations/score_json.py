"""``relevansi score json-v2``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from webapp import notation
from webapp.cli.evaluations.score_options import ALL_FORMATS, ShareOption
from webapp.cli.evaluations.score_output import (
    ITEM_FORMATS,
    failure_of,
    reading,
    tell,
    write_items,
    write_report,
)
from webapp.cli.frame.options import FILE, formats
from webapp.cli.frame.output import say
from webapp.exporters.evaluations import score_documents as documents
from webapp.exporters.evaluations import score_reports
from webapp.exporters.evaluations.waiting_rows import WaitingRows
from webapp.i18n import gettext
from webapp.importers.evaluations import expected_json
from webapp.importers.evaluations.expected_json import JsonAnswerSet
from webapp.importers.runs.json_documents import load
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.evaluations.json_answer_summary import Gate, JsonSummary
from webapp.services.evaluations import scoring
from webapp.services.evaluations.scoring import JsonScoring, NamedBytes


class _JsonOptions(Struct, frozen=True):
    """The options of the command line."""

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
    _write(asked, answered, found)
    deciding = found.subset or found.summary
    if asked.gate and not deciding.gate_passed:
        raise click.ClickException(_gate_message(deciding))


def _answered(asked: _JsonOptions) -> JsonAnswerSet:
    """The set that the options name; its errors are printed."""
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


def _write(asked: _JsonOptions, answered: JsonAnswerSet, found: JsonScoring) -> None:
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
