"""Files scored automatically: kept, read and drilled into, judged beside the machine."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request, url_for
from wtforms import BooleanField, Form

from webapp import notation
from webapp.db.tables.evaluations import Evaluation
from webapp.exporters.evaluations import score_documents
from webapp.exporters.evaluations.score_documents import COLUMNS, WaitingRows
from webapp.i18n import gettext, mark
from webapp.importers.runs.problems import ImportRefused, message
from webapp.metrics.agreement import agreement as binary
from webapp.metrics.evaluations import rank_correlation as ranks
from webapp.metrics.evaluations.json_answers import Gate
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.printable import printable_line
from webapp.records import Problem
from webapp.services.evaluations import embedders, evaluations, item_rating, scoring
from webapp.services.evaluations.embedders import EmbedderUnusable
from webapp.services.evaluations.evaluations import GRADE, HEADLINES, EvaluationKind, Show
from webapp.services.evaluations.scoring import MOST_ROWS, NamedBytes, ScoringSettings
from webapp.services.workers import jobs, kinds
from webapp.services.workers.jobs import UnknownJob
from webapp.web.evaluations import items as evaluation_items
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.htmx import attached
from webapp.web.rating import clicks
from webapp.web.rating.figures import reasons_of
from webapp.web.workers.jobs import led_to

LEAST_MEAN, LEAST_RATE = Fraction(95), Fraction("0.98")
MOST_FIRST = 10**9 - 1
MOST_TOLD = 20
"""So many problems of refused files are shown."""

FILES = {
    "scores.json": "application/json",
    "scores.csv": "text/csv; charset=utf-8",
    "report.md": "text/markdown; charset=utf-8",
    "report.tex": "text/x-tex; charset=utf-8",
}
"""What the command line writes of the same files, with its type."""

FAILED = {
    EvaluationKind.ANSWERS: mark("With unsupported claims"),
    EvaluationKind.CHUNKS: mark("No word in common"),
    EvaluationKind.JSON: mark("Failed outputs"),
}


class ScoringForm(Form):
    kind = forms.ChoiceField(
        {str(kind): kind for kind in EvaluationKind},
        wrong=mark("Say first what kind of file it is."),
    )
    embedder = forms.ChoiceField(
        ["", "lexical", "package", "endpoint"],
        default="",
        wrong=mark("No embeddings endpoint is configured."),
    )
    tau_sim = forms.DecimalField(-1, 1, label=mark("Threshold (tau_sim)"))
    keep_citations = BooleanField()
    min_average = forms.DecimalField(0, 100, label=mark("Least mean score"), default=LEAST_MEAN)
    min_pass_rate = forms.DecimalField(
        0, 1, label=mark("Least schema pass rate"), default=LEAST_RATE
    )
    first = forms.WholeField(
        1, MOST_FIRST, wrong=mark("Only the first rows: a whole number from 1.")
    )
    stop_at_gate = BooleanField()

    @property
    def embedder_name(self) -> str:
        """The name of the embedder that is asked for; only answers have one."""
        return self.embedder.data if self.kind.data is EvaluationKind.ANSWERS else ""


def _settings(form: ScoringForm) -> ScoringSettings:
    if not form.validate():
        named = forms.messages(form)
        for field in (form.tau_sim, form.min_average, form.min_pass_rate):
            if field.errors:
                named[field.name] = f"{gettext(field.label.text)}: {named[field.name]}"
        raise forms.UnusableForm(named)
    is_json = form.kind.data is EvaluationKind.JSON
    mean, rate, tau_sim = form.min_average.data, form.min_pass_rate.data, form.tau_sim.data
    subset, prompt = _sent("subset"), _sent("prompt")
    if subset and not is_json:
        raise forms.UnusableForm({"subset": gettext("Only JSON answers have a dev set.")})
    if prompt and not is_json:
        raise forms.UnusableForm({"prompt": gettext("Only JSON answers state their prompt.")})
    if form.first.data and is_json:
        first = gettext("JSON answers have no first rows: give a dev set instead.")
        raise forms.UnusableForm({"first": first})
    return ScoringSettings(
        kind=form.kind.data,
        embedder=embedders.chosen_embedder(form.embedder_name),
        tau_sim=None if tau_sim is None else float(tau_sim),
        keep_citations=form.keep_citations.data,
        gate=Gate(LEAST_MEAN if mean is None else mean, LEAST_RATE if rate is None else rate),
        first=form.first.data,
        subset=subset,
        stop_at_gate=form.stop_at_gate.data,
        prompt=prompt,
    )


def _sent_files(kind: EvaluationKind) -> list[NamedBytes]:
    first, outputs = _sent("file"), _sent("outputs")
    if outputs and kind is not EvaluationKind.JSON:
        raise forms.UnusableForm({"outputs": gettext("Only JSON answers come in two files.")})
    if first is None:
        why = gettext("Please choose a file first.")
        if outputs:
            why = gettext("Choose the questions too: the outputs alone say little.")
        raise forms.UnusableForm({"file": why})
    return [first, outputs] if outputs else [first]


def _sent(field: str) -> NamedBytes | None:
    chosen = request.files.get(field)
    if chosen is None or not chosen.filename:
        return None
    name = printable_line(chosen.filename.replace("\\", "/").rpartition("/")[2])[:200]
    return NamedBytes(name or "file", chosen.read())


def _told(problems: Iterable[Problem]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(message, problems)))[:MOST_TOLD]


blueprint = Blueprint("evaluations", __name__, url_prefix="/evaluations")


class PartForm(Form):
    """A word on one part of an item: 1 or 0, for the grade 0 to 5; empty takes it back."""

    part = forms.LineField(40, required=True, wrong=forms.UNUSABLE)
    value = forms.ChoiceField({"": None, **{str(grade): grade for grade in range(6)}})


class OpenForm(Form):
    open = forms.ChoiceField({"0": False, "1": True})


@blueprint.get("/")
def index() -> Response:
    """Show the form and the study's evaluations, or why files beside the requests were refused."""
    work_id = request.args.get("refused", "")
    if not work_id:
        return _index(ScoringForm(kind=EvaluationKind.ANSWERS), ())
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
    return _index(asked, _told(problems) or (why.get("sentence", ""),))


