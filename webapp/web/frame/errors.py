"""What a reader is told when a request cannot be answered: one table, both languages.

The table names the errors, by the module they stand in: a page that nobody has asked for is not
read for the errors it may have one day.

With htmx every status is swapped, so an error is a part (a notice) where a part was wanted.
Nobody is shown a traceback.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import (
    Flask,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.exceptions import HTTPException

from webapp.db import outages
from webapp.db.outages import Outage
from webapp.i18n import gettext, mark
from webapp.web.frame import htmx
from webapp.web.frame.access import NotSignedIn, OpenedElsewhere


@dataclass(frozen=True, slots=True)
class Said:
    """A status with what it means to the reader and what can be done, as message ids.

    ``retry_after`` are seconds after which the same request may succeed.
    """

    status: int
    title: str
    advice: str
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """What the error page shows; ``details`` are already in the reader's language."""

    status: int
    title: str
    advice: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OneMoreStep:
    """The page before one that stores something, for whoever came by another site's link."""

    address: str
    button: str


BUTTONS = {"rate.next_one": mark("Start rating")}
"""What the button of that page says, by where it leads; else "Go on"."""
GONE = mark("Go back to the first page: every run of this study is listed there.")
CHOOSE = mark("Choose two runs or more of one question set on the page of the comparison.")
REPEAT = mark("Reload the page and try again.")
NOT_FOUND = Said(404, mark("There is nothing at this address"), GONE)
FAULT = Said(
    500,
    mark("Something went wrong on our side"),
    mark("What was called saved is saved. Reload the page; if it happens again, see the log."),
)
NO_WAY_IN = Said(
    404,
    mark("This link lets nobody in"),
    mark("It may be incomplete, too old or withdrawn. Ask whoever sent it for a new one."),
)
NO_EVALUATION = Said(
    404,
    mark("This study has no such evaluation or item"),
    mark("Go to the page of the evaluations: all that were scored are listed there."),
)
NO_GOLD = Said(
    404,
    mark("There are no such gold questions"),
    mark("The page of the gold questions lists all that there are."),
)
NOT_SAVED = mark(
    "What was called saved is saved; what was just sent is not saved yet. A rating page that is "
    "still open sends its clicks again by itself; from anywhere else go back and send it once "
    "more in a while."
)
BY_OUTAGE = {
    Outage.FULL: Said(507, mark("The server's disk is full or failing"), NOT_SAVED, 10),
    Outage.BUSY: Said(503, mark("The database is busy"), NOT_SAVED, 2),
    Outage.AWAY: Said(503, mark("The database does not answer"), NOT_SAVED, 3),
    Outage.REPLACED: Said(
        503,
        mark("The database file was removed or replaced while the server was running"),
        mark(
            "Nothing is saved until the server is started again. Stop it, put the right file back "
            "(a backup comes back with `relevansi restore`), and start it again. A rating page "
            "that is still open sends its clicks again by itself."
        ),
        30,
    ),
    Outage.DAMAGED: Said(
        503,
        mark("The database file is damaged"),
        mark(
            "What was called saved may be lost. Stop the server, keep a copy of the file, and put "
            "the latest backup in its place: relevansi restore FILE --replace. `relevansi check` "
            "names what is damaged."
        ),
        30,
    ),
}
OTHER = Said(400, mark("This request cannot be answered"), REPEAT)

