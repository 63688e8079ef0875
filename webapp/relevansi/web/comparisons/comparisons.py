"""Runs, or rated CSVs, compared as a page, question by question, and as files to take away.

Rated CSVs are dropped on the page and wait beside the study, as those of an import do, while their
comparison is looked at: the study stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, render_template, request, url_for
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session
from wtforms import Form

from relevansi import labels
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons import (
    answers,
    breakdowns,
    differences,
    document,
    pictures,
    words,
)
from relevansi.exporters.comparisons.breakdowns import FILTERS
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.comparisons.files import FORMATS, file_name
from relevansi.exporters.exports import empty_answers
from relevansi.exporters.frame import tables
from relevansi.i18n import gettext
from relevansi.importers.runs.problems import ImportRefused, message
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.metrics.comparisons.differences import deciding
from relevansi.metrics.gold.constraint_rules import CONSTRAINT_LABELS
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.graded import headline_of
from relevansi.metrics.planning.settled import BOUNDED
from relevansi.records import Problem, Scale
from relevansi.services.comparisons import chosen_runs, comparisons, rated_comparisons
from relevansi.services.comparisons.chosen_runs import PHASES, DifferentQuestions, NothingToCompare
from relevansi.services.comparisons.rated_comparisons import RatedCsv
from relevansi.services.rating import tasks
from relevansi.services.runs import runs, waiting_files
from relevansi.services.runs.reports import Rule
from relevansi.services.study import assignments, studies
from relevansi.web.frame import access, forms
from relevansi.web.frame.forms import LONGEST_LABEL, ListField, UnusableForm
from relevansi.web.frame.htmx import attached, see_other
from relevansi.web.runs import imports
from relevansi.web.study import rules

blueprint = Blueprint("comparisons", __name__, url_prefix="/comparisons")
rated = Blueprint("rated_comparisons", __name__, url_prefix="/comparisons/files")
REPORT = "any(docx, markdown, latex, html, json, xlsx)"

PARTS = ("differences", "questions", "categories", "details")
"""The tabs of the page in order."""


class Address(Struct, frozen=True):
    """The address of a comparison: what every link carries of runs or files, and what is shown.

    ``compared`` are the arguments that name runs and rule, or files; ``order`` is the filter of
    questions. ``figures`` are those that questions and categories can be shown in.
    """

    page: str
    runs: tuple[str, ...]
    compared: Mapping[str, object]
    part: str
    figure: str
    order: str
    figures: tuple[str, ...]

    @property
    def has_answers(self) -> bool:
        """Whether each question leads to its answers: files have none."""
        return self.page == "comparisons"

    def arguments(self, **replaced: object) -> dict[str, object]:
        """Return the arguments of this address, with those of `replaced` in their place."""
        options: dict[str, object] = {}
        if self.part != PARTS[0]:
            options["part"] = self.part
        if self.figure != self.figures[0]:
            options["figure"] = self.figure
        if self.order != "gap":
            options["order"] = self.order
        return {**self.compared, **options, **replaced}


@blueprint.get("/")
def show() -> str:
    """Show the comparison of the chosen runs, else of the first phase that has any."""
    with access.reading() as (session, rater):
        study = rater.study
        rule = rules.requested_rule(session, study)
        phases = chosen_runs.phases_of(session, study)
        address = _address(_chosen(session, study, phases), rule, study)
        report, different = None, {}
        try:
            report = comparisons.report(session, study, address.runs, rule)
        except NothingToCompare:
            pass  # the page says how to choose
        except DifferentQuestions as refused:
            different = dict(refused.only)
        candidates = chosen_runs.candidates(session, study)
        choices = rules.rule_choices(session, study)
    return render_template(
        "comparisons/page.html",
        candidates=candidates,
        phases=phases,
        rules=choices,
        rule=rule.name,
        different=different,
        **_page_values(report, address),
    )


@blueprint.get("/questions/<int:position>")
def question(position: int) -> str:
    """Show the lists of every compared run for one question, side by side.

    While raters are blind this is logged: their owner may be one of them.
    """
    with access.reading() as (session, rater):
        rule = rules.requested_rule(session, rater.study)
        address = _address(request.args.getlist("runs"), rule, rater.study)
        compared = [runs.find(session, rater.study, run) for run in address.runs]
        lists = chosen_runs.compared_question(session, rater.study, address.runs, position, rule)
        walk = _walk(session, rater.study, address, rule, lists)
        marks = comparisons.marks(session, rater.study, compared)
        relevant = Scale.stored(rater.study.scale).relevant
        is_blind = studies.is_blind(session, rater.study)
        own_tasks = tasks.of_question(session, rater, address.runs, position) if is_blind else {}
        marks_words = rater.study.marks_words
    if is_blind:
        with access.writing() as (session, rater):
            assignments.note_opened(session, rater.study, address.runs, position, access.now())
    columns = [
        # Reversed, as an item that a list repeats is joined at its first rank.
        [(each.rank, each.verdict in relevant, dict(reversed(each.elsewhere))) for each in results]
        for results in (side.results for side in lists.sides)
    ]
    return render_template(
        "comparisons/question.html",
        question=lists,
        walk=walk,
        states=[breakdowns.state(side.answer) for side in lists.sides],
        marks=[marks.get(run, place) for place, run in enumerate(address.runs, 1)],
        picture=breakdowns.rank_picture(columns),
        address=address,
        rule=labels.rule(rule.name),
        is_blind=is_blind,
        own_tasks=own_tasks,
        highest=max(lists.sides, key=_precision),
        context={"question": lists.question, "is_marking": marks_words},
    )


def _precision(side: chosen_runs.Side) -> float:
    """Return the precision at 5 of a list, below every other where it has none."""
    figure = side.answer and side.answer.summary.figures.get(HEADLINES[0])
    return figure.value if figure and figure.value is not None else -1


def _walk(
    session: Session,
    study: Study,
    address: Address,
    rule: Rule,
    lists: chosen_runs.ComparedQuestion,
) -> list[int]:
    """Return the positions of the list it was opened from, else of all questions, in order."""
    if address.part == "questions" and len(address.runs) > 1:
        comparison = comparisons.comparison(session, study, address.runs, rule)
        filtered = breakdowns.filtered_questions(comparison, address.figure)
        positions = [line.position for line in filtered[address.order]]
        if lists.position in positions:
            return positions
    return sorted({*lists.positions, lists.position})


@blueprint.get(f"/report.<{REPORT}:file_format>")
@rated.get(f"/report.<{REPORT}:file_format>")
def take_away(file_format: str) -> Response:
    report, _ = _report()
    today = access.now().astimezone().date()
    file = FORMATS[file_format].render(report, today)
    name = file_name(report, file_format, today)
    return attached(file, FORMATS[file_format].media_type, name)


@blueprint.get("/report", endpoint="report")
@rated.get("/report", endpoint="report")
def show_report() -> str:
    """Show the report as sheets to print: a PDF is the browser's print of it."""
    report, address = _report()
    today = access.now().astimezone().date()
    return render_template(
        "comparisons/sheets.html",
        document=document.document(report, today),
        address=address,
        unbroken=tables.unbroken,
    )


