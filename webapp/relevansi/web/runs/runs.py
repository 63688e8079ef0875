"""Runs: their list, one run with its figures, its labels, its exports, its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from msgspec import structs

from relevansi import labels, notation
from relevansi.exporters.exports.csv_ratings import columns_of
from relevansi.exporters.exports.metrics_tables import (
    blindness_sentence,
    by_column,
    chapters,
    metrics_json,
    read_together,
    rounding,
    unsampled_sentence,
    values_by_column,
)
from relevansi.i18n import gettext, mark
from relevansi.importers.runs import problems
from relevansi.metrics.judging.figures import QueryRow, RunReport, Totals, category_totals
from relevansi.metrics.judging.figures import figures as figures_of
from relevansi.metrics.judging.figures import totals as totals_of
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.metrics.judging.registry import label_of, measure_of
from relevansi.notation import UNDEFINED
from relevansi.records import Counts, Problem, QueryState
from relevansi.services.exports import exports
from relevansi.services.rating import shares
from relevansi.services.runs import reports, runs, samples
from relevansi.services.runs.runs import RunPage
from relevansi.services.study import assignments, studies
from relevansi.web.frame import access
from relevansi.web.frame.forms import checked
from relevansi.web.frame.htmx import attached
from relevansi.web.rating import figures
from relevansi.web.runs.imports import LabelsForm, MoveForm
from relevansi.web.study import study

blueprint = Blueprint("runs", __name__, url_prefix="/runs")
FORMATS = {
    "csv": "export.csv",
    "wide-csv": "raters.csv",
    "xlsx": "export.xlsx",
    "report": "report.md",
    "long-csv": "judgments.csv",
    "qrels": "qrels.txt",
    "run": "run.txt",
    "json": "export.json",
    **exports.TOOLS,
}
"""Each format of an export with the last part of its address."""
OF_RUN = f"any({', '.join(map(repr, FORMATS.values()))})"
Value = str | float | None

COLUMNS: Mapping[str, str] = {
    "query_id": mark("No."),
    "question": mark("Question"),
    "category": mark("Category"),
    "results_count": mark("Results"),
    "relevant_count": mark("Relevant"),
    "first_relevant_rank": mark("First relevant rank"),
    "overall_precision": mark("Overall precision"),
    "precision_at_5": "P@5",
    "mrr": "RR",
    "success": mark("Success"),
    "response_quality": mark("Quality"),
    "notes": mark("Notes"),
}
"""The columns of a run's questions by the names that they have in the rated CSV."""

IN_WORDS = ("question", "category", "notes")
IN_DECIMALS = ("overall_precision", "precision_at_5", "mrr")
ORDERS = ("asc", "desc")

measures = Blueprint("measures", __name__, url_prefix="/measures")


@measures.get("/", endpoint="show")
def explain() -> str:
    """Explain every figure and column of the product, from its registries."""
    return render_template(
        "runs/measures/page.html",
        chapters=chapters(),
        rounding=rounding(),
        read_together=read_together,
    )


@blueprint.get("/")
def index() -> str:
    with access.reading() as (session, rater):
        listed = tuple(runs.overviews(session, rater))
        blind = shares.if_blind(session, rater)
        rule = reports.final_rule(session, rater.study)
        states = reports.states(session, rater.study, rule)
        state = reports.state(session, rater.study, reports.in_study(rater.study), rule)
    return render_template("runs/index.html", runs=listed, blind=blind, states=states, state=state)


