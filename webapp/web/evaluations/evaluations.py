"""Files scored automatically: kept, read and drilled into, judged beside the machine."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from flask import Blueprint, Response, redirect, render_template, request, url_for
from wtforms import BooleanField, Field, Form

from webapp.db.tables.evaluations import Evaluation
from webapp.exporters.evaluations import score_documents, score_reports
from webapp.exporters.evaluations.score_documents import WaitingRows
from webapp.i18n import gettext, mark
from webapp.importers.runs.problems import ImportRefused, message
from webapp.metrics.evaluations.json_answers import Gate
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.printable import printable_line
from webapp.records import Problem
from webapp.services.evaluations import evaluations, item_rating, scoring
from webapp.services.evaluations import (
    files as evaluation_files,
)
from webapp.services.evaluations.evaluations import (
    COLUMNS,
    GRADE,
    EvaluationKind,
    Show,
)
from webapp.services.evaluations.files import MOST_ROWS, ScoringSettings
from webapp.services.evaluations.scoring import EmbedderUnusable, NamedBytes
from webapp.services.workers import jobs, kinds
from webapp.services.workers.jobs import UnknownJob
from webapp.web.evaluations import items as evaluation_items
from webapp.web.evaluations.items import ScoreCell
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.forms import (
    UNUSABLE,
    ChoiceField,
    DecimalField,
    LineField,
    UnusableForm,
    WholeField,
    checked,
)
from webapp.web.frame.htmx import attached
from webapp.web.rating import clicks
from webapp.web.workers.jobs import led_to

LEAST_MEAN, LEAST_RATE = Fraction(95), Fraction("0.98")
MOST_FIRST = 10**9 - 1
MOST_TOLD = 20
"""So many problems of refused files are shown."""


class ScoringForm(Form):
    """The settings by which files are scored."""

    kind = ChoiceField(
        {str(kind): kind for kind in EvaluationKind},
        wrong=mark("Say first what kind of file it is."),
    )
    embedder = ChoiceField(
        ["", "lexical", "package", "endpoint"],
        default="",
        wrong=mark("No embeddings endpoint is configured."),
    )
    tau_sim = DecimalField(-1, 1, label=mark("Threshold (tau_sim)"))
    keep_citations = BooleanField()
    min_average = DecimalField(0, 100, label=mark("Least mean score"), default=LEAST_MEAN)
    min_pass_rate = DecimalField(0, 1, label=mark("Least schema pass rate"), default=LEAST_RATE)
    first = WholeField(1, MOST_FIRST, wrong=mark("Only the first rows: a whole number from 1."))
    stop_at_gate = BooleanField()


def settings_of(form: ScoringForm) -> ScoringSettings:
    """Return the settings of the scoring; raises ``UnusableForm``, ``EmbedderUnusable``."""
    if not form.validate():
        raise UnusableForm({field.name: _message(field) for field in form if field.errors})
    kind: EvaluationKind = form.kind.data
    mean, rate, tau_sim = form.min_average.data, form.min_pass_rate.data, form.tau_sim.data
    if form.first.data and kind is EvaluationKind.JSON:
        raise UnusableForm(
            {"first": gettext("JSON answers have no first rows: give a dev set instead.")}
        )
    return ScoringSettings(
        kind=kind,
        embedder=scoring.chosen_embedder(embedder_of(form)),
        tau_sim=None if tau_sim is None else float(tau_sim),
        keep_citations=form.keep_citations.data,
        gate=Gate(LEAST_MEAN if mean is None else mean, LEAST_RATE if rate is None else rate),
        first=form.first.data,
        subset=_of_json("subset", kind, gettext("Only JSON answers have a dev set.")),
        stop_at_gate=form.stop_at_gate.data,
        prompt=_of_json("prompt", kind, gettext("Only JSON answers state their prompt.")),
    )


def sent_files(kind: EvaluationKind) -> tuple[NamedBytes, ...]:
    """Return the chosen files, for JSON answers one or two; raises ``UnusableForm``."""
    chosen = [request.files.get("file"), request.files.get("outputs")]
    found = tuple(
        NamedBytes(_name(one.filename), one.read()) for one in chosen if one and one.filename
    )
    if not found:
        raise UnusableForm({"file": gettext("Please choose a file first.")})
    if len(found) > 1 and kind is not EvaluationKind.JSON:
        raise UnusableForm({"outputs": gettext("Only JSON answers come in two files.")})
    first = chosen[0]
    if first is None or not first.filename:
        raise UnusableForm(
            {"file": gettext("Choose the questions too: the outputs alone say little.")}
        )
    return found


def refused_at(work_id: str) -> tuple[ScoringForm, tuple[str, ...]]:
    """Return the form of files that were refused beside the requests as it was sent, and why."""
    with access.reading() as (session, rater):
        work = jobs.find(session, rater.study, work_id)
    if work.kind != kinds.SCORING:
        raise UnknownJob(work_id)
    wanted, why = work.wanted, work.result or {}
    average, rate = map(Fraction, wanted["gate"])
    names = ("embedder", "tau_sim", "keep_citations", "first", "stop_at_gate")
    asked = ScoringForm(
        kind=EvaluationKind(wanted["kind"]),
        min_average=average,
        min_pass_rate=rate,
        **{name: wanted[name] for name in names},
    )
    problems = [Problem.stored(stored) for stored in why.get("problems", ())]
    return asked, told(problems) or (why.get("sentence", ""),)


def told(problems: Iterable[Problem]) -> tuple[str, ...]:
    """Return the first problems of refused files in words, each once."""
    return tuple(dict.fromkeys(map(message, problems)))[:MOST_TOLD]


def embedder_of(form: ScoringForm) -> str:
    """Return the name of the embedder that the form asks for; only answers have one."""
    return form.embedder.data if form.kind.data is EvaluationKind.ANSWERS else ""


def _message(field: Field) -> str:
    if not isinstance(field, DecimalField):
        return gettext(str(field.errors[0]))
    return gettext(
        "%(name)s: a number from %(low)s to %(high)s.",
        name=gettext(field.label.text),
        low=field.low,
        high=field.high,
    )


def _of_json(field: str, kind: EvaluationKind, otherwise: str) -> NamedBytes | None:
    chosen = request.files.get(field)
    if chosen is None or not chosen.filename:
        return None
    if kind is not EvaluationKind.JSON:
        raise UnusableForm({field: otherwise})
    return NamedBytes(_name(chosen.filename), chosen.read())


def _name(filename: str | None) -> str:
    name = (filename or "").replace("\\", "/").rpartition("/")[2]
    return printable_line(name)[:200] or "file"


blueprint = Blueprint("evaluations", __name__, url_prefix="/evaluations")


class PartForm(Form):
    """A word on one part of an item: 1 or 0, for the grade 0 to 5; empty takes it back."""

    part = LineField(40, required=True, wrong=UNUSABLE)
    value = ChoiceField({"": None, **{str(grade): grade for grade in range(6)}})


class OpenForm(Form):
    """Whether raters may judge an evaluation."""

    open = ChoiceField({"0": False, "1": True})


@blueprint.get("/")
def index() -> Response:
    """Show the form and the study's evaluations, or why files beside the requests were refused."""
    work_id = request.args.get("refused", "")
    if work_id:
        return _index(*refused_at(work_id))
    return _index(ScoringForm(kind=EvaluationKind.ANSWERS), ())


