"""Rated CSVs dropped on a page and compared with each other; the study stays as it is.

The files wait beside the study, as those of an import do, while their comparison is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from flask import Blueprint, Response, redirect, render_template, request, url_for
from msgspec.structs import replace
from wtforms import Form

from webapp.i18n import gettext
from webapp.importers.runs.problems import ImportRefused, message
from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.records import Problem
from webapp.services.comparisons import rated_comparisons
from webapp.services.comparisons.chosen_runs import PHASES, DifferentQuestions, NothingToCompare
from webapp.services.comparisons.rated_comparisons import RatedCsv
from webapp.services.runs import waiting_files
from webapp.web.comparisons import comparisons
from webapp.web.comparisons.comparisons import Address
from webapp.web.frame import access, forms
from webapp.web.frame.forms import LONGEST_LABEL, ListField, UnusableForm
from webapp.web.runs import imports

blueprint = Blueprint("rated_comparisons", __name__, url_prefix="/comparisons/files")
CHART = "any(intervals, questions)"
REPORT = "any(markdown, latex, html, json, xlsx)"


class WaitingFilesForm(Form):
    file = ListField()


@blueprint.get("/")
def show() -> str:
    """Show the comparison of the files that wait, or where to drop them."""
    return _page(_files())


@blueprint.post("/")
def upload() -> Response | tuple[str, int]:
    """Keep the chosen files while they are compared."""
    try:
        tokens = imports.keep_chosen()
    except UnusableForm as unfit:
        return _page([], unfit.messages["files"]), 422
    return redirect(url_for("rated_comparisons.show", file=tokens), 303)  # type: ignore[return-value]


@blueprint.post("/forget")
def forget() -> Response:
    tokens = forms.checked(WaitingFilesForm).file.data
    with access.writing() as (session, rater):
        for token in tokens:
            waiting_files.discard(session, waiting_files.find(session, rater.study, token))
        session.commit()
    return redirect(url_for("comparisons.show"), 303)  # type: ignore[return-value]


@blueprint.get(f"/report.<{REPORT}:file_format>")
def take_away(file_format: str) -> Response:
    return comparisons.as_file(_report(_files()), file_format)


@blueprint.get(f"/<{CHART}:kind>.<any(svg, png, pdf):end>")
def picture(kind: str, end: str) -> Response:
    files = _files()
    return comparisons.as_picture(_report(files), _address(files), kind, end)


def _report(files: list[RatedCsv]) -> ComparisonReport:
    return rated_comparisons.compare_files(files, phase=_phase())[0]


def _files() -> list[RatedCsv]:
    """Return the files that the address lists, under the names it gives them."""
    tokens = list(dict.fromkeys(request.args.getlist("file")))
    names = [name.replace("\x00", "").strip() for name in request.args.getlist("name")]
    if len(names) != len(tokens):
        names = [""] * len(tokens)
    with access.reading() as (session, rater):
        found = [waiting_files.find(session, rater.study, token) for token in tokens]
        files = [RatedCsv(file.name, file.data) for file in found]
    own = rated_comparisons.names_of(files)
    labels = [" ".join(name.split())[:LONGEST_LABEL] for name in names]
    return [
        replace(file, label=label) if label not in {"", stated} else file
        for file, label, stated in zip(files, labels, own, strict=True)
    ]


def _phase() -> int | None:
    phase = request.args.get("phase", type=int)
    return phase if phase in PHASES else None


def _address(files: list[RatedCsv]) -> Address:
    names = tuple(rated_comparisons.names_of(files))
    compared: dict[str, object] = {
        "file": list(dict.fromkeys(request.args.getlist("file"))),
        "name": list(names),
        "phase": _phase(),
    }
    return comparisons.address_of("rated_comparisons", names, compared)


def _page(files: list[RatedCsv], notice: str = "") -> str:
    address = _address(files)
    report: ComparisonReport | None = None
    problems: Sequence[Problem] = ()
    different: dict[str, tuple[tuple[int, str], ...]] = {}
    try:
        report, problems = rated_comparisons.compare_files(files, phase=_phase())
    except NothingToCompare:
        if files:
            notice = gettext("A comparison needs two rated CSVs. Drop them together.")
    except DifferentQuestions as refused:
        different = dict(refused.only)
    except ImportRefused as refused:
        problems = refused.problems
        notice = gettext("A file cannot be used, so nothing is compared.")
    tokens = list(dict.fromkeys(request.args.getlist("file"))) if files else []
    return render_template(
        "comparisons/rated/page.html",
        files=[
            (token, file.name, name)
            for token, file, name in zip(tokens, files, address.runs, strict=True)
        ],
        stated_phase=_phase(),
        notice=notice,
        problems=[(str(one.severity), message(one)) for one in problems],
        different=different,
        **comparisons.shown(report, address),
    )