@blueprint.get("/<run_id>")
def show(run_id: str) -> str:
    """Show a run: its figures, what is open, its questions, its files."""
    with access.reading() as (session, rater):
        run, latency = runs.run_page(session, rater, run_id), runs.latency_of(session, run_id)
        rule = reports.rule_of(session, rater.study, study.wanted_rule())
        report = reports.in_words(session, rater.study, run_id, rule)
        assert report.state is not None
        others = runs.overviews(session, rater) if report.state.is_complete else []
        with_unasked = reports.report(session, rater.study, run_id, rule, with_unasked=True)
        offered = study.rule_choices(session, rater.study)
        exposure = assignments.exposure(session, rater.study)
        is_blind = studies.is_blind(session, rater.study)
    whole = totals_of(report)
    names = report.headline
    left = report.state
    waiting = figures.waiting(left.cards, left.lists, left.answers, left.ties + left.decided)
    rows = figures.rows(names, report.scale, figures.of_totals(whole, names, waiting))
    sort, order = request.args.get("sort", ""), request.args.get("order", "")
    return render_template(
        "runs/page.html",
        part=request.args.get("part", "questions"),
        run=run,
        rule=next(one for one in offered if one.name == report.rule),
        rules=offered,
        blindness=blindness_sentence(report.blindness),
        exposure=exposure,
        totals=whole,
        unasked=tuple(_unasked(report, run.overview.counts, rater.study.pool_depth)),
        cannot_tell=report.cannot_tell,
        rows=rows,
        has_remarks=any(cell.waiting or cell.reason for row in rows for cell in row.cells),
        measures=figures.measures(names, report.scale),
        reasons=figures.reasons(names),
        categories=[
            (name, totals, figures.of_totals(totals, names).values())
            for name, totals in category_totals(report).items()
        ],
        questions=_questions(run, with_unasked, sort, order),
        sources=[
            (file, problems.remarks(map(Problem.stored, file.problems)))
            for file in run.overview.run.files
        ],
        next_run=next((other for other in others if other.first_open is not None), None),
        formats=FORMATS,
        is_original=report.is_original,
        read_as=run.overview.run.files[0].file_format,
        columns={name: measure_of(name) for name in columns_of(report)},
        latency=latency,
        seconds=notation.seconds,
        run_state=left,
        can_rate=rule.rater in (None, rater),
        is_blind=is_blind,
    )


@blueprint.post("/<run_id>/labels")
def relabel(run_id: str) -> Response:
    form = checked(LabelsForm)
    with access.writing() as (session, rater):
        method, llm = form.search_method.data or None, form.llm.data or None
        runs.relabel(session, rater.study, run_id, method, llm, access.now())
        session.commit()
    return redirect(url_for("runs.show", run_id=run_id, part="files", _anchor="labels"), 303)  # type: ignore[return-value]


@blueprint.post("/<run_id>/move")
def move(run_id: str) -> Response:
    """Put a run one place up or down in the list, and go back to it there."""
    form = checked(MoveForm)
    with access.writing() as (session, rater):
        runs.move(session, rater.study, run_id, form.direction.data or "")
        session.commit()
    return redirect(url_for("runs.index", _anchor=f"run-{run_id}"), 303)  # type: ignore[return-value]


@blueprint.get("/<run_id>/delete")
def ask_to_delete(run_id: str) -> str:
    """Say what goes with a run and what stays."""
    with access.reading() as (session, rater):
        run = runs.find(session, rater.study, run_id)
        goes, stays = runs.deletion_cost(session, rater.study, run_id)
        return render_template("runs/delete.html", run=run, goes=goes, stays=stays)


@blueprint.post("/<run_id>/delete")
def delete(run_id: str) -> Response:
    with access.writing() as (session, rater):
        runs.delete_run(session, rater.study, run_id, access.now())
        session.commit()
    return redirect(url_for("runs.index"), 303)  # type: ignore[return-value]


@blueprint.get("/sample")
def ask_to_remove_sample() -> Response:
    """Say what goes with the sample runs; once there are none, lead back to the first page."""
    with access.reading() as (session, rater):
        found = samples.sample_runs(session, rater.study)
        judgments, ratings, restores_blind = samples.removal_cost(session, rater.study, found)
        if not found:
            return redirect(url_for("home.show"))  # type: ignore[return-value]
        page = render_template(
            "runs/remove_sample.html",
            runs=found,
            judgments=judgments,
            ratings=ratings,
            restores_blind=restores_blind,
        )
    return make_response(page)


@blueprint.post("/sample")
def remove_sample() -> Response:
    """Remove the sample runs with all verdicts that are about them alone."""
    with access.writing() as (session, rater):
        samples.remove(session, rater.study, access.now())
        session.commit()
    return redirect(url_for("home.show"), 303)  # type: ignore[return-value]


@blueprint.get("/<run_id>/metrics.json")
def metrics(run_id: str) -> Response:
    """Return the same numbers as the page and the command line, as JSON."""
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, study.wanted_rule())
        report = reports.report(session, rater.study, run_id, rule)
    return jsonify(metrics_json(report))