@blueprint.post("/")
def upload() -> Response:
    """Score the chosen files and keep them, or show the reason why they cannot be scored.

    Large ones are scored beside the requests.
    """
    asked = forms.sent(ScoringForm)
    try:
        settings = settings_of(asked)
        files = sent_files(settings.kind)
        if kinds.is_long(settings, files):
            return _beside_the_requests(settings, embedder_of(asked), files)
        with WaitingRows() as rows:
            scored = evaluation_files.score(settings, files, rows)
            with access.writing() as (session, rater):
                stored = evaluations.store(session, rater.study, scored, rows, access.now())
                session.commit()
    except ImportRefused as refused:
        return _index(asked, told(refused.problems), 422)
    except UnusableForm as wrong:
        return _index(asked, tuple(wrong.messages.values()), 422)
    except EmbedderUnusable as unusable:
        return _index(asked, (str(unusable),), 422)
    again = 1 if stored.again else None
    return _to(url_for("evaluations.show", evaluation_id=stored.id, again=again))


def _beside_the_requests(
    settings: ScoringSettings, embedder: str, files: Sequence[NamedBytes]
) -> Response:
    with access.writing() as (session, rater):
        wanted = kinds.put_by(session, rater.study, settings, embedder, files, access.now())
        session.commit()
    return led_to(kinds.SCORING, wanted)


