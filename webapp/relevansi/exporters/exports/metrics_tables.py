"""The figures of a rated run as JSON values, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
from msgspec.structs import replace

from relevansi import labels, notation
from relevansi.exporters.exports import empty_answers
from relevansi.exporters.exports.judging_sentences import (
    blindness_sentence,
    pace_sentence,
    unsampled_sentence,
)
from relevansi.exporters.exports.meanings import read_together
from relevansi.exporters.frame.charts import in_words
from relevansi.exporters.frame.csv_cells import Value, csv_bytes, rounded
from relevansi.exporters.frame.json_files import JsonValue, fields, moment_json, whole_if_exact
from relevansi.exporters.frame.tables import Table, escaped, inline, markdown_table, text_table
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.judging.empty_answers import CHECKED, EmptyAnswerCounts, counts_of
from relevansi.metrics.judging.figures import (
    HEADLINES,
    Figure,
    QueryRow,
    RunReport,
    Totals,
    category_totals,
    figures,
    totals,
)
from relevansi.metrics.judging.graded import with_judged
from relevansi.metrics.judging.queries import MEANS, QuerySummary
from relevansi.metrics.judging.registry import (
    HEADLINE_ADVICE,
    MEASURES,
    REFERENCES,
    label_of,
    measure_of,
)
from relevansi.notation import decimals
from relevansi.records import Blindness, State


def blindness_json(blindness: Blindness) -> dict[str, JsonValue]:
    """How many verdicts and grades were given blind, open (with the last one's time) or neither."""
    return {
        name: fields(counts, "n", "blind", "open")
        | {"last_open": moment_json(counts.last_open), "unknown": counts.unknown}
        for name, counts in fields(blindness, "verdicts", "grades").items()
    }


METRICS_COLUMNS = ("category", "figure", "value", "lower", "upper", "n")
"""The columns of ``metrics_csv``; ``category`` is blank for the whole run."""


def metrics_json(report: RunReport) -> dict[str, Any]:
    """The figures of `report`, unrounded; null where a figure is undefined.

    ``figures`` and each of ``categories`` hold {value, lower, upper, n} by name. ``empty_answers``
    counts the correct ones that were given after looking, and the false negatives with evidence,
    whose ids are in ``queries``; not there for a rated file. Of an
    incomplete query the figures and what they rest on are null, as in the rated CSV. The
    ``mrr`` of a query is its reciprocal rank: unlike in that file, null for a correct empty.
    ``not_asked`` has the query ids that a sample left out, and is there only if it did.
    ``state`` is how far the run is rated, not there for a rated file.
    ``cannot_tell`` is "not_relevant" (in the denominator of the precisions) or "left_out"; null
    for a rated file that does not say. A study of other figures than those of the method has
    ``scale`` {top, from}, ``merging``, ``to_judge`` (results without a verdict), perhaps
    ``seconds_per_verdict`` {median, n} by rater, and, in each query,
    ``external_id`` and ``figures`` {value, lower, upper} by name, with the ``Judged@k`` that
    stands beside a figure without bounds.
    """
    run_totals = totals(report)
    document: dict[str, Any] = {
        **fields(report, "run", "rule", "cannot_tell"),
        **fields(run_totals, "n_queries", "n_complete", "n_with_results"),
        **fields(run_totals, "n_failed", "n_unreadable"),
    }
    if report.unasked:
        document["not_asked"] = list(report.unasked)
    if report.headline != HEADLINES:
        document["scale"] = {"top": report.scale.top, "from": report.scale.relevant_from}
        document["merging"] = report.merging
        document["to_judge"] = run_totals.n_unjudged
        if report.seconds:
            document["seconds_per_verdict"] = seconds_json(report.seconds)
    if report.state:
        document["state"] = state_json(report.state)
    by_part = {
        category: {
            name: fields(figure, "value", "lower", "upper", "n")
            for name, figure in _figures(report, part, category).items()
        }
        for category, part in _parts(report)
    }
    document["figures"] = by_part.pop(None)
    document["categories"] = by_part
    if report.knows_searches:
        document["empty_answers"] = empty_answers.counts_json(empty_counts(report))
    document["queries"] = [_query(row) for row in report.rows]
    return document


def empty_counts(report: RunReport, category: str | None = None) -> EmptyAnswerCounts:
    """What looking gave for the empty answers of a run, or of a `category`."""
    return counts_of(row.empty_answer for row in report.rows if category in {None, row.category})


def _parts(report: RunReport) -> list[tuple[str | None, Totals]]:
    """The totals of a run, under no category, then those of each category."""
    return [(None, totals(report)), *category_totals(report).items()]


def _figures(report: RunReport, part: Totals, category: str | None = None) -> dict[str, Figure]:
    """The figures of a run, or of its questions of a category, and whether it was looked up."""
    by_name = figures(part, with_judged(report.headline))
    # A rated file does not say who looked.
    if report.knows_searches and "success_rate" in report.headline:
        counts = empty_counts(report, category)
        by_name[CHECKED] = Figure(counts.share_checked, None, None, n=counts.correct_empty)
    return by_name


def state_json(state: State) -> dict[str, JsonValue]:
    """How far a run is rated: whether to the end, and what is open of which kind."""
    return {"finished": state.is_complete, "stage": state.stage, **msgspec.to_builtins(state)}


def seconds_json(seconds: Mapping[str, tuple[float, int]]) -> JsonValue:
    """The median seconds per verdict of each rater, and how many verdicts have a time."""
    return {name: {"median": value, "n": n} for name, (value, n) in seconds.items()}


def metrics_csv(report: RunReport) -> bytes:
    """One line per figure of the run, then of each category: 4 decimals, blank if undefined."""
    rows: list[tuple[Value, ...]] = []
    for category, part in _parts(report):
        for name, figure in _figures(report, part, category).items():
            values = map(rounded, (figure.value, figure.lower, figure.upper))
            rows.append((category, name, *values, figure.n))
    return csv_bytes([METRICS_COLUMNS, *rows])


def metrics_markdown(report: RunReport) -> str:
    """The figures as Markdown tables in the language in force, ``-`` where undefined.

    First the run's with n, then a line per category; a figure that is open is its band.
    """
    run_totals = totals(report)
    parts = [
        f"# {gettext('Run')} {inline(report.run)} ({inline(labels.rule(report.rule))})",
        *sentences(report, run_totals),
        markdown_table(figure_table(report, run_totals)),
        markdown_table(_category_table(report)),
    ]
    return "\n\n".join(parts) + "\n"


def sentences(report: RunReport, run_totals: Totals) -> Iterator[str]:
    """Yield the sentences beside the figures: counts, what is left out, how blind it was."""
    state = report.state or State(
        questions=run_totals.n_counted,
        complete=run_totals.n_complete,
        cards=run_totals.n_unjudged,
        lists=run_totals.n_unclassified,
        answers=run_totals.n_unrated,
    )
    counts = gettext(
        "%(state)s. %(queries)s questions: %(with_results)s with results,"
        " %(empty)s empty, %(failed)s failed, %(unreadable)s unreadable.",
        state=labels.state(state),
        queries=run_totals.n_queries,
        with_results=run_totals.n_with_results,
        empty=run_totals.n_empty,
        failed=run_totals.n_failed,
        unreadable=run_totals.n_unreadable,
    )
    cannot_tell = labels.cannot_tell(report.cannot_tell)
    yield " ".join(filter(None, [counts, *unsampled_sentence(report.unasked), cannot_tell]))
    if report.headline != HEADLINES and run_totals.n_unjudged:
        yield ngettext(
            "%(n)s result has no verdict: it has no gain.",
            "%(n)s results have no verdict: they have no gain.",
            run_totals.n_unjudged,
        )
    looked_up = " ".join(empty_answers.sentences(empty_counts(report)))
    further = (blindness_sentence(report.blindness), looked_up, pace_sentence(report.seconds))
    yield from filter(None, further)


def _query(row: QueryRow) -> dict[str, JsonValue]:
    summary = row.summary
    return {
        **fields(row, "query_id", "question", "category"),
        **fields(summary, "results_count", "judged_count"),
        **by_column(summary),
        "response_quality": whole_if_exact(summary.figures["mean_response_quality"].value),
        "empty_outcome": summary.empty_outcome.value if summary.empty_outcome else None,
        **empty_answers.answer_json(row.empty_answer),
        "notes": row.notes,
        "complete": summary.complete,
        **({"external_id": row.external_id} if row.external_id is not None else {}),
        **({"figures": spans_json(summary)} if summary.ranking else {}),
    }


def by_column(summary: QuerySummary) -> dict[str, float | None]:
    """What a query has under the columns of the rated CSV: nothing until it is complete."""
    figures = values_by_column(summary)
    success = figures["success"]
    return {
        "relevant_count": summary.relevant_count if summary.complete else None,
        "first_relevant_rank": summary.first_relevant_rank if summary.complete else None,
        "overall_precision": figures["overall_precision"],
        "precision_at_5": figures["precision_at_5"],
        "mrr": figures["answerable_reciprocal_rank"],
        "success": None if success is None else int(success),
    }


def values_by_column(summary: QuerySummary) -> dict[str, float | None]:
    """The value of each figure of a query, by what files call it."""
    ranking = {name: span.value for name, span in summary.ranking.items()}
    return ranking | {column: summary.figures[name].value for name, column in MEANS.items()}


def spans_json(summary: QuerySummary) -> dict[str, JsonValue]:
    """The ranking figures of a query by name."""
    return {name: dict(span._asdict()) for name, span in summary.ranking.items()}


def figure_table(report: RunReport, run_totals: Totals) -> Table:
    """Return the figures of a run with n; of a figure that is still open its band."""
    rows = []
    for name, figure in _figures(report, run_totals).items():
        words = in_words(figure, write=_four_decimals)
        rows.append((label_of(name, report.scale), words.text, words.n.removeprefix("n = ")))
    title = f"{report.run} ({labels.rule(report.rule)})"
    return text_table(title, (gettext("Figure"), gettext("Value"), "n"), rows, numeric={1, 2})


def _category_table(report: RunReport) -> Table:
    rows = []
    for name, part in category_totals(report).items():
        row = [labels.with_label(labels.category(name), name), str(part.n_queries)]
        for figure in figures(part, report.headline).values():
            words = in_words(figure, write=_four_decimals)
            row.append(f"{words.text} ({words.n})" if words.is_open else words.text)
        rows.append(row)
    names = [label_of(name, report.scale) for name in report.headline]
    headings = (gettext("Category"), gettext("Questions"), *names)
    return text_table("", headings, rows, numeric=range(1, len(headings)))


def _four_decimals(value: float | None, _unit: str = notation.RATIO) -> str:
    # The decimals of files, whichever way the reader has ratios written on pages.
    return notation.UNDEFINED if value is None else decimals(value, 4)


def runs_markdown(reports: Sequence[tuple[str, RunReport]]) -> bytes:
    """Return the figures of all runs in the language in force; each comes with its name."""
    names = tuple(dict.fromkeys(chain.from_iterable(report.headline for _, report in reports)))
    advice = [
        read_together(each, MEASURES) for each in HEADLINE_ADVICE if {*each.figures} <= {*names}
    ]
    parts = [f"# {gettext('Evaluation report')}"]
    for name, report in reports:
        chapter = metrics_markdown(replace(report, run=name))
        parts.append(chapter.replace("# ", "## ", 1).rstrip())
    for heading, texts in (
        (f"## {gettext('What the figures mean')}", _meanings(names)),
        (f"### {gettext('How the table is read')}", _conventions()),
        (f"### {gettext('Read together')}", advice),
        (f"## {gettext('References')}", REFERENCES),
    ):
        if paragraph := "\n".join(f"- {escaped(text)}" for text in texts):
            parts += [heading, paragraph]
    return ("\n\n".join(parts) + "\n").encode()


def _meanings(names: Sequence[str]) -> Iterator[str]:
    formula, denominator = gettext("Formula"), gettext("Denominator")
    for figure in names:
        measure = measure_of(figure)
        texts = (
            gettext(measure.meaning),
            f"{formula}: {gettext(measure.formula)}.",
            f"{denominator}: {gettext(measure.denominator)}.",
            gettext(measure.reading) if measure.reading else "",
        )
        yield f"{gettext(measure.label)}: {' '.join(filter(None, texts))}"


def _conventions() -> Iterator[str]:
    yield gettext(
        "n is the number of questions behind a value: the precisions and MRR are means over the "
        "questions with results, the success rate and the coverage are over all questions."
    )
    yield gettext(
        "While the rating is incomplete, a figure is provisional and stands as from what to what "
        "it can still come: over all questions, with every open judgment not relevant or relevant. "
        "n says how many questions of how many are complete."
    )
    yield gettext(notation.UNDEFINED_NOTE)
