"""The messages for requests that cannot be answered, in both languages.

A failure states its own sentence (``relevansi.failures``); those of HTTP and the database are here.

With htmx every status is swapped, so an error is a part (a notice) where a part was wanted. A
program gets a problem document (RFC 9457). Nobody is shown a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import Flask, Response, current_app, render_template, request, url_for
from msgspec import Struct, field, json
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from relevansi.db import outages
from relevansi.db.outages import Outage
from relevansi.failures import RELOAD, SEE_RUNS, Failure
from relevansi.i18n import gettext, mark
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import ImportRefused
from relevansi.notation import number
from relevansi.records import Problem
from relevansi.web.frame import access, htmx, telemetry
from relevansi.web.frame.access import NotSignedIn
from relevansi.web.frame.forms import UnusableForm
from relevansi.web.frame.htmx import see_other
from relevansi.web.frame.language import page_before
from relevansi.web.frame.origins import OpenedElsewhere


class ServerMessage(NamedTuple):
    """A status with its meaning and its remedy for the reader, as message ids."""

    status: int
    title: str
    advice: str
    retry_after: int | None = None


class ProblemDetails(Struct, kw_only=True, omit_defaults=True):
    """Why a request of a program was not done (RFC 9457), in the language that it asks for.

    ``title`` says what was refused, ``detail`` what to do. Of a file that was refused ``problems``
    has what is wrong where; of a request, the place in it; of a change to be confirmed, its parts.
    """

    type: str = field(default="about:blank")
    title: str
    status: int
    detail: str
    problems: list[dict[str, Any]] = []


BUTTONS = {"rate.next_one": mark("Start rating")}
"""The label of the button before a page that stores something; "Go on" for all others."""
MISTYPED = mark("The address may be mistyped, or its page was removed.")
FAULT = ServerMessage(
    500,
    mark("Something went wrong on our side"),
    mark("Everything marked as saved is saved. Reload the page; if it happens again, see the log."),
)
NOT_SAVED = mark(
    "Everything marked as saved is saved; what you just sent is not saved yet. A rating page "
    "that is still open sends its clicks again by itself. From any other page, go back and send "
    "the form again in a while."
)
SEND_AGAIN = mark(
    "Nothing of it was stored, or all: send it again, an event with the same event_id."
)
BY_OUTAGE = {
    Outage.FULL: ServerMessage(507, mark("The server's disk is full or failing"), NOT_SAVED, 10),
    Outage.BUSY: ServerMessage(503, mark("The database is busy"), NOT_SAVED, 2),
    Outage.AWAY: ServerMessage(503, mark("The database does not answer"), NOT_SAVED, 3),
    Outage.REPLACED: ServerMessage(
        503,
        mark("The database file was removed or replaced while the server was running"),
        mark(
            "Nothing is saved until the server is started again. Stop it, put the right file back "
            "(a backup comes back with `relevansi restore`), and start it again. A rating page "
            "that is still open sends its clicks again by itself."
        ),
        30,
    ),
    Outage.DAMAGED: ServerMessage(
        503,
        mark("The database file is damaged"),
        mark(
            "Clicks that were marked as saved may be lost. Stop the server, keep a copy of "
            "the file, and put the latest backup in its place: relevansi restore FILE "
            "--replace. `relevansi check` names what is damaged."
        ),
        30,
    ),
}
CANNOT_ANSWER = ServerMessage(400, mark("This request cannot be answered"), RELOAD)
BY_STATUS = {
    404: ServerMessage(404, mark("There is nothing at this address"), MISTYPED),
    405: ServerMessage(405, mark("This address does not take that kind of request"), MISTYPED),
    413: ServerMessage(
        413,
        mark("The file or the text is too large"),
        mark(
            "Choose a smaller file or shorten the text. A file can also be imported on the command "
            "line: relevansi import FILE."
        ),
    ),
}

PROGRAM_ADVICE = {
    RELOAD: mark("Ask for what is there now, and send what still fits."),
    SEE_RUNS: mark("GET /api/v1/runs lists the runs of this study."),
    MISTYPED: mark("GET /api/v1/openapi.json lists every address and what it takes."),
    FAULT.advice: SEND_AGAIN,
    NOT_SAVED: SEND_AGAIN,
}
"""What a program is advised in place of what a reader of pages is."""


def handle_errors(app: Flask) -> None:
    """Answer every error of `app` with a page or a part that states the remedy."""
    for kind in outages.OUTAGE_ERRORS:
        app.register_error_handler(kind, _outage)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _failure)
    app.teardown_request(_forget_routing_error)


def _forget_routing_error(_error: object) -> None:
    # The error of an unknown address holds the request and all that was sent until garbage is
    # looked for.
    request.routing_exception = None


def _failure(error: Exception) -> Response:
    """Return the answer to one of our own failures, or to a fault that nobody foresaw."""
    address = request.script_root + request.full_path.rstrip("?")
    if isinstance(error, OpenedElsewhere):
        button = gettext(BUTTONS.get(request.endpoint or "", mark("Go on")))
        page = render_template("frame/errors/one_more_step.html", address=address, button=button)
        return Response(page)
    if not isinstance(error, Failure):
        return _fault(error)
    if access.is_for_programs():
        return _to_program(error)
    if isinstance(error, NotSignedIn) and request.method == "GET" and not htmx.wants_part():
        return see_other(url_for("sign_in.show", next=address))
    advice = error.advice("page") if isinstance(error, ImportRefused) else error.advice()
    message = ServerMessage(error.status, error.sentence(), advice, error.retry_after)
    details = error.messages.values() if isinstance(error, UnusableForm) else ()
    return _page_or_part(message, *details)


def _to_program(error: Failure) -> Response:
    """Return a failure as a problem document, with a remedy that a program can follow."""
    listed = [
        problems.to_dict(problem, "program") if isinstance(problem, Problem) else problem
        for problem in getattr(error, "problems", ())
    ]
    remedy = error.program_remedy or PROGRAM_ADVICE.get(error.remedy, error.remedy)
    match error:
        case ImportRefused():
            detail = error.advice("program")
        case UnusableForm():
            detail = " ".join(error.messages.values())
        case _:
            detail = error.advice() if listed else gettext(remedy) % error.placeholders
    message = ServerMessage(error.status, error.sentence(), detail, error.retry_after)
    return _problem_document(message, listed)


def _problem_document(message: ServerMessage, listed: Sequence[dict[str, Any]] = ()) -> Response:
    status, title, detail, retry_after = message
    details = ProblemDetails(title=title, status=status, detail=detail, problems=[*listed])
    answer = Response(json.encode(details), status, content_type="application/problem+json")
    answer.retry_after = retry_after
    if status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="Relevansi"'
    return answer


def _http_error(error: HTTPException) -> Response:
    """Return the answer to an error of HTTP, as an unknown address."""
    status = error.code or 500
    if status < 400:
        return error.get_response()  # type: ignore[return-value]
    message = BY_STATUS.get(status, FAULT if status >= 500 else CANNOT_ANSWER)
    most, details = current_app.config["MAX_CONTENT_LENGTH"], []
    if status == 413 and most is not None:
        details = [gettext("At most %(n)s MB are read at once.", n=number(most / 2**20))]
    answer = _translated_answer(message._replace(status=status), *details)
    if isinstance(error, MethodNotAllowed):
        answer.allow.update(error.valid_methods or ())
    return answer


def _outage(error: Exception) -> Response:
    outage = outages.outage(error)
    if outage is None:
        return _fault(error)
    why = str(getattr(error, "orig", None) or error or type(error).__name__)
    telemetry.telemetry().count_outage(outage)
    current_app.logger.error("the database is %s: %s", outage, why.partition("\n")[0])
    return _translated_answer(BY_OUTAGE[outage])


def _fault(error: Exception) -> Response:
    current_app.logger.error("request failed", exc_info=error)
    return _translated_answer(FAULT)


def _translated_answer(message: ServerMessage, *details: str) -> Response:
    """Return the answer that states a message in the reader's language, with further `details`."""
    title, advice = gettext(message.title), message.advice
    if access.is_for_programs():
        detail = " ".join((gettext(PROGRAM_ADVICE.get(advice, advice)), *details))
        return _problem_document(message._replace(title=title, advice=detail))
    return _page_or_part(message._replace(title=title, advice=gettext(advice)), *details)


def _page_or_part(message: ServerMessage, *details: str) -> Response:
    before = page_before()
    here = request.script_root + request.full_path.rstrip("?")
    is_same = request.method == "GET" and before == here
    values = {**message._asdict(), "details": details, "back": None if is_same else before}
    page, part = "frame/errors/page.html", "frame/errors/_error.html"
    answer = htmx.respond(page, part, values, message.status)
    answer.retry_after = message.retry_after
    return answer