BY_STATUS = {
    404: NOT_FOUND,
    405: Said(405, mark("This address does not take that kind of request"), GONE),
    413: Said(
        413,
        mark("The file or the text is too large"),
        mark(
            "Choose a smaller file or shorten the text. A file can also be imported on the command "
            "line: relevansi import FILE."
        ),
    ),
    400: OTHER,
    500: FAULT,
}
BY_KIND = {
    "services.proof_packs.evidence.NoRuns": Said(
        404, mark("This study has no run yet"), mark("Import one first.")
    ),
    "services.runs.runs.UnknownRun": Said(404, mark("This study has no such run"), GONE),
    "services.judging.judgments.UnknownQuery": Said(
        404, mark("This run has no such question or card"), GONE
    ),
    "services.gold.constraints.UnknownListedCard": Said(
        404, mark("This run has no such question or card"), GONE
    ),
    "services.gold.constraints.NoGold": Said(
        404,
        mark("These questions have no gold questions yet"),
        mark("Choose their file on the run's page of constraints first."),
    ),
    "services.gold.gold.UnknownQuestionSet": NO_GOLD,
    "services.gold.gold.UnknownGoldVersion": NO_GOLD,
    "services.gold.editing.UnknownGoldQuestion": NO_GOLD,
    "services.gold.card_decisions.DecisionReplaced": Said(
        409,
        mark("This decision was followed by another"),
        mark("Nothing was undone. Reload the page to see what stands."),
    ),
    "services.runs.reports.UnknownRater": Said(
        404, mark("This study has no rater of that name"), GONE
    ),
    "services.runs.reports.UnknownRule": Said(
        400,
        mark("There is no such rule for merging raters"),
        mark('The rules are "majority", "adjudicated", and "rater" with the name of a rater.'),
    ),
    "services.runs.uploads.UnknownUpload": Said(
        404,
        mark("This file is no longer waiting"),
        mark("It was stored, given up, or kept for longer than a day. Choose the file again."),
    ),
    "services.judging.events.EventIdTaken": Said(
        409, mark("This click was stored before as something else"), REPEAT
    ),
    "services.evaluations.evaluations.UnknownEvaluation": NO_EVALUATION,
    "services.evaluations.evaluations.UnknownItem": NO_EVALUATION,
    "services.rating.tasks.UnknownTask": Said(
        404,
        mark("You were given nothing to rate at this address"),
        mark("It may be another rater's, or gone. Open the first page: it shows what is next."),
    ),
    "web.rating.judgments.RatedBlind": Said(
        409,
        mark("This study is rated blind"),
        mark("Runs are not shown while rating. Reload the page to go on with what is next."),
    ),
    "services.judging.judgments.NotToJudge": Said(
        400, mark("There is nothing of that kind to judge here"), REPEAT
    ),
    "services.agreement.adjudications.UnknownThing": Said(
        404, mark("This study shows no such card or empty list"), GONE
    ),
    "services.agreement.adjudications.NotDisputed": Said(
        409,
        mark("The raters do not disagree here"),
        mark("Somebody changed their verdict meanwhile. Reload the page."),
    ),
    "services.people.history.NoLongerLatest": Said(
        409,
        mark("This is no longer your latest change"),
        mark("Nothing was undone. Reload the page to see what is."),
    ),
    "services.comparisons.comparisons.NothingToCompare": Said(
        422, mark("There is nothing to compare"), CHOOSE
    ),
    "services.comparisons.comparisons.DifferentQuestions": Said(
        422, mark("These runs were asked different questions"), CHOOSE
    ),
    "services.runs.runs.NotUnreadable": Said(
        409, mark("This answer has its cards already"), REPEAT
    ),
    "web.frame.forms.UnusableForm": OTHER,
    "web.frame.access.FromElsewhere": Said(
        403,
        mark("This request came from another site"),
        mark("Nothing was changed. Open the page here and try again."),
    ),
    "web.frame.access.NotFromHere": Said(
        403,
        mark("Only this computer may open these pages"),
        mark(
            "There is no password yet, so only the computer that runs Relevansi is answered. "
            "Open it there at its localhost address, without a proxy in between."
        ),
    ),
    "web.frame.access.NotSignedIn": Said(
        401,
        mark("You are not signed in"),
        mark("Nothing was changed. Sign in or open your invite link again, then repeat it."),
    ),
    "web.frame.access.AnotherRater": Said(
        412,
        mark("Somebody else is at work in this browser now"),
        mark("Nothing was stored in their name: it waits here for the rater who made it."),
    ),
    "web.frame.access.NotYours": Said(
        403,
        mark("This page is the owner's"),
        mark("What is yours to rate is on the first page."),
    ),
    "web.frame.access.NotTakingPart": Said(
        401,
        mark("This page belongs to somebody who takes part"),
        mark("Open your personal link again: everything you gave is still there."),
    ),
    "services.phase_3.participants.PhaseClosed": Said(
        409,
        mark("The study takes no more questions"),
        mark("Whoever sent you the link has closed it. What you gave is kept. Thank you."),
    ),
    "services.phase_3.own_questions.UnknownQuestion": Said(
        404, mark("You asked no such question"), REPEAT
    ),
    "services.phase_3.questionnaires.UnfitAnswer": OTHER,
    "services.phase_3.user_studies.NotSetUp": Said(
        404, mark("Phase 3 is not set up yet"), mark("Set it up on the page of phase 3 first.")
    ),
    "services.phase_3.participants.UnknownParticipant": Said(
        404,
        mark("This study has no such participant"),
        mark("They may have withdrawn. The page of the participants lists who is here."),
    ),
    "services.phase_3.themes.UnknownComment": Said(
        404, mark("This participant asked or wrote no such thing"), REPEAT
    ),
    "services.phase_3.themes.UnfitTheme": Said(
        400,
        mark("This is no category or theme"),
        mark("Nothing was changed. A theme has 1 to 60 letters, a category at most 60."),
    ),
    "services.phase_3.participants.TooManyNewcomers": Said(
        429,
        mark("Many people have just begun from this network"),
        mark(
            "That is nothing you did, and your link stays valid. Please open it again in an hour, "
            "or by another network, such as mobile data."
        ),
        3600,
    ),
    "services.phase_3.participants.UnknownLink": NO_WAY_IN,
    "services.phase_3.participants.LinkExpired": NO_WAY_IN,
    "services.phase_3.participants.LinkWithdrawn": NO_WAY_IN,
    "services.people.invitations.UnknownInvitation": NO_WAY_IN,
    "services.people.invitations.InviteExpired": NO_WAY_IN,
    "services.people.invitations.InviteWithdrawn": NO_WAY_IN,
    "services.people.tries.TooManyTries": Said(
        429,
        mark("Too many tries"),
        mark(
            "Wait a quarter of an hour, then try again. A browser in which you signed in before "
            "does not wait for the tries of others."
        ),
    ),
    "services.people.sign_in.TooBusy": Said(
        503,
        mark("Many are signing in at this moment"),
        mark("Try again in a few seconds."),
        3,
    ),
    "web.people.raters.NoPasswordYet": Said(
        409,
        mark("The owner has no password yet"),
        mark("Set one on the page of the raters first: who comes in by a link is not the owner."),
    ),
    "services.people.raters.NameTaken": Said(
        409,
        mark("There is a rater of this name already"),
        mark("Choose another name; a removed rater keeps theirs."),
    ),
    "services.people.invitations.MachineIsNotInvited": Said(
        409,
        mark("Nobody can come in as a machine judge"),
        mark("It has no link. Its page, under Study, Machine judges, is where it is started."),
    ),
    "services.runs.reports.MachineNotReleased": Said(
        409,
        mark("The figures of this machine judge are not in use"),
        mark(
            "Open Study, Machine judges, and its page of agreement with people: once you have "
            "seen it, its figures can be put in use there."
        ),
    ),
    "services.runs.reports.MachineNotPacked": Said(
        409,
        mark("A proof pack holds what people judged"),
        mark("Choose a person, the majority or the adjudication: no machine's verdict is in it."),
    ),
    "services.machine_judges.beside_people.TooLittleShared": Said(
        409,
        mark("Machine and people have decided too few of the same cards"),
        mark("Nothing was changed. Its page of agreement says how many are needed."),
    ),
    "services.machine_judges.judges.NotConfigured": Said(
        409,
        mark("No endpoint for a machine judge is configured"),
        mark("The page under Study, Machine judges, says how to configure one."),
    ),
    "services.machine_judges.judges.OtherConfiguration": Said(
        409,
        mark("Another endpoint or model is configured than this judge's"),
        mark("Configure its own again, or make a new machine judge with the other model."),
    ),
    "chatbot.mappings.MissingKey": Said(
        409,
        mark("The environment variable that is to hold the key holds none"),
        mark("Nothing was asked. Set it where the server is started, and start it again."),
    ),
    "services.people.raters.OwnerStays": Said(409, mark("The owner cannot be removed"), REPEAT),
}


