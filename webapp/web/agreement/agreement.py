"""How far the raters agree, and where verdicts by hand on the same property contradict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from flask import Blueprint, Response, render_template, request
from werkzeug.exceptions import NotFound

from webapp.exporters.agreement import report as words
from webapp.i18n import gettext
from webapp.importers.runs.problems import ImportRefused, message
from webapp.metrics.agreement.registry import COEFFICIENTS, KIND_LABELS
from webapp.metrics.agreement.report import ConflictReport, ItemKind
from webapp.services.agreement import agreement
from webapp.services.agreement.agreement import MANUAL_FILE, RUN_FILE, HandJudgedRun
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.forms import LONGEST_LABEL, LineField, UnusableForm
from webapp.web.frame.htmx import attached

blueprint = Blueprint("agreement", __name__)
conflicts = Blueprint("conflicts", __name__, url_prefix="/conflicts")

SLOTS = (1, 2, 3)
"""Runs that can be chosen file by file; a folder may hold more."""


@blueprint.get("/agreement")
def show() -> str:
    wanted = request.args.get("of", ItemKind.CARDS)
    kind = ItemKind(wanted) if wanted in list(ItemKind) else ItemKind.CARDS
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study, kinds=[kind])
    return render_template(
        "agreement/page.html",
        kinds={kind: gettext(name) for kind, name in KIND_LABELS.items()},
        chosen=kind,
        document=words.document(report),
        formats=words.FORMATS,
        **about_coefficients(COEFFICIENTS),
    )


def about_coefficients(wanted: Iterable[str]) -> dict[str, Any]:
    """Return what explains the coefficients in the tables of a page, by what they are called."""
    measures = tuple(COEFFICIENTS[name] for name in wanted)
    about = {gettext(one.label): one.name for one in measures}
    return {"measures": measures, "about": about, "reasons": {}}


@blueprint.get("/agreement.<end>")
def take_away(end: str) -> Response:
    """Return the agreement on all kinds of items as ``relevansi agreement`` does."""
    made = next((one for one in words.FORMATS.values() if one.extension == end), None)
    if made is None:
        raise NotFound
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study)
    today = access.now().astimezone().date()
    return attached(made.render(report, today), made.media_type, f"agreement.{end}")


@conflicts.get("/", endpoint="show")
def show_conflicts() -> str:
    """Show the form that takes the runs, and the report on those of the study."""
    with access.reading() as (session, rater):
        found = agreement.in_study(session, rater.study)
    return render_template(
        "agreement/conflicts/page.html",
        slots=SLOTS,
        document=words.conflict_document(found) if found else None,
        remarks=_remarks(found) if found else [],
        refusal="",
        is_of_study=True,
    )


@conflicts.post("/")
def compare() -> Response:
    """Compare the chosen runs, or name the files that are missing or wrong."""
    found, refusal = None, ""
    remarks: list[str] = []
    try:
        pairs, remarks = _chosen()
        found = agreement.compare(agreement.judged_runs(pairs))
        remarks += _remarks(found)
    except ImportRefused as refused:
        refusal = refused.advice()
    except UnusableForm as wrong:
        refusal = " ".join(wrong.messages.values())
    return htmx.respond(
        "agreement/conflicts/page.html",
        "agreement/conflicts/_report.html",
        status=422 if refusal else 200,
        slots=SLOTS,
        document=words.conflict_document(found) if found else None,
        remarks=remarks,
        refusal=refusal,
        is_of_study=False,
    )


def _chosen() -> tuple[list[HandJudgedRun], list[str]]:
    """Return the chosen runs, and a remark on each folder that holds only one of the files."""
    files = {
        (file.filename or "").replace("\\", "/"): file for file in request.files.getlist("folder")
    }
    wanted = (RUN_FILE, MANUAL_FILE)
    in_folders, incomplete = agreement.in_folders(
        {path: file.read() for path, file in files.items() if path.split("/")[-1] in wanted}
    )
    pairs = [*_chosen_pairs(), *in_folders]
    if len(pairs) < 2:
        least = gettext(
            "Choose at least two runs, each with its results.json and its manual_input.json."
        )
        raise UnusableForm({"folder": least})
    return pairs, [
        gettext("%(folder)s holds only one of the two files and was left out.", folder=folder)
        for folder in incomplete
    ]


def _chosen_pairs() -> Iterator[HandJudgedRun]:
    names = forms.valid(forms.named({f"name-{slot}": LineField(LONGEST_LABEL) for slot in SLOTS}))
    for slot in SLOTS:
        files = [request.files.get(f"{kind}-{slot}") for kind in ("results", "manual")]
        chosen = [file for file in files if file and file.filename]
        if len(chosen) == 1:
            half = gettext(
                "Run %(n)s has only one of its two files. Choose its results.json and its "
                "manual_input.json.",
                n=slot,
            )
            raise UnusableForm({f"results-{slot}": half})
        if chosen:
            name = names[f"name-{slot}"].data or gettext("Run %(n)s", n=slot)
            yield HandJudgedRun(name, chosen[0].read(), chosen[1].read())


def _remarks(found: ConflictReport) -> list[str]:
    return [message(problem) for problem in found.problems] + [
        words.contradicts_itself(run, found.questions[query_id][0], property_id)
        for run, query_id, property_id in found.self_contradictions
    ]
