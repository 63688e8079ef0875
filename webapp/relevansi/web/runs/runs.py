"""Runs: their list, one run with its figures, its labels, its exports, its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flask import (
    Blueprint,
    Response,
    jsonify,
    render_template,
    request,
    url_for,
)

from relevansi import labels, notation
from relevansi.exporters.exports import empty_answers
from relevansi.exporters.exports.judging_sentences import blindness_sentence, unsampled_sentence
from relevansi.exporters.exports.meanings import chapters, read_together, rounding
from relevansi.exporters.exports.metrics_tables import empty_counts, metrics_json
from relevansi.exporters.frame import charts
from relevansi.i18n import gettext, mark
from relevansi.importers.runs import problems
from relevansi.metrics.judging.figures import RunReport, Totals
from relevansi.metrics.judging.figures import figures as figures_of
from relevansi.metrics.judging.figures import totals as totals_of
from relevansi.records import Counts, Problem
from relevansi.services.comparisons import chosen_runs
from relevansi.services.exports import exports, tool_files
from relevansi.services.rating import workloads
from relevansi.services.runs import reports, runs
from relevansi.services.runs.runs import RunOverview
from relevansi.services.study import assignments, studies
from relevansi.services.study.assignments import Exposure, Period
from relevansi.web.frame import access
from relevansi.web.frame.forms import validated_form
from relevansi.web.frame.htmx import attached, see_other
from relevansi.web.runs import questions, run_figures
from relevansi.web.runs.imports import LabelsForm, MoveForm
from relevansi.web.study import rules

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
    **tool_files.TOOLS,
}
"""Each format of an export with the last part of its address."""
OF_RUN = f"any({', '.join(map(repr, FORMATS.values()))})"
EXPOSED = {
    "record_shown": (
        mark(
            "Since %(since)s raters can see under the cards what only the record of a listing"
            " knows."
        ),
        mark(
            "From %(since)s to %(until)s raters could see under the cards what only the record of a"
            " listing knows."
        ),
    ),
    "suggested": (
        mark("Since %(since)s blind raters are offered a suggested grade."),
        mark("From %(since)s to %(until)s blind raters were offered a suggested grade."),
    ),
    "badged": (
        mark("Since %(since)s blind raters see constraint badges on the cards."),
        mark("From %(since)s to %(until)s blind raters saw constraint badges on the cards."),
    ),
}
"""What raters could see beside the cards, by the switch: until now, and for a time."""

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
    """Show every run with its first figures, sorted by one of them."""
    with access.reading() as (session, rater):
        listed = tuple(runs.overviews(session, rater))
        is_blind = studies.is_blind(session, rater.study)
        blind = workloads.progress(session, rater) if is_blind else None
        rule = reports.final_rule(session, rater.study)
        states = reports.states(session, rater.study, rule)
        columns = run_figures.columns(rater.study)
        names = [column.name for column in columns]
        in_study = [overview.run for overview in listed]
        marks = run_figures.marks(in_study, in_study)
        figures = run_figures.of_runs(session, rater.study, in_study, rule, names, marks)
        phases = chosen_runs.phases_of(session, rater.study)
        phase = request.args.get("phase", 0, type=int)
        by_phase = {each: chosen_runs.of_phase(session, rater.study, each) for each in phases}
    sort = request.args.get("sort", names[0])
    sort = sort if sort in names else names[0]
    order = "asc" if request.args.get("order") == "asc" else "desc"
    run_ids = by_phase.get(phase, figures)
    in_phase = [overview for overview in listed if overview.run.id in run_ids]
    return render_template(
        "runs/index.html",
        runs=_by_figure(in_phase, figures, sort, falling=order == "desc"),
        has_runs=bool(listed),
        figures=figures,
        columns=columns,
        best={name: _best(figures, name) for name in names},
        marks=marks,
        blind=blind,
        states=states,
        sort=sort,
        order=order,
        phases=phases,
        phase=phase if phase in by_phase else None,
        ticked=by_phase.get(phase) or next(iter(by_phase.values()), ()),
    )


def _by_figure(
    listed: Iterable[RunOverview],
    drawn: Mapping[str, Mapping[str, charts.Figure]],
    name: str,
    *,
    falling: bool,
) -> list[RunOverview]:
    """Return runs by a figure; of equal ones the final before the provisional, none last."""

    def key(overview: RunOverview) -> tuple[bool, float, bool]:
        figure = drawn[overview.run.id][name]
        value = figure.value if figure.written is None else figure.written
        is_open = figure.state is charts.State.PROVISIONAL
        return value is None, (value or 0) * (-1 if falling else 1), is_open

    return sorted(listed, key=key)


def _best(drawn: Mapping[str, Mapping[str, charts.Figure]], name: str) -> float | None:
    """Return the highest final value of a figure, which is no claim of a test."""
    final = (
        figure.written
        for of_run in drawn.values()
        if (figure := of_run[name]).state is not charts.State.PROVISIONAL
    )
    return max((value for value in final if value is not None), default=None)


@blueprint.get("/<run_id>")
def show(run_id: str) -> str:
    """Show a run: its figures, each question, how it was rated; files to take away."""
    with access.reading() as (session, rater):
        study = rater.study
        run, latency = runs.run_page(session, rater, run_id), runs.latency_of(session, run_id)
        rule = rules.requested_rule(session, study)
        report = reports.report_in_words(session, study, run_id, rule)
        with_unasked = reports.report(session, study, run_id, rule, with_unasked=True)
        choices = rules.rule_choices(session, study)
        exposure = assignments.exposure(session, study)
        is_blind = studies.is_blind(session, study)
        of_run, columns = run.overview.run, run_figures.columns(study)
        marks = run_figures.marks(runs.in_order(session, study), [of_run])
        names = [column.name for column in columns]
        figures = run_figures.of_runs(session, study, [of_run], rule, names, marks)[run_id]
    assert report.state is not None
    sort, order = request.args.get("sort", ""), request.args.get("order", "")
    table = questions.table(run, with_unasked, columns, sort, order, request.args.get("show", ""))
    first = columns[0]
    return render_template(
        "runs/page.html",
        run=run,
        mark=marks[run_id],
        rule=next(choice for choice in choices if choice.name == report.rule),
        rules=choices,
        columns=columns,
        figures=figures,
        totals=totals_of(report),
        bars=questions.bars(report, first) if first.is_ratio else (),
        qualities=questions.qualities(report),
        questions=table,
        notes=[*_unasked(report, run.overview.counts, study.pool_depth), *_exposed(exposure)],
        blindness=blindness_sentence(report.blindness),
        looked_up=[*empty_answers.sentences(empty_counts(report))],
        cannot_tell=report.cannot_tell,
        formats=FORMATS,
        is_original=report.is_original,
        read_as=of_run.files[0].file_format,
        latency=latency,
        seconds=notation.seconds,
        state=report.state,
        can_rate=rule.rater in (None, rater),
        is_blind=is_blind,
    )


@blueprint.get("/<run_id>/files")
def files(run_id: str) -> str:
    """Show the labels of a run, which can be changed, and the files that it came in."""
    with access.reading() as (session, rater):
        run = runs.find(session, rater.study, run_id)
        sources = [
            (file, problems.remarks(map(Problem.stored, file.problems), "page"))
            for file in run.files
        ]
        return render_template("runs/files.html", run=run, sources=sources)


@blueprint.post("/<run_id>/labels")
def relabel(run_id: str) -> Response:
    form = validated_form(LabelsForm)
    with access.writing() as (session, rater):
        method, llm = form.search_method.data or None, form.llm.data or None
        runs.relabel(session, rater.study, run_id, method, llm, access.now())
    return see_other(url_for("runs.files", run_id=run_id))


@blueprint.post("/<run_id>/move")
def move(run_id: str) -> Response:
    """Put a run one place up or down in the order of the study, and go back to it."""
    form = validated_form(MoveForm)
    with access.writing() as (session, rater):
        runs.move(session, rater.study, run_id, form.direction.data or "")
    return see_other(url_for("runs.show", run_id=run_id))


@blueprint.get("/<run_id>/delete")
def ask_to_delete(run_id: str) -> str:
    """Say what goes with a run and what stays."""
    with access.reading() as (session, rater):
        run = runs.find(session, rater.study, run_id)
        goes, stays = runs.deletion_cost(session, rater.study, run_id)
        name = labels.run(run.search_method, run.llm)
        return render_template(
            "frame/confirm.html",
            title=gettext("Delete %(name)s?", name=name),
            goes=goes,
            stays=stays,
            note=gettext("The file can be imported again."),
            action=url_for("runs.delete", run_id=run_id),
            button=gettext("Delete the run"),
            back=url_for("runs.show", run_id=run_id),
        )


@blueprint.post("/<run_id>/delete")
def delete(run_id: str) -> Response:
    with access.writing() as (session, rater):
        runs.delete_run(session, rater.study, run_id, access.now())
    return see_other(url_for("runs.index"))


@blueprint.get("/<run_id>/metrics.json")
def metrics(run_id: str) -> Response:
    """Return the same numbers as the page and the command line, as JSON."""
    with access.reading() as (session, rater):
        rule = rules.requested_rule(session, rater.study)
        report = reports.report_in_words(session, rater.study, run_id, rule)
    return jsonify(metrics_json(report))


@blueprint.get(f"/<run_id>/<{OF_RUN}:name>")
def export(run_id: str, name: str) -> Response:
    """Return a run as a file to take away."""
    file_format = next(key for key, value in FORMATS.items() if value == name)
    with access.reading() as (session, rater):
        rule = rules.requested_rule(session, rater.study)
        file = exports.export(session, rater.study, run_id, rule, file_format)
    return attached(file.data, file.media_type, file.name)


def _unasked(report: RunReport, counts: Counts, depth: int | None) -> Iterator[str]:
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
        n_queries=counts.queries, n_with_results=counts.with_results, n_unreadable=counts.unreadable
    )
    yield gettext(
        "Over all %(n)s questions of the run the coverage is %(coverage)s, which takes no verdict.",
        n=notation.number(counts.queries),
        coverage=notation.figure(figures_of(of_all)["coverage"].value),
    )


def _exposed(exposure: Exposure) -> Iterator[str]:
    """Yield what raters could see beside the cards, and when."""
    for switch, (until_now, for_a_time) in EXPOSED.items():
        periods: tuple[Period, ...] = getattr(exposure, switch)
        for period in periods:
            since = notation.unbroken_moment(period.since)
            if period.until is None:
                yield gettext(until_now, since=since)
            else:
                until = notation.unbroken_moment(period.until)
                yield gettext(for_a_time, since=since, until=until)
