"""The page that shows how far a job is, and gives its file away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flask import Blueprint, Response, redirect, url_for

from webapp.db.tables.runs import LongWork
from webapp.i18n import gettext
from webapp.services.exports.exports import ExportedFile
from webapp.services.workers import jobs
from webapp.services.workers.jobs import JobWork
from webapp.web.frame import access, htmx
from webapp.web.frame.htmx import attached
from webapp.web.frame.workers import workers

blueprint = Blueprint("long_work", __name__, url_prefix="/files")


class JobWords(NamedTuple):
    """The words of a job: its ``title``, and ``again``, the address to ask for it once more.

    ``steps`` has how many are ``done`` ``of`` how many, ``ending`` what follows the last step,
    ``leaving`` what becomes of the job while nobody looks.
    """

    title: str
    again: str
    steps: str
    ending: str
    leaving: str


@blueprint.get("/<work_id>")
def show(work_id: str) -> Response:
    with access.reading() as (session, rater):
        job = jobs.find(session, rater.study, work_id)
    if job.is_open:
        _wake()
    if job.state == jobs.DONE and job.kind in _SEEN_AT:
        if htmx.wants_part():
            return htmx.reload()
        return redirect(_SEEN_AT[job.kind](job), 303)  # type: ignore[return-value]
    return htmx.respond("workers/page.html", "workers/_work.html", **shown(job))


@blueprint.get("/<work_id>/file")
def take_away(work_id: str) -> Response:
    with access.reading() as (session, rater):
        return download(jobs.file(session, rater.study, work_id))


@blueprint.post("/<work_id>/give-up")
def give_up(work_id: str) -> Response:
    with access.writing() as (session, rater):
        job = jobs.find(session, rater.study, work_id)
        jobs.cancel(session, rater.study, work_id)
        session.commit()
    return redirect(url_for(shown(job)["under"]), 303)  # type: ignore[return-value]


def led_to(kind: str, wanted: Mapping[str, Any]) -> Response:
    """Redirect to the page of a job, begun if none was done since the study changed."""
    with access.writing() as (session, rater):
        work_id = jobs.enqueue(session, rater.study, kind, wanted, access.now())
        session.commit()
    _wake()
    return redirect(url_for("long_work.show", work_id=work_id), 303)  # type: ignore[return-value]


def shown(job: LongWork) -> dict[str, Any]:
    """Return a job as pages show it: its words, and the menu entry it stands under."""
    words, under = _WORDS[job.kind]
    return {"work": job, "words": words(job.wanted), "under": under}


def download(file: ExportedFile) -> Response:
    return attached(file.data, file.media_type, file.name)


def _wake() -> None:
    workers().wake(JobWork(access.database()), most=1)


def _reading(wanted: Mapping[str, Any]) -> JobWords:
    return _import(wanted)._replace(
        ending=gettext("All questions are read. The report is being made."),
        leaving=gettext(
            "You may close this page: the reading goes on, and the page Import leads back to "
            "the report. Nothing is stored before you have seen it."
        ),
    )


def _import(wanted: Mapping[str, Any]) -> JobWords:
    return JobWords(
        gettext("Import of %(names)s", names=", ".join(wanted["names"])),
        url_for("imports.show", token=wanted["tokens"]),
        gettext("%(done)s of %(of)s questions are read."),
        gettext("All questions are read. They are being stored, all at once."),
        gettext(
            "You may close this page: the import goes on, and the page Import leads back to it. "
            "The files are stored as a whole or not at all."
        ),
    )


def _scoring(wanted: Mapping[str, Any]) -> JobWords:
    return JobWords(
        gettext("Scoring of %(names)s", names=", ".join(wanted["names"])),
        url_for("evaluations.index"),
        gettext("%(done)s of %(of)s rows are scored."),
        gettext("All rows are scored. They are being stored, all at once."),
        gettext(
            "You may close this page: the scoring goes on, and the page Evaluation lists the "
            "evaluation once it is stored."
        ),
    )


def _packing(wanted: Mapping[str, Any]) -> JobWords:
    run, rule = wanted["run"], wanted["rule"]
    if run is None:
        title = gettext("Proof pack of the study")
        again = url_for("proof_packs.of_study", rule=rule)
    else:
        title = gettext("Proof pack of the run %(run)s", run=run)
        again = url_for("proof_packs.of_run", run_id=run, rule=rule)
    return JobWords(
        title,
        again,
        gettext("It is being made: %(done)s of %(of)s steps done."),
        gettext("All steps are done. The file is being put down."),
        gettext(
            "You may close this page: the file is made all the same, and the link that brought "
            "you here brings you back to it. It is kept for a day."
        ),
    )


def _imported(job: LongWork) -> str:
    found = job.result or {}
    if found["left"]:
        return url_for("imports.show", token=found["left"], left="1" if found["stored"] else None)
    return after_import(found["runs"])


def after_import(stored: Sequence[str]) -> str:
    """Return the address to go on at: the run, if there is only one, else the list."""
    if len(set(stored)) == 1:
        return url_for("runs.show", run_id=stored[0])
    return url_for("runs.index") if stored else url_for("imports.show")


def _scored(job: LongWork) -> str:
    found = job.result or {}
    if "evaluation" not in found:
        return url_for("evaluations.index", refused=job.id)
    again = 1 if found["again"] else None
    return url_for("evaluations.show", evaluation_id=found["evaluation"], again=again)


_WORDS: Mapping[str, tuple[Callable[[Mapping[str, Any]], JobWords], str]] = {
    "reading": (_reading, "imports.show"),
    "storing": (_import, "imports.show"),
    "scoring": (_scoring, "evaluations.index"),
    "proof pack": (_packing, "runs.index"),
}
"""The words of each kind of jobs for what is wanted, and the menu entry of its page."""

_SEEN_AT: Mapping[str, Callable[[LongWork], str]] = {
    "reading": _imported,
    "storing": _imported,
    "scoring": _scored,
}
"""The address of what a job stored; a file is downloaded from the job's own page."""
