"""Why a question got no answer that can be used, each kind with its name and its sentence."""

from __future__ import annotations

from typing import ClassVar

from webapp.i18n import gettext, mark
from webapp.printable import printable_line

_LONGEST_DETAIL = 300
LONGEST_EXCERPT = 2000
CHATBOT = mark("The chatbot")
RETRIEVER = mark("The retriever")
EMBEDDER = mark("The endpoint")


class CallFailed(Exception):
    """A question that got no usable answer.

    Its text is in the language in force; ``code`` names the kind, ``who`` the endpoint
    that was asked, ``retried`` says whether the same question may fare better. ``pause`` is the
    wait in seconds that the endpoint itself asked for, ``excerpt`` the beginning of what it sent
    instead of an answer, ``tries`` how often it was asked.
    """

    code: ClassVar[str]
    sentence: ClassVar[str]
    retried: ClassVar[bool] = True

    def __init__(
        self, *, pause: float | None = None, excerpt: str = "", **values: str | float
    ) -> None:
        super().__init__(self.code)
        self.pause = pause
        self.excerpt = excerpt[:LONGEST_EXCERPT]
        self.tries = 1
        self.who = CHATBOT
        self.values = {
            name: one_line(value) if isinstance(value, str) else f"{value:g}"
            for name, value in values.items()
        }

    def __str__(self) -> str:
        # Of the values only our own words are in the catalogue; the chatbot's stay its own.
        values = {name: gettext(value) for name, value in self.values.items()}
        return gettext(self.sentence, **{"who": gettext(self.who), **values})


class NotReached(CallFailed):
    """No server listens at the address, or its name is unknown."""

    code = "not_reached"
    sentence = mark("%(who)s could not be reached: %(why)s.")


class NoAnswerInTime(CallFailed):
    """The whole answer was not there when the time was over."""

    code = "no_answer_in_time"
    sentence = mark("%(who)s did not finish its answer within %(seconds)s seconds.")


class ConnectionCut(CallFailed):
    """The connection ended before the answer did."""

    code = "connection_cut"
    sentence = mark("The connection was cut before the answer was complete: %(why)s.")


class TooManyRequests(CallFailed):
    """429: the chatbot asks for patience, perhaps for how long."""

    code = "too_many_requests"
    sentence = mark("%(who)s is busy and refused the question (429): %(detail)s")


class PauseTooLong(CallFailed):
    """429 or 5xx with a longer wait than the limit allows."""

    code = "pause_too_long"
    sentence = mark(
        "%(who)s is busy (%(status)s) and asks to wait %(seconds)s seconds, longer than the "
        "%(limit)s that are waited for."
    )
    retried = False


class ServerFailed(CallFailed):
    """5xx, with the chatbot's own words on its failure."""

    code = "server_failed"
    sentence = mark("%(who)s failed (%(status)s): %(detail)s")


class NotTheContract(CallFailed):
    """An answer that is not JSON, or not the JSON that was agreed; `what` names the fault."""

    code = "not_the_contract"
    sentence = mark("%(who)s's answer cannot be used: %(what)s.")

    def __init__(self, what: str, *, excerpt: str = "", **values: str | float) -> None:
        super().__init__(pause=None, excerpt=excerpt, **values)
        self.what = what

    def __str__(self) -> str:
        return gettext(self.sentence, who=gettext(self.who), what=gettext(self.what, **self.values))


class AnswerTooLarge(CallFailed):
    """More bytes than an answer may have; the rest was not read."""

    code = "answer_too_large"
    sentence = mark("%(who)s's answer is larger than %(limit)s kB and was not read further.")


class OtherSession(CallFailed):
    """The answer names another conversation than the one that asked."""

    code = "other_session"
    sentence = mark(
        'The answer belongs to another conversation: it names the session "%(theirs)s", '
        'asked was in "%(ours)s".'
    )


class QuestionRefused(CallFailed):
    """4xx: asking again would be refused again."""

    code = "question_refused"
    sentence = mark("%(who)s refused the question (%(status)s): %(detail)s")
    retried = False


class NothingAtAddress(QuestionRefused):
    """404: perhaps the address lacks a part."""


class NothingAtEither(CallFailed):
    """404 at the address, and at the one that such chatbots often have."""

    code = "nothing_there"
    sentence = mark(
        "%(who)s is neither at %(address)s nor at %(other)s (%(status)s): %(detail)s. Check the "
        "address."
    )
    retried = False


class Redirected(CallFailed):
    """3xx: the address is not the chatbot's."""

    code = "redirected"
    sentence = mark(
        "The address leads on to %(address)s (%(status)s). Give that one if it is meant."
    )
    retried = False


def one_line(text: str) -> str:
    r"""`text` on one line without marks that steer a terminal, its end cut off where it is long.

    >>> one_line("no\n\x1b[31mindex")
    'no [31mindex'
    """
    line = printable_line(text, instead=" ")
    return line if len(line) <= _LONGEST_DETAIL else f"{line[:_LONGEST_DETAIL]} …"