def explain(app: Flask) -> None:
    """Answer every error of `app` with a page or a part that says what to do."""
    for kind in outages.KINDS:
        app.register_error_handler(kind, _database)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _any)


def known(error: Exception) -> Said | None:
    """Return what the table says of an error; ``None`` where it is nobody's but ours."""
    names = (f"{kind.__module__}.{kind.__name__}" for kind in type(error).__mro__)
    found = (BY_KIND.get(name.removeprefix("webapp.")) for name in names)
    return next((said for said in found if said is not None), None)


def _any(error: Exception) -> Response:
    if isinstance(error, OpenedElsewhere):
        return _one_more_step()
    said = known(error)
    if said is None:
        return _fault(error)
    if isinstance(error, NotSignedIn) and request.method == "GET" and not htmx.wants_part():
        wanted = request.full_path.rstrip("?")
        return redirect(url_for("sign_in.show", next=wanted), 303)  # type: ignore[return-value]
    return _answer(said, _details(error))


def _one_more_step() -> Response:
    button = BUTTONS.get(request.endpoint or "", mark("Go on"))
    context = OneMoreStep(request.full_path.rstrip("?"), gettext(button))
    page = render_template("frame/errors/one_more_step.html", **htmx.names(context))
    return make_response(page)


def _details(error: Exception) -> tuple[str, ...]:
    from webapp.web.frame.forms import UnusableForm  # loaded already where it was raised

    return tuple(error.messages.values()) if isinstance(error, UnusableForm) else ()


def _http(error: HTTPException) -> Response:
    status = error.code or 500
    if status < 400:
        return error.get_response()  # type: ignore[return-value]
    said = BY_STATUS.get(status, FAULT if status >= 500 else OTHER)
    return _answer(Said(status, said.title, said.advice))


def _database(error: Exception) -> Response:
    """Say what keeps the database from answering; in the log it takes one line."""
    found = outages.outage(error)
    if found is None:
        return _fault(error)
    why = str(getattr(error, "orig", None) or error or type(error).__name__)
    current_app.logger.error("the database is %s: %s", found, why.partition("\n")[0])
    return _answer(BY_OUTAGE[found])


def _fault(error: Exception) -> Response:
    current_app.logger.error("request failed", exc_info=error)
    return _answer(FAULT)


def _answer(said: Said, details: tuple[str, ...] = ()) -> Response:
    context = ErrorPage(said.status, gettext(said.title), gettext(said.advice), details)
    answer = htmx.respond(
        "frame/errors/page.html", "frame/errors/_error.html", context, said.status
    )
    answer.retry_after = said.retry_after
    return answer