@blueprint.post("/")
def upload() -> Response:
    """Score the chosen files and keep them, or show the reason why they cannot be scored."""
    asked = forms.sent(ScoringForm)
    try:
        settings = _settings(asked)
        files = _sent_files(settings.kind)
        if kinds.is_long(settings, files):
            with access.writing() as (session, rater):
                wanted = kinds.put_by(
                    session, rater.study, settings, asked.embedder_name, files, access.now()
                )
                session.commit()
            return led_to(kinds.SCORING, wanted)
        with WaitingRows() as rows:
            scored = scoring.score(settings, files, rows)
            with access.writing() as (session, rater):
                found, again = evaluations.store(session, rater.study, scored, rows, access.now())
                session.commit()
    except ImportRefused as refused:
        return _index(asked, _told(refused.problems), 422)
    except forms.UnusableForm as wrong:
        return _index(asked, tuple(wrong.messages.values()), 422)
    except EmbedderUnusable as unusable:
        return _index(asked, (str(unusable),), 422)
    return _to(url_for("evaluations.show", evaluation_id=found, again=1 if again else None))


@blueprint.get("/<evaluation_id>")
def show(evaluation_id: str) -> str:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, found, Show.ALL, 1)
        number = item_rating.number(session, found)
        raters = item_rating.progress(session, found)
    kind = EvaluationKind(found.kind)
    measures = EVALUATIONS[kind].measures.values()
    return render_template(
        "evaluations/page.html",
        evaluation=found,
        kind=kind,
        report=score_documents.report(kind, found.name, found.head, found.figures),
        about={word: one.name for one in measures for word in (one.name, gettext(one.label))},
        measures=tuple(measures),
        reasons={},
        files=tuple(FILES),
        failed=gettext(FAILED[kind]),
        problems=tuple(message(Problem.stored(stored)) for stored in found.problems),
        counts=page.counts,
        again="again" in request.args,
        number=number,
        raters=raters,
    )


@blueprint.post("/<evaluation_id>/raters")
def open_to_raters(evaluation_id: str) -> Response:
    form = forms.checked(OpenForm)
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        wanted = form.open.data
        item_rating.open_to_raters(session, rater.study, found, access.now(), is_open=wanted)
        session.commit()
    return _to(url_for("evaluations.show", evaluation_id=evaluation_id, _anchor="raters"))


@blueprint.get("/<evaluation_id>/items")
def items(evaluation_id: str) -> Response:
    wanted = request.args.get("show", Show.ALL)
    chosen = Show(wanted) if wanted in list(Show) else Show.ALL
    number = request.args.get("page", 1, type=int)
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, found, chosen, number)
    kind = EvaluationKind(found.kind)
    return htmx.respond(
        "evaluations/items.html",
        "evaluations/_items.html",
        evaluation=found,
        title=_title(kind),
        page=page,
        figures=[evaluation_items.figures(kind, item.result)[:3] for item, _ in page.lines],
        shows={
            Show.ALL: gettext("All"),
            Show.FAILED: gettext(FAILED[kind]),
            Show.DISAGREEMENTS: gettext("Machine and people disagree"),
            Show.JUDGED: gettext("Judged by people"),
        },
    )


@blueprint.get("/<evaluation_id>/items/<int:position>")
def item(evaluation_id: str, position: int) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        item = evaluations.find_item(session, found, position)
        judged = evaluations.judged(session, rater, item)
        can_undo = item_rating.may_undo(session, rater, found)
    kind = EvaluationKind(found.kind)
    return htmx.respond(
        "evaluations/item.html",
        "evaluations/_item.html",
        evaluation=found,
        kind=kind,
        title=_title(kind),
        item=item,
        shown=evaluation_items.shown(kind, item, judged),
        figures=evaluation_items.figures(kind, item.result),
        grade=judged.get(GRADE),
        can_undo=can_undo,
        event_id=secrets.token_hex(16),
        tau_sim=notation.figure(found.settings.get("tau_sim"), "coefficient"),
    )