@blueprint.get(f"/<run_id>/<{OF_RUN}:name>")
def export(run_id: str, name: str) -> Response:
    """Return a run as a file to take away."""
    file_format = next(key for key, value in FORMATS.items() if value == name)
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, study.wanted_rule())
        file = exports.export(session, rater.study, run_id, rule, file_format)
    return attached(file.data, file.media_type, file.name)


def _unasked(report: RunReport, whole: Counts, depth: int | None) -> Iterator[str]:
    if depth and any(row.summary.results_count > depth for row in report.rows):
        yield gettext(
            "The pool ends at rank %(depth)s: what lies only deeper is nobody's to judge, and"
            " figures that reach so far stay open.",
            depth=notation.number(depth),
        )
    if not report.unasked:
        return
    yield from unsampled_sentence(report.unasked)
    of_all = Totals(
        n_queries=whole.queries, n_with_results=whole.with_results, n_unreadable=whole.unreadable
    )
    yield gettext(
        "Over all %(n)s questions of the run the coverage is %(coverage)s, which takes no verdict.",
        n=notation.number(whole.queries),
        coverage=notation.figure(figures_of(of_all)["coverage"].value),
    )


def _questions(page: RunPage, report: RunReport, sort: str, order: str) -> dict[str, Any]:
    """Return the table of questions, sorted by a column; what has no value comes last."""
    columns = {
        name: gettext(COLUMNS[name]) if name in COLUMNS else label_of(name, report.scale)
        for name in columns_of(report)
    }
    in_numbers = tuple(columns)[3:-1]  # those between category and notes
    rows: list[tuple[Mapping[str, Value], dict[str, Any]]] = []
    for row in report.rows:
        values, asked = _values(row, in_numbers), page.queries[row.query_id]
        cells = [
            _cell(row.summary, name, values[name]) if asked.is_asked else UNDEFINED
            for name in in_numbers
        ]
        rows.append((values, {**asked._asdict(), **structs.asdict(row), "figures": cells}))
    for position, text in page.missing_questions:
        values = {"query_id": position, "question": text.casefold()}
        cells = [UNDEFINED] * len(in_numbers)
        rows.append((values, {"position": position, "question": text, "figures": cells}))
    is_sorted, falling = sort in columns, order == "desc"
    if is_sorted:
        known = [row for row in rows if row[0].get(sort) not in (None, "")]
        unknown = [row for row in rows if row[0].get(sort) in (None, "")]
        known.sort(key=lambda row: row[0][sort], reverse=falling)  # type: ignore[arg-type,return-value]
        rows = known + unknown
    return {
        "columns": [
            {
                "name": name,
                "heading": heading,
                "in_words": name in IN_WORDS,
                "sorted": ("descending" if falling else "ascending") if name == sort else "",
                "next_order": ORDERS[name == sort and not falling],
            }
            for name, heading in columns.items()
        ],
        "rows": [row for _, row in rows],
        "order": {"sort": sort, "order": ORDERS[falling]} if is_sorted else {},
        "n_open": sum(row.get("is_open", False) for _, row in rows),
    }


def _values(row: QueryRow, columns: Iterable[str]) -> dict[str, Value]:
    summary, values = row.summary, values_by_column(row.summary)
    unreadable = summary.state is QueryState.UNREADABLE
    return {
        "query_id": row.query_id,
        "question": row.question.casefold(),
        "category": labels.category(row.category).casefold(),
        "results_count": None if unreadable else summary.results_count,
        **by_column(summary),
        "response_quality": None if unreadable else summary.quality,
        "notes": row.notes.casefold(),
        **{name: values[name] for name in columns if name not in COLUMNS},
    }


def _cell(summary: QuerySummary, name: str, value: Value) -> str:
    if value is None:
        is_open = name == "response_quality" or (name in COLUMNS and not summary.complete)
        return "" if is_open and summary.state is not QueryState.UNREADABLE else UNDEFINED
    assert not isinstance(value, str)
    in_decimals = name in IN_DECIMALS or name not in COLUMNS
    return notation.figure(value) if in_decimals else notation.number(value)