@blueprint.get("/intervals.<any(svg, png):end>")
@rated.get("/intervals.<any(svg, png):end>")
def picture(end: str) -> Response:
    report, _ = _report()
    write, media_type = pictures.FORMATS[end]
    stem = words.file_stem(report, pictures.FILE, access.now().astimezone().date())
    return attached(write(pictures.standalone(report)), media_type, f"{stem}.{end}")


def _report() -> tuple[ComparisonReport, Address]:
    """Return the comparison of the runs or files that the address names."""
    if request.blueprint == rated.name:
        files = _files()
        report, _ = rated_comparisons.compare_files([*files.values()], phase=_phase())
        return report, _address_of_files(files)
    with access.reading() as (session, rater):
        rule = rules.requested_rule(session, rater.study)
        address = _address(request.args.getlist("runs"), rule, rater.study)
        report = comparisons.report(session, rater.study, address.runs, rule, with_agreement=True)
        return report, address


def _chosen(session: Session, study: Study, phases: Sequence[int]) -> Sequence[str]:
    ticked = request.args.getlist("runs")
    if ticked:
        return ticked
    stated_phase = request.args.get("phase", type=int)
    phase = stated_phase if stated_phase in phases else next(iter(phases), None)
    return chosen_runs.of_phase(session, study, phase) if phase else ()


def _address(run_ids: Sequence[str], rule: Rule, study: Study) -> Address:
    chosen = tuple(dict.fromkeys(run_ids))
    compared = {"runs": list(chosen), "rule": rule.name}
    return _address_for("comparisons", chosen, compared, headline_of(study))


def _address_for(
    page: str,
    chosen: tuple[str, ...],
    compared: Mapping[str, object],
    headline: Sequence[str] = HEADLINES,
) -> Address:
    """Return the address of a comparison of `chosen` runs, shown as the request asks."""
    figures = deciding(headline) or tuple(headline)
    figure, part = request.args.get("figure", ""), request.args.get("part", "")
    order = request.args.get("order", "")
    part = part if part in PARTS else PARTS[0]
    figure = figure if figure in figures else figures[0]
    order = order if order in FILTERS else "gap"
    return Address(page, chosen, compared, part, figure, order, figures)


def _page_values(report: ComparisonReport | None, address: Address) -> dict[str, Any]:
    """Return what the templates of a comparison read: its answer, and the tab that is open."""
    if report is None:
        return {"report": None, "address": address, "phase": None}
    comparison = report.comparison
    is_open = answers.is_open(report)
    return {
        "report": report,
        "address": address,
        "phase": report.phase,
        "answer": answers.marked_answer(report),
        "basis": answers.basis_of(report),
        "settings": words.settings(),
        "reversed_orders": [] if is_open else [*differences.reversed_orders(comparison)],
        "methods": [*answers.methods(report).values()],
        "panel": answers.panel(report),
        "is_open": is_open,
        "blindness": words.provenance(report) if report.files else words.blindness(report),
        "n_failed": sum(len(contender.missing.failed) for contender in comparison.contenders),
        "figures": {name: answers.short_name(name, comparison.scale) for name in address.figures},
        "lacks": [*words.lacks(report)],
        **_open_tab(report, address),
    }


