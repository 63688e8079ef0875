"""Files scored automatically: kept, read, drilled into and taken away."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Blueprint, Response, render_template, request, url_for
from wtforms import BooleanField, Form

from relevansi import notation
from relevansi.exporters.evaluations import score_documents
from relevansi.exporters.evaluations.score_documents import COLUMNS, WaitingRows
from relevansi.i18n import gettext, mark, ngettext
from relevansi.importers.runs.problems import ImportRefused, message, remarks
from relevansi.metrics.evaluations.json_answers import Gate
from relevansi.metrics.evaluations.registry import EVALUATIONS
from relevansi.printable import printable_line
from relevansi.records import LARGEST_INTEGER, Problem
from relevansi.services.evaluations import embedders, evaluations, scoring
from relevansi.services.evaluations.embedders import EmbedderUnusable
from relevansi.services.evaluations.evaluations import EvaluationKind, Show
from relevansi.services.evaluations.scoring import (
    MAX_ROWS,
    MAX_ROWS_OF_MODEL,
    NamedBytes,
    ScoringSettings,
)
from relevansi.web.evaluations import items as evaluation_items
from relevansi.web.frame import access, forms, htmx
from relevansi.web.frame.htmx import attached, see_other

LEAST_MEAN, LEAST_RATE = Gate().min_average, Gate().min_pass_rate
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
ONLY_JSON = {
    "outputs": mark("Only JSON answers come in two files."),
    "subset": mark("Only JSON answers have a dev set."),
    "prompt": mark("Only JSON answers state their prompt."),
}
"""Why no other answers have these files."""


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
        1, LARGEST_INTEGER, wrong=mark("Only the first rows: a whole number from 1.")
    )
    stop_at_gate = BooleanField()


def _settings_and_files(form: ScoringForm) -> tuple[ScoringSettings, list[NamedBytes]]:
    """Return how a form wants files to be scored, and these; raises ``UnusableForm``."""
    if not form.validate():
        messages = forms.messages(form)
        for field in (form.tau_sim, form.min_average, form.min_pass_rate):
            if field.errors:
                messages[field.name] = f"{gettext(field.label.text)}: {messages[field.name]}"
        raise forms.UnusableForm(messages)
    is_json = form.kind.data is EvaluationKind.JSON
    mean, rate, tau_sim = form.min_average.data, form.min_pass_rate.data, form.tau_sim.data
    file, further = _uploaded_file("file"), {name: _uploaded_file(name) for name in ONLY_JSON}
    for name, why in ONLY_JSON.items():
        if further[name] and not is_json:
            raise forms.UnusableForm({name: gettext(why)})
    if form.first.data and is_json:
        first = gettext("JSON answers have no first rows: give a dev set instead.")
        raise forms.UnusableForm({"first": first})
    outputs = further["outputs"]
    if file is None:
        refusal = gettext("Please choose a file first.")
        if outputs:
            refusal = gettext("Choose the questions too: the outputs alone say little.")
        raise forms.UnusableForm({"file": refusal})
    embedder = form.embedder.data if form.kind.data is EvaluationKind.ANSWERS else ""
    settings = ScoringSettings(
        kind=form.kind.data,
        embedder=embedders.chosen_embedder(embedder),
        tau_sim=None if tau_sim is None else float(tau_sim),
        keep_citations=form.keep_citations.data,
        gate=Gate(LEAST_MEAN if mean is None else mean, LEAST_RATE if rate is None else rate),
        first=form.first.data,
        subset=further["subset"],
        stop_at_gate=form.stop_at_gate.data,
        prompt=further["prompt"],
    )
    return settings, [file, outputs] if outputs else [file]


def _uploaded_file(field: str) -> NamedBytes | None:
    chosen = request.files.get(field)
    if chosen is None or not chosen.filename:
        return None
    name = printable_line(chosen.filename.replace("\\", "/").rpartition("/")[2])[:200]
    return NamedBytes(name or "file", chosen.read())


blueprint = Blueprint("evaluations", __name__, url_prefix="/evaluations")


@blueprint.get("/")
def index() -> Response:
    return _index(ScoringForm(kind=EvaluationKind.ANSWERS), ())


@blueprint.post("/")
def upload() -> Response:
    """Score the chosen files and keep them, or show the reason why they cannot be scored."""
    form = forms.form_from_request(ScoringForm)
    try:
        return score(*_settings_and_files(form))
    except ImportRefused as refused:
        return _index(form, [remark.text for remark in remarks(refused.problems, "page")], 422)
    except forms.UnusableForm as wrong:
        return _index(form, [*wrong.messages.values()], 422)
    except EmbedderUnusable as unusable:
        return _index(form, [str(unusable)], 422)


def score(settings: ScoringSettings, files: Sequence[NamedBytes]) -> Response:
    """Score files, keep the evaluation, and redirect to it; raises ``ImportRefused``."""
    with WaitingRows() as rows:
        scored = scoring.score(settings, files, rows)
        with access.writing() as (session, rater):
            known_as, again = evaluations.store(session, rater.study, scored, rows, access.now())
    return see_other(
        url_for("evaluations.show", evaluation_id=known_as, again=1 if again else None)
    )


@blueprint.get("/<evaluation_id>")
def show(evaluation_id: str) -> str:
    with access.reading() as (session, rater):
        evaluation = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, evaluation, Show.ALL, 1)
    kind = EvaluationKind(evaluation.kind)
    measures = EVALUATIONS[kind].measures.values()
    about = {gettext(measure.label): measure.name for measure in measures}
    return render_template(
        "evaluations/page.html",
        evaluation=evaluation,
        kind=kind,
        report=score_documents.report(kind, evaluation.name, evaluation.head, evaluation.figures),
        about=about | {measure.name: measure.name for measure in measures},
        measures=tuple(measures),
        reasons={},
        files=tuple(FILES),
        failed=gettext(FAILED[kind]),
        problems=tuple(message(Problem.stored(stored)) for stored in evaluation.problems),
        counts=page.counts,
        again="again" in request.args,
    )


@blueprint.get("/<evaluation_id>/items")
def items(evaluation_id: str) -> Response:
    filter_name = request.args.get("show", Show.ALL)
    chosen = Show(filter_name) if filter_name in list(Show) else Show.ALL
    number = request.args.get("page", 1, type=int)
    with access.reading() as (session, rater):
        evaluation = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, evaluation, chosen, number)
    kind = EvaluationKind(evaluation.kind)
    return htmx.respond(
        "evaluations/items.html",
        "evaluations/_items.html",
        evaluation=evaluation,
        title=_title(kind),
        page=page,
        figures=[evaluation_items.figures(kind, item.result)[:3] for item in page.items],
        shows={Show.ALL: gettext("All"), Show.FAILED: gettext(FAILED[kind])},
    )


@blueprint.get("/<evaluation_id>/items/<int:position>")
def item(evaluation_id: str, position: int) -> Response:
    with access.reading() as (session, rater):
        evaluation = evaluations.find(session, rater.study, evaluation_id)
        item = evaluations.find_item(session, evaluation, position)
    kind = EvaluationKind(evaluation.kind)
    return htmx.respond(
        "evaluations/item.html",
        "evaluations/_item.html",
        evaluation=evaluation,
        kind=kind,
        title=_title(kind),
        item=item,
        fields=evaluation_items.item_fields(kind, item),
        longest_part=evaluation_items.LONGEST_PART,
        figures=evaluation_items.figures(kind, item.result),
        tau_sim=notation.figure(evaluation.settings.get("tau_sim"), "coefficient"),
    )


@blueprint.get("/<evaluation_id>/delete")
def ask_to_delete(evaluation_id: str) -> str:
    with access.reading() as (session, rater):
        evaluation = evaluations.find(session, rater.study, evaluation_id)
    n_items = evaluation.n_items
    items = ngettext("%(n)s item with its scores", "%(n)s items with their scores", n_items)
    return render_template(
        "frame/confirm.html",
        title=gettext("Delete %(name)s?", name=printable_line(evaluation.name)),
        goes=[items],
        stays=(),
        note=gettext("The file can be scored again."),
        action=url_for("evaluations.delete", evaluation_id=evaluation_id),
        button=gettext("Delete the evaluation"),
        back=url_for("evaluations.show", evaluation_id=evaluation_id),
    )


@blueprint.post("/<evaluation_id>/delete")
def delete(evaluation_id: str) -> Response:
    with access.writing() as (session, rater):
        evaluation = evaluations.find(session, rater.study, evaluation_id)
        evaluations.remove(session, rater.study, evaluation, access.now())
    return see_other(url_for("evaluations.index"))


@blueprint.get(f"/<evaluation_id>/<any({','.join(FILES)}):name>")
def download(evaluation_id: str, name: str) -> Response:
    """Return what the command line writes of the same files."""
    with access.reading() as (session, rater):
        evaluation = evaluations.find(session, rater.study, evaluation_id)
        results = evaluations.results(session, evaluation)
        if name == "scores.json":
            data = b"".join(score_documents.json_file(evaluation.head, results))
        elif name == "scores.csv":
            data = b"".join(score_documents.csv_file(COLUMNS[evaluation.kind], results))
        else:
            stored = evaluation.kind, evaluation.name, evaluation.head, evaluation.figures
            write = score_documents.WRITERS["markdown" if name == "report.md" else "latex"]
            data = write(score_documents.report(*stored))
    ending = name.rpartition(".")[2]
    return attached(data, FILES[name], f"{evaluation.kind}-{evaluation.id}.{ending}")


def _index(form: ScoringForm, refusals: Sequence[str], status: int = 200) -> Response:
    with access.reading() as (session, rater):
        evaluations_of_study = evaluations.all_of(session, rater.study)
    return htmx.respond(
        "evaluations/index.html",
        "evaluations/_upload.html",
        status=status,
        evaluations=evaluations_of_study,
        titles={kind: _title(kind) for kind in EvaluationKind},
        form=form,
        endpoint_model=embedders.configured_model(),
        most_rows=MAX_ROWS,
        most_rows_of_model=MAX_ROWS_OF_MODEL,
        refusals=refusals,
    )


def _title(kind: EvaluationKind) -> str:
    return gettext(EVALUATIONS[kind].title)