@blueprint.get("/<evaluation_id>")
def show(evaluation_id: str) -> str:
    """Show the summary of one evaluation."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, found, Show.ALL, 1)
        number = item_rating.number(session, found)
        standings = item_rating.standings(session, found)
    kind = EvaluationKind(found.kind)
    return render_template(
        "evaluations/page.html",
        evaluation=found,
        kind=kind,
        title=_title(kind),
        figures=evaluation_items.main_cells(kind, found.figures),
        appendix=evaluation_items.appendix_cells(kind, found.figures),
        stated=score_reports.stated_settings(found.head.get("settings", {})),
        rules=evaluation_items.rules(kind),
        measures=evaluation_items.measures(kind),
        reasons=evaluation_items.reasons(),
        advice=evaluation_items.advice(kind),
        strategies=tuple(_strategies(kind, found.head)),
        failures=tuple(
            (gettext(text).rstrip(":"), n)
            for reason, text in evaluation_items.FAILURES.items()
            if (n := found.head.get("reasons", {}).get(str(reason)))
        ),
        too_long=tuple(
            score_reports.too_long(evaluation_items.item_label(kind, name), n)
            for name, n in sorted(found.head.get("too_long", {}).items())
        ),
        problems=tuple(message(Problem.stored(stored)) for stored in found.problems),
        page=page,
        again="again" in request.args,
        number=number,
        standings=standings,
    )


@blueprint.post("/<evaluation_id>/raters")
def open_to_raters(evaluation_id: str) -> Response:
    """Let raters judge the items, or no longer."""
    form = checked(OpenForm)
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        wanted = form.open.data
        item_rating.open_to_raters(session, rater.study, found, access.now(), is_open=wanted)
        session.commit()
    return _to(url_for("evaluations.show", evaluation_id=evaluation_id, _anchor="raters"))


@blueprint.get("/<evaluation_id>/items")
def items(evaluation_id: str) -> Response:
    """Show one page of the items, all or those asked for."""
    wanted = request.args.get("show", Show.ALL)
    chosen = Show(wanted) if wanted in list(Show) else Show.ALL
    number = request.args.get("page", 1, type=int)
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, found, chosen, number)
    kind = EvaluationKind(found.kind)
    cells = tuple(evaluation_items.item_cells(kind, line.result)[:3] for line in page.lines)
    context = {
        "evaluation": found,
        "kind": kind,
        "title": _title(kind),
        "page": page,
        "columns": tuple(cell.label for cell in cells[0]) if cells else (),
        "cells": cells,
        "shows": {
            Show.ALL: gettext("All"),
            Show.FAILED: _failed_words(kind),
            Show.DISAGREEMENTS: gettext("Machine and people disagree"),
            Show.JUDGED: gettext("Judged by people"),
        },
    }
    return htmx.respond("evaluations/items.html", "evaluations/_items.html", context)


@blueprint.get("/<evaluation_id>/items/<int:position>")
def item(evaluation_id: str, position: int) -> Response:
    """Show one item, to be read and judged."""
    return _item(evaluation_id, position)


@blueprint.post("/<evaluation_id>/items/<int:position>/judgment")
def judge(evaluation_id: str, position: int) -> Response:
    """Store a word on one part of the item."""
    form = checked(PartForm)
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        part, value = form.part.data, form.value.data
        item_rating.judge(session, rater, found, position, part, value, clicks.event())
        session.commit()
    if htmx.wants_part():
        return _item(evaluation_id, position)
    anchor = "grade" if part == GRADE else f"part-{part}"
    return _to(_address(evaluation_id, position, anchor))


@blueprint.post("/<evaluation_id>/items/<int:position>/undo")
def undo(evaluation_id: str, position: int) -> Response:
    """Take back the rater's latest change in the evaluation and show where it was."""
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        where = item_rating.undo(session, rater, found, clicks.event())
        session.commit()
    where = position if where is None else where
    return _item(evaluation_id, where) if htmx.wants_part() else _to(_address(evaluation_id, where))


