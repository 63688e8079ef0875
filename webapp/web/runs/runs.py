"""Runs: their list, one run with its figures, its labels, its exports, its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from msgspec import Struct

from webapp.exporters.exports.csv_ratings import RATED_COLUMNS
from webapp.exporters.exports.metrics_tables import said_blindness, said_unasked
from webapp.i18n import gettext
from webapp.importers.runs import problems
from webapp.importers.runs.problems import JoinedProblem
from webapp.metrics.judging.figures import RunReport, Totals, category_totals, confusion
from webapp.metrics.judging.figures import figures as figures_of
from webapp.metrics.judging.figures import totals as totals_of
from webapp.metrics.judging.registry import measure_of
from webapp.metrics.runs.provenance import Latency
from webapp.records import Counts, Problem
from webapp.services.rating import shares
from webapp.services.runs import reports, runs, samples
from webapp.services.runs.runs import RunOverview, RunPage, SourceFile
from webapp.services.study import assignments, studies
from webapp.services.study.assignments import Exposure
from webapp.web.frame import access, formatting
from webapp.web.frame.formatting import seconds
from webapp.web.frame.forms import checked
from webapp.web.frame.htmx import attached
from webapp.web.rating import figures
from webapp.web.rating.figures import FigureCell
from webapp.web.runs import questions as run_questions
from webapp.web.runs.imports import LabelsForm, MoveForm
from webapp.web.study import study
from webapp.web.study.study import RuleChoice

blueprint = Blueprint("runs", __name__, url_prefix="/runs")
OF_RUN = (
    "any('export.csv', 'raters.csv', 'export.xlsx', 'report.md', 'judgments.csv', 'qrels.txt', "
    "'run.txt', 'export.json')"
)

FORMATS = {
    "csv": "export.csv",
    "wide-csv": "raters.csv",
    "xlsx": "export.xlsx",
    "report": "report.md",
    "long-csv": "judgments.csv",
    "qrels": "qrels.txt",
    "run": "run.txt",
    "json": "export.json",
}
"""Each format of an export with the last part of its address."""


class Source(Struct, frozen=True):
    """A file of the run and what its import reported, in the reader's language."""

    file: SourceFile
    remarks: tuple[JoinedProblem, ...]


class Category(Struct, frozen=True):
    """One category of a run with its figures, in the order of the panel's rows.

    ``left`` counts the queries that miss a verdict under the rule in force.
    """

    name: str
    queries: int
    left: int
    cells: tuple[FigureCell, ...]


class ResponseTimes(Struct, frozen=True):
    """How long the chatbot took, in seconds as they are written, over ``n`` answers."""

    p50: str
    p95: str
    mean: str
    n: int


@blueprint.get("/")
def index() -> str:
    """List the study's runs."""
    with access.reading() as (session, rater):
        listed = tuple(runs.overviews(session, rater))
        blind = shares.if_blind(session, rater)
    return render_template("runs/index.html", runs=listed, blind=blind)


@blueprint.get("/<run_id>")
def show(run_id: str) -> str:
    """Show a run: its figures, what is open, its questions, its files."""
    with access.reading() as (session, rater):
        run = runs.run_page(session, rater, run_id)
        others = runs.overviews(session, rater) if run.overview.first_open is None else []
        rule = reports.rule_of(session, rater.study, study.wanted_rule())
        report = reports.in_words(session, rater.study, run_id, rule)
        whole = reports.report(session, rater.study, run_id, rule, whole=True)
        offered = study.rule_choices(session, rater.study)
        exposure = assignments.exposure(session, rater.study)
        is_blind = studies.is_blind(session, rater.study)
    page = _shown(run, others, report, whole, offered, exposure, is_blind=is_blind)
    return render_template("runs/page.html", **page)


@blueprint.post("/<run_id>/labels")
def relabel(run_id: str) -> Response:
    """Give a run other labels."""
    form = checked(LabelsForm)
    with access.writing() as (session, rater):
        method, llm = form.search_method.data or None, form.llm.data or None
        runs.relabel(session, rater.study, run_id, method, llm, access.now())
        session.commit()
    return redirect(url_for("runs.show", run_id=run_id, _anchor="labels"), 303)  # type: ignore[return-value]


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
        run = runs.run_page(session, rater, run_id).overview
        cost = runs.deletion_cost(session, rater.study, run_id)
    return render_template("runs/delete.html", run=run, cost=cost)