def _open_tab(report: ComparisonReport, address: Address) -> dict[str, Any]:
    figure = address.figure
    axis = {"axis": answers.axis_of(figure), "unit": unit_of(figure)}
    match address.part:
        case "differences":
            groups, left_out = answers.forest(report)
            return {"groups": groups, "left_out": left_out}
        case "questions":
            filtered = breakdowns.filtered_questions(report.comparison, figure)
            leader = breakdowns.leading_run(report.comparison)
            return axis | {
                "rows": breakdowns.question_rows(report, figure, filtered[address.order]),
                "counts": {name: len(lines) for name, lines in filtered.items()},
                "leader": report.comparison.names[leader],
                "filters": FILTERS,
            }
        case "categories":
            return axis | {"multiples": breakdowns.category_multiples(report, figure)}
        case _:
            return _details(report)


def _details(report: ComparisonReport) -> dict[str, Any]:
    watched, changes = breakdowns.stability_rows(report)
    values = {name: part.value for name, part in report.parts.items()}
    checked = values.get("constraints")
    listed = {"sample", "machine_help", "reasons"}
    sections = [p.section(p.value) for name, p in report.parts.items() if name in listed]
    if any(report.empty_answers.values()):
        sections.append(empty_answers.section(report))
    return {
        "watched": watched,
        "changes": changes,
        "stability": words.stability(report.stability),
        "settled": values.get("settled"),
        "figure_names": {figure: figure_name(figure) for figure in BOUNDED},
        "constraints": checked,
        "constraint_labels": CONSTRAINT_LABELS,
        "pca": breakdowns.constraints_met(report, checked) if checked else {},
        "sections": sections,
        "configuration": document.configuration(report).rows,
    }


class WaitingFilesForm(Form):
    file = ListField()


@rated.get("/", endpoint="show")
def show_files() -> str:
    """Show the comparison of the files that wait, or where to drop them."""
    return _files_page(_files())


@rated.post("/")
def upload() -> Response | tuple[str, int]:
    """Keep the chosen files while they are compared."""
    try:
        chosen = imports.chosen_files()
    except UnusableForm as unfit:
        return _files_page({}, unfit.messages["files"]), 422
    uploads = [waiting_files.new_upload(*file) for file in chosen]
    with access.writing() as (session, rater):
        study, now = rater.study, access.now()
        tokens = [waiting_files.store_upload(session, study, file, now).id for file in uploads]
    return see_other(url_for("rated_comparisons.show", file=tokens))


@rated.post("/forget")
def forget() -> Response:
    tokens = forms.validated_form(WaitingFilesForm).file.data
    with access.writing() as (session, rater):
        for token in tokens:
            session.delete(waiting_files.find(session, rater.study, token))
    return see_other(url_for("comparisons.show"))


def _files() -> dict[str, RatedCsv]:
    """Return the files that the address lists by their tokens, under the names it gives them."""
    tokens = list(dict.fromkeys(request.args.getlist("file")))
    names = [name.replace("\x00", "").strip() for name in request.args.getlist("name")]
    if len(names) != len(tokens):
        names = [""] * len(tokens)
    with access.reading() as (session, rater):
        uploaded = [waiting_files.find(session, rater.study, token) for token in tokens]
        files = [RatedCsv(file.name, file.content) for file in uploaded]
    stated_names = rated_comparisons.names_of(files)
    labels = [" ".join(name.split())[:LONGEST_LABEL] for name in names]
    labelled = (
        replace(file, label=label) if label not in {"", stated_name} else file
        for file, label, stated_name in zip(files, labels, stated_names, strict=True)
    )
    return dict(zip(tokens, labelled, strict=True))


def _phase() -> int | None:
    phase = request.args.get("phase", type=int)
    return phase if phase in PHASES else None


def _address_of_files(files: Mapping[str, RatedCsv]) -> Address:
    names = rated_comparisons.names_of([*files.values()])
    compared = {"file": [*files], "name": names, "phase": _phase()}
    return _address_for("rated_comparisons", tuple(names), compared)


def _files_page(files: Mapping[str, RatedCsv], notice: str = "") -> str:
    address = _address_of_files(files)
    report: ComparisonReport | None = None
    problems: Sequence[Problem] = ()
    different: dict[str, tuple[tuple[int, str], ...]] = {}
    try:
        report, problems = rated_comparisons.compare_files([*files.values()], phase=_phase())
    except NothingToCompare:
        if files:
            notice = gettext("A comparison needs two rated CSVs. Drop them together.")
    except DifferentQuestions as refused:
        different = dict(refused.only)
    except ImportRefused as refused:
        problems = refused.problems
        notice = gettext("A file cannot be used, so nothing is compared.")
    return render_template(
        "comparisons/rated/page.html",
        files=[*zip(files, [file.name for file in files.values()], address.runs, strict=True)],
        stated_phase=_phase(),
        notice=notice,
        problems=[(str(problem.severity), message(problem)) for problem in problems],
        different=different,
        **_page_values(report, address),
    )