@blueprint.get("/<evaluation_id>/delete")
def ask_to_delete(evaluation_id: str) -> str:
    """Say what goes with an evaluation and what stays."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        cost = evaluations.deletion_cost(session, found)
    return render_template("evaluations/delete.html", evaluation=found, cost=cost)


@blueprint.post("/<evaluation_id>/delete")
def delete(evaluation_id: str) -> Response:
    """Delete an evaluation with its items and people's judgments of them."""
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        evaluations.remove(session, rater.study, found, access.now())
        session.commit()
    return _to(url_for("evaluations.index"))


def _index(asked: ScoringForm, refusals: tuple[str, ...], status: int = 200) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.overviews(session, rater.study)
    context = {
        "evaluations": found,
        "titles": {kind: _title(kind) for kind in EvaluationKind},
        "asked": asked,
        "endpoint_model": scoring.configured_model(),
        "most_rows": MOST_ROWS,
        "refusals": refusals,
    }
    return htmx.respond("evaluations/index.html", "evaluations/_upload.html", context, status)


def _strategies(
    kind: EvaluationKind, head: Mapping[str, Any]
) -> Iterator[tuple[str, int, tuple[ScoreCell, ...]]]:
    for name, means in sorted(head.get("strategies", {}).items(), key=lambda one: not one[0]):
        yield name, means["count"], evaluation_items.item_cells(kind, means)


def _item(evaluation_id: str, position: int) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        item = evaluations.item(session, found, rater, position)
        can_undo = item_rating.may_undo(session, rater, found)
    kind = EvaluationKind(found.kind)
    tau_sim = found.settings.get("tau_sim")
    context = {
        "evaluation": found,
        "kind": kind,
        "title": _title(kind),
        "item": item,
        "shown": evaluation_items.shown(kind, item),
        "figures": evaluation_items.item_cells(kind, item.result),
        "grade": item.judged.get(GRADE),
        "can_undo": can_undo,
        "event_id": secrets.token_hex(16),
        "tau_sim": evaluation_items.figure_text(tau_sim, "ratio"),
    }
    return htmx.respond("evaluations/item.html", "evaluations/_item.html", context)


def _title(kind: EvaluationKind) -> str:
    return gettext(EVALUATIONS[kind].title)


def _failed_words(kind: EvaluationKind) -> str:
    return {
        EvaluationKind.ANSWERS: gettext("With unsupported claims"),
        EvaluationKind.CHUNKS: gettext("No word in common"),
        EvaluationKind.JSON: gettext("Failed outputs"),
    }[kind]


def _address(evaluation_id: str, position: int, anchor: str | None = None) -> str:
    return url_for(
        "evaluations.item", evaluation_id=evaluation_id, position=position, _anchor=anchor
    )


def _to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]


@blueprint.get("/<evaluation_id>/scores.json")
def as_json(evaluation_id: str) -> Response:
    """Return what the command line writes of the same files, as JSON."""
    return _file(evaluation_id, "json", "application/json")


@blueprint.get("/<evaluation_id>/scores.csv")
def as_csv(evaluation_id: str) -> Response:
    """Return what the command line writes of the same files, as CSV."""
    return _file(evaluation_id, "csv", "text/csv; charset=utf-8")


@blueprint.get("/<evaluation_id>/report.md")
def as_markdown(evaluation_id: str) -> Response:
    """Return what the command line writes of the same files, as Markdown."""
    return _report(evaluation_id, "markdown", "md", "text/markdown; charset=utf-8")


@blueprint.get("/<evaluation_id>/report.tex")
def as_latex(evaluation_id: str) -> Response:
    """Return what the command line writes of the same files, as LaTeX."""
    return _report(evaluation_id, "latex", "tex", "text/x-tex; charset=utf-8")


def _file(evaluation_id: str, ending: str, media_type: str) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        results = evaluations.results(session, found)
        if ending == "json":
            pieces = score_documents.json_file(found.head, results)
        else:
            pieces = score_documents.csv_file(COLUMNS[EvaluationKind(found.kind)], results)
        data = b"".join(pieces)
    return _attached(found, data, ending, media_type)


def _report(evaluation_id: str, file_format: str, ending: str, media_type: str) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        report = score_reports.report(found.kind, found.name, found.head, found.figures)
    return _attached(found, score_reports.WRITERS[file_format](report), ending, media_type)


def _attached(found: Evaluation, data: bytes, ending: str, media_type: str) -> Response:
    return attached(data, media_type, f"{found.kind}-{found.id}.{ending}")