@blueprint.post("/<run_id>/delete")
def delete(run_id: str) -> Response:
    """Delete a run with the judgments that belong to it alone."""
    with access.writing() as (session, rater):
        runs.delete_run(session, rater.study, run_id, access.now())
        session.commit()
    return redirect(url_for("runs.index"), 303)  # type: ignore[return-value]


@blueprint.get("/sample")
def ask_to_remove_sample() -> Response:
    """Say what goes with the sample runs; once there are none, lead back to the first page."""
    with access.reading() as (session, rater):
        found = tuple(samples.found(session, rater.study))
        cost = samples.removal_cost(session, rater.study)
    if not found:
        return redirect(url_for("home.show"))  # type: ignore[return-value]
    return make_response(render_template("runs/remove_sample.html", runs=found, cost=cost))


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
    from flask import jsonify

    from webapp.exporters.exports.metrics_tables import metrics_json
    from webapp.exporters.frame.csv_cells import rounded

    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, study.wanted_rule())
        report = reports.report(session, rater.study, run_id, rule)
    return jsonify(rounded(metrics_json(report)))


@blueprint.get(f"/<run_id>/<{OF_RUN}:name>")
def export(run_id: str, name: str) -> Response:
    """Return a run as a file to take away."""
    from webapp.services.exports import exports  # brings pandas and openpyxl, which no page needs

    file_format = next(key for key, value in FORMATS.items() if value == name)
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, study.wanted_rule())
        file = exports.export(session, rater.study, run_id, rule, file_format)
    return attached(file.data, file.media_type, file.name)


def _shown(
    run: RunPage,
    others: list[RunOverview],
    report: RunReport,
    with_unasked: RunReport,
    offered: tuple[RuleChoice, ...],
    exposure: Exposure,
    *,
    is_blind: bool,
) -> dict[str, Any]:
    whole = totals_of(report)
    rows = figures.rows(figures.of_totals(whole))
    open_runs = (other for other in others if other.first_open is not None)
    return {
        "run": run,
        "rule": next(rule for rule in offered if rule.name == report.rule),
        "rules": offered,
        "blindness": said_blindness(report.blindness),
        "exposure": exposure,
        "totals": whole,
        "unasked": tuple(_unasked(report, run.overview.counts)),
        "cannot_tell": report.cannot_tell,
        "rows": rows,
        "has_remarks": any(cell.sentence or cell.reason for row in rows for cell in row.cells),
        "measures": figures.measures(),
        "reasons": figures.reasons(),
        "categories": tuple(_category(*item) for item in category_totals(report).items()),
        "confusion": confusion(whole),
        "questions": run_questions.table(
            run, with_unasked, request.args.get("sort", ""), request.args.get("order", "")
        ),
        "sources": tuple(_source(file) for file in run.files),
        "next_run": next(open_runs, None),
        "formats": FORMATS,
        "columns": {name: measure_of(name) for name in RATED_COLUMNS},
        "times": _times(run.latency),
        "finished": run.overview.first_open is None,
        "is_blind": is_blind,
    }


def _unasked(report: RunReport, whole: Counts) -> Iterator[str]:
    if not report.unasked:
        return
    yield from said_unasked(report.unasked)
    of_all = Totals(
        n_queries=whole.queries, n_with_results=whole.with_results, n_unreadable=whole.unreadable
    )
    yield gettext(
        "Over all %(n)s questions of the run the coverage is %(coverage)s, which takes no verdict.",
        n=formatting.number(whole.queries),
        coverage=formatting.figure(figures_of(of_all)["coverage"].value),
    )


def _times(latency: Latency | None) -> ResponseTimes | None:
    if latency is None:
        return None
    p50, p95, mean = map(seconds, (latency.p50, latency.p95, latency.mean))
    return ResponseTimes(p50, p95, mean, latency.n)


def _category(name: str, totals: Totals) -> Category:
    cells = figures.of_totals(totals)
    left = totals.n_counted - totals.n_complete
    return Category(name, totals.n_queries, left, tuple(cells.values()))


def _source(file: SourceFile) -> Source:
    return Source(file, problems.remarks(map(Problem.stored, file.problems)))
