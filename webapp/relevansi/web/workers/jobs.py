"""The page that shows how far a job is, and gives its file away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, url_for

from relevansi.db.tables.runs import LongWork
from relevansi.records import ExportedFile
from relevansi.services.rating import open_pages, workloads
from relevansi.services.study import studies
from relevansi.services.workers import jobs, kinds
from relevansi.services.workers.jobs import JobWork
from relevansi.web.frame import access, htmx
from relevansi.web.frame.htmx import attached, see_other
from relevansi.web.frame.workers import workers

blueprint = Blueprint("long_work", __name__, url_prefix="/files")


_UNDER = {"reading": "imports.show", "storing": "imports.show", "proof pack": "runs.index"}
"""The menu entry under which the page of each kind of jobs stands."""


@blueprint.get("/<work_id>")
def show(work_id: str) -> Response:
    with access.reading() as (session, rater):
        job = jobs.find(session, rater.study, work_id)
    if job.is_open:
        wake()
    if job.state == jobs.DONE and job.kind in _SEEN_AT:
        if htmx.wants_part():
            return htmx.reload()
        return see_other(_SEEN_AT[job.kind](job))
    return htmx.respond("workers/page.html", "workers/_work.html", work=job, under=_UNDER[job.kind])


@blueprint.get("/<work_id>/file")
def take_away(work_id: str) -> Response:
    with access.reading() as (session, rater):
        return download(jobs.file(session, rater.study, work_id))


@blueprint.post("/<work_id>/give-up")
def give_up(work_id: str) -> Response:
    with access.writing() as (session, rater):
        job = jobs.find(session, rater.study, work_id)
        jobs.cancel(session, rater.study, work_id)
    return see_other(url_for(_UNDER[job.kind]))


def redirect_to_job(kind: str, task: Mapping[str, Any]) -> Response:
    """Redirect to the page of a job, begun if none was done since the study changed."""
    with access.writing() as (session, rater):
        work_id = jobs.enqueue(session, rater.study, kind, task, access.now())
    wake()
    return see_other(url_for("long_work.show", work_id=work_id))


def download(file: ExportedFile) -> Response:
    return attached(file.data, file.media_type, file.name)


def wake() -> None:
    workers().wake(JobWork(access.database(), kinds.JOB_KINDS), most=1)


def _imported(job: LongWork) -> str:
    result = job.result or {}
    if result["left"]:
        is_left = "1" if result["stored"] else None
        return url_for("imports.show", token=result["left"], left=is_left)
    return after_import(result["runs"])


def after_import(stored: Sequence[str]) -> str:
    """Return the address to go on at: the first question to rate, if any, else the run or runs."""
    if not stored:
        return url_for("imports.show")
    run_ids = [*dict.fromkeys(stored)]
    with access.reading() as (session, rater):
        if studies.is_blind(session, rater.study):
            is_open = workloads.progress(session, rater).turns_left
            return url_for("rate.next_one") if is_open else url_for("runs.index")
        for run_id in run_ids:
            query_id = open_pages.first_open(session, rater, run_id)
            if query_id is not None:
                return url_for("judgments.show", run_id=run_id, query_id=query_id)
    return url_for("runs.index") if run_ids[1:] else url_for("runs.show", run_id=run_ids[0])


_SEEN_AT: Mapping[str, Callable[[LongWork], str]] = {"reading": _imported, "storing": _imported}
"""The address of what a job stored; a file is downloaded from the job's own page."""
