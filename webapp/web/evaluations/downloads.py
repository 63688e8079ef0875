"""The files of an evaluation, as the command line writes them of the same input."""

from __future__ import annotations

from flask import Blueprint, Response

from webapp.db.tables.evaluations import Evaluation
from webapp.exporters.evaluations import score_files, score_reports
from webapp.services.evaluations import evaluations
from webapp.services.evaluations.rows import COLUMNS, EvaluationKind
from webapp.web.frame import access
from webapp.web.frame.downloads import attached

blueprint = Blueprint("evaluation_downloads", __name__, url_prefix="/evaluations")


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
            pieces = score_files.json_file(found.head, results)
        else:
            pieces = score_files.csv_file(COLUMNS[EvaluationKind(found.kind)], results)
        data = b"".join(pieces)
    return _attached(found, data, ending, media_type)


def _report(evaluation_id: str, file_format: str, ending: str, media_type: str) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        report = score_reports.report(found.kind, found.name, found.head, found.figures)
    return _attached(found, score_reports.WRITERS[file_format](report), ending, media_type)


def _attached(found: Evaluation, data: bytes, ending: str, media_type: str) -> Response:
    return attached(data, media_type, f"{found.kind}-{found.id}.{ending}")