@blueprint.post("/<evaluation_id>/items/<int:position>/judgment")
def judge(evaluation_id: str, position: int) -> Response:
    form = forms.checked(PartForm)
    part, value = form.part.data, form.value.data
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        item_rating.judge(session, rater, found, position, part, value, clicks.event())
        session.commit()
    return _at(evaluation_id, position, "grade" if part == GRADE else f"part-{part}")


@blueprint.post("/<evaluation_id>/items/<int:position>/undo")
def undo(evaluation_id: str, position: int) -> Response:
    """Take back the rater's latest change in the evaluation and show where it was."""
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        where = item_rating.undo(session, rater, found, clicks.event())
        session.commit()
    return _at(evaluation_id, position if where is None else where)


@blueprint.get("/<evaluation_id>/people")
def people(evaluation_id: str) -> str:
    found, raters, chosen, report, differing = _beside_people(evaluation_id)
    kind = EvaluationKind(found.kind)

    def label(name: str) -> str:
        return evaluation_items.item_label(kind, name)

    return render_template(
        "evaluations/people.html",
        evaluation=found,
        title=_title(kind),
        report=report,
        verdicts=[
            (gettext("All"), *_verdicts(report["verdicts"])),
            *((label(name), *_verdicts(one)) for name, one in report["verdicts_by_field"].items()),
        ],
        figures=[
            (label(name), one["n"], *(_cell(one[kind], one["why_undefined"]) for kind in _ORDERS))
            for name, one in report["grades"].items()
        ],
        differing=differing,
        labels={name: label(name) for name in HEADLINES[kind]},
        reasons=reasons_of({**binary.EXPLANATIONS, **ranks.EXPLANATIONS}),
        raters=raters,
        chosen=chosen,
    )


@blueprint.get("/<evaluation_id>/people.json")
def people_json(evaluation_id: str) -> Response:
    *_, report, _differing = _beside_people(evaluation_id)
    return jsonify(report)


_ORDERS = ("spearman", "kendall_tau_b")


def _beside_people(evaluation_id: str) -> tuple[Evaluation, Sequence[Any], int | None, Any, Any]:
    """The evaluation, who judged in it, the one asked for, and how far it agrees with people."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        raters = item_rating.progress(session, found)
        wanted = request.args.get("rater", type=int)  # without one who judged here: all
        chosen = wanted if wanted in {one.rater_id for one in raters} else None
        return found, raters, chosen, *item_rating.machine_agreement(session, found, chosen)


def _verdicts(found: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("agreed", "cohen_kappa", "precision", "recall")
    return found["n"], *(_cell(found[name], found["why_undefined"].get(name)) for name in names)


def _cell(found: Any, why: str | None) -> tuple[str, str, str]:
    """A figure in words, its interval, and the name of the reason where it has no value."""
    if isinstance(found, Mapping):
        lower, upper = found["lower"], found["upper"]
        bounds = "" if lower is None else notation.interval(lower, upper, "coefficient")
        return notation.figure(found["value"], "coefficient"), bounds, why or ""
    return notation.figure(found), "", why or ""


@blueprint.get("/<evaluation_id>/delete")
def ask_to_delete(evaluation_id: str) -> str:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        n = evaluations.n_judgments(session, found)
    return render_template("evaluations/delete.html", evaluation=found, n_judgments=n)


@blueprint.post("/<evaluation_id>/delete")
def delete(evaluation_id: str) -> Response:
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        evaluations.remove(session, rater.study, found, access.now())
        session.commit()
    return _to(url_for("evaluations.index"))


@blueprint.get(f"/<evaluation_id>/<any({','.join(FILES)}):name>")
def download(evaluation_id: str, name: str) -> Response:
    """Return what the command line writes of the same files."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        results = evaluations.results(session, found)
        if name == "scores.json":
            data = b"".join(score_documents.json_file(found.head, results))
        elif name == "scores.csv":
            data = b"".join(score_documents.csv_file(COLUMNS[found.kind], results))
        else:
            report = score_documents.report(found.kind, found.name, found.head, found.figures)
            write = score_documents.WRITERS["markdown" if name == "report.md" else "latex"]
            data = write(report)
    ending = name.rpartition(".")[2]
    return attached(data, FILES[name], f"{found.kind}-{found.id}.{ending}")


def _index(asked: ScoringForm, refusals: tuple[str, ...], status: int = 200) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.overviews(session, rater.study)
    return htmx.respond(
        "evaluations/index.html",
        "evaluations/_upload.html",
        status=status,
        evaluations=found,
        titles={kind: _title(kind) for kind in EvaluationKind},
        asked=asked,
        endpoint_model=embedders.configured_model(),
        most_rows=MOST_ROWS,
        refusals=refusals,
    )


def _title(kind: EvaluationKind) -> str:
    return gettext(EVALUATIONS[kind].title)


def _at(evaluation_id: str, position: int, anchor: str | None = None) -> Response:
    if htmx.wants_part():
        return item(evaluation_id, position)
    place: dict[str, Any] = {"evaluation_id": evaluation_id, "position": position}
    return _to(url_for("evaluations.item", **place, _anchor=anchor))


def _to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]
