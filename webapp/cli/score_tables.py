"""The summaries of ``relevansi score`` as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from webapp.exporters import score_reports
from webapp.exporters.measures import read_together
from webapp.i18n import gettext, mark
from webapp.metrics.answer_summary import AnswerSummary
from webapp.metrics.answers import AnswerScale
from webapp.metrics.automatic_registry import (
    CHUNK_MEASURES,
    CONSTRAINT_LABELS,
    CONSTRAINT_MEASURES,
    EVALUATIONS,
    JSON_MEASURES,
)
from webapp.metrics.chunks import FIGURES, ChunkMeans, ChunkSummary
from webapp.metrics.constraints import ConstraintReport, Missing, Totals
from webapp.metrics.json_answer_summary import JsonSummary

if TYPE_CHECKING:
    from rich.table import Table

Number = Fraction | float | None

MISSING_NOTES = {
    Missing.COUNTED: mark(
        "What is asked but not on a card (MISSING) counts as not passed, as in the recorded "
        "evaluations; --missing left-out leaves it out, as in their description."
    ),
    Missing.LEFT_OUT: mark(
        "What is asked but not on a card (MISSING) is left out, as in the description of the "
        "method; its recorded evaluations count it as not passed."
    ),
}


def constraints_table(report: ConstraintReport) -> str:
    """The figures of the evaluation, per constraint, per category, and the matrix."""
    whole = report.totals
    figures = _new(gettext("Figure"), gettext("Value"))
    for name, value in {
        "mean_cpr": whole.mean_cpr,
        "strict_success_ratio": whole.strict_success_ratio,
        "query_success_rate": whole.success_rate,
        "precision": whole.matrix.precision,
        "recall": whole.matrix.recall,
        "f1_score": whole.matrix.f1_score,
        "accuracy": whole.matrix.accuracy,
    }.items():
        figures.add_row(gettext(CONSTRAINT_MEASURES[name].label), _number(value))
    figures.add_section()
    for constraint, value in whole.pca.items():
        figures.add_row(gettext(CONSTRAINT_LABELS[constraint]), _number(value))
    counts = gettext(
        "%(queries)s questions, %(cards)s cards, threshold %(threshold)s",
        queries=whole.n_queries,
        cards=whole.n_properties,
        threshold=f"{float(report.threshold):g}",
    )
    note = gettext(MISSING_NOTES[report.missing])
    return _printed([counts, figures, _matrix(whole), _categories(report.categories), note])


def answers_table(summary: AnswerSummary, scale: AnswerScale, notes: Iterable[str]) -> str:
    """The main table of cited answers, the appendix, and how to read them."""
    parts: list[Table | str] = []
    for found in (score_reports.main_table(summary), score_reports.appendix(summary)):
        table = _new(*(column.heading for column in found.columns))
        table.title = found.title
        for row in found.rows:
            table.add_row(*(_plain(cell.text) for cell in row))
        parts += [table, *found.notes]
    rules = [f"* {rule}" for rule in score_reports.answers_rules()]
    settings = score_reports.answer_settings(summary, scale)
    return _printed(
        [*parts, *settings, *notes, *_advice("answers"), gettext("Rules of thumb:"), *rules]
    )


def chunks_table(summary: ChunkSummary, notes: Iterable[str]) -> str:
    """The means over all rows, and beside them those of each strategy."""
    labels = [gettext(CHUNK_MEASURES[name].label) for name in FIGURES]
    table = _new(gettext("Strategy"), "n", *labels)
    table.add_row(gettext("All"), *_chunk_cells(summary.overall))
    named = {name: part for name, part in summary.strategies.items() if name is not None}
    if named:
        table.add_section()
    for name, part in named.items():
        table.add_row(_plain(name), *_chunk_cells(part))
    if named and None in summary.strategies:
        table.add_row(gettext("None named"), *_chunk_cells(summary.strategies[None]))
    return _printed([table, *notes, *_advice("chunks")])


def json_table(summary: JsonSummary, subset: JsonSummary | None, notes: Iterable[str]) -> str:
    """The averages, of a dev set too where there is one, and why outputs failed."""
    columns = {gettext("Dev set"): subset} if subset else {}
    columns[gettext("All")] = summary
    table = _new(gettext("Figure"), *columns)
    average, rate, gate = (
        gettext(JSON_MEASURES[name].label)
        for name in ("eval_score_avg", "schema_pass_rate", "gate_passed")
    )
    rows: dict[str, Sequence[str]] = {
        gettext("Answers"): [str(part.count) for part in columns.values()],
        average: [_number(part.average) for part in columns.values()],
        rate: [_number(part.schema_pass_rate) for part in columns.values()],
        gate: [
            gettext("passed") if part.gate_passed else gettext("not passed")
            for part in columns.values()
        ],
    }
    for label, cells in rows.items():
        table.add_row(label, *cells)
    table.add_section()
    for name in summary.part_means:
        cells = [_number(part.part_means[name]) for part in columns.values()]
        table.add_row(_plain(name), *cells)
    reasons = [f"{reason}: {n}" for reason, n in summary.reasons.most_common()]
    failed = [gettext("Failed outputs: %(reasons)s", reasons=", ".join(reasons))] if reasons else []
    return _printed([table, *failed, *notes, *_advice("json-v2")])


def _matrix(whole: Totals) -> Table:
    table = _new("", gettext("Met"), gettext("Not met"))
    matrix = whole.matrix
    table.add_row(gettext("Has data"), f"TP {matrix.tp}", f"FN {matrix.fn}")
    table.add_row(gettext("No data"), f"FP {matrix.fp}", f"TN {matrix.tn}")
    return table


def _categories(categories: Mapping[str, Totals]) -> Table:
    table = _new(
        gettext("Category"),
        gettext("Questions"),
        gettext("Query success rate"),
        gettext("Results"),
        gettext("Mean CPR"),
    )
    for name, part in categories.items():
        success = f"{part.n_successful} ({_number(part.success_rate)})"
        cpr = _number(part.mean_cpr)
        table.add_row(_plain(name), str(part.n_queries), success, str(part.n_properties), cpr)
    return table


def _chunk_cells(means: ChunkMeans) -> list[str]:
    return [str(means.count), *(_number(value) for value in means.figures().values())]


def _advice(name: str) -> list[str]:
    evaluation = EVALUATIONS[name]
    return [f"* {read_together(each, evaluation.measures)}" for each in evaluation.advice]


def _new(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table()
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _printed(parts: Iterable[Table | str]) -> str:
    from rich.console import Console

    console = Console(width=100, no_color=True)
    with console.capture() as captured:
        for part in parts:
            console.print(part, markup=False, highlight=False)
    return captured.get()


def _number(value: Number) -> str:
    return "-" if value is None else f"{float(value):.4f}"
