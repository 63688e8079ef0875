"""The ways in which a call to a server fails, each kind with its code and its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relevansi.i18n import gettext, mark
from relevansi.printable import printable_line

_MAX_DETAIL = 300  # characters
MAX_EXCERPT = 2000  # characters

CHATBOT = mark("The chatbot")
RETRIEVER = mark("The retriever")
EMBEDDER = mark("The endpoint")
SERVER = mark("The server")


KINDS: Mapping[str, str] = {
    "not_reached": mark("%(who)s could not be reached: %(why)s."),
    "no_answer_in_time": mark("%(who)s did not finish its answer within %(seconds)s seconds."),
    "connection_cut": mark("The connection was cut before the answer was complete: %(why)s."),
    "too_many_requests": mark("%(who)s is busy and refused the question (429): %(detail)s"),
    "pause_too_long": mark(
        "%(who)s is busy (%(status)s) and asks to wait %(seconds)s seconds, longer than the "
        "%(limit)s that are waited for."
    ),
    "server_failed": mark("%(who)s failed (%(status)s): %(detail)s"),
    "not_the_contract": mark("%(who)s's answer cannot be used: %(what)s."),
    "answer_too_large": mark(
        "%(who)s's answer is larger than %(limit)s kB and was not read further."
    ),
    "other_session": mark(
        'The answer belongs to another conversation: it names the session "%(theirs)s", '
        'asked was in "%(ours)s".'
    ),
    "question_refused": mark("%(who)s refused the question (%(status)s): %(detail)s"),
    "nothing_there": mark(
        "%(who)s is neither at %(address)s nor at %(other)s (%(status)s): %(detail)s. Check "
        "the address."
    ),
    "redirected": mark(
        "The address leads on to %(address)s (%(status)s). Give that one if it is meant."
    ),
}
"""The sentence of each kind of failure, by its code."""

FINAL = {"pause_too_long", "question_refused", "nothing_there", "redirected"}
"""The kinds after which the same request would fail again."""


class CallFailed(Exception):
    """A question that got no usable answer; its text is in the reader's language.

    ``code`` names the kind, ``who`` the endpoint that was asked. ``pause`` is the wait in
    seconds that the endpoint itself asked for, ``excerpt`` the beginning of what it sent instead
    of an answer, ``tries`` how often it was asked.
    """

    def __init__(
        self,
        code: str,
        *,
        pause: float | None = None,
        excerpt: str = "",
        who: str = CHATBOT,
        **values: str | float,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.pause = pause
        self.excerpt = excerpt[:MAX_EXCERPT]
        self.tries = 1
        self.who = who
        self.values = {
            name: one_line(value) if isinstance(value, str) else f"{value:g}"
            for name, value in values.items()
        }

    def __str__(self) -> str:
        # Texts of ours among the values are translated; those of the chatbot are not in the
        # catalogue and stay as they are.
        values = {name: gettext(value) for name, value in self.values.items()}
        return gettext(KINDS[self.code], **{"who": gettext(self.who), **values})


class NotTheContract(CallFailed):
    """An answer that is not the JSON of the mapping; `what` names the fault."""

    def __init__(self, what: str, **values: Any) -> None:
        super().__init__("not_the_contract", **values)
        self.what = what

    def __str__(self) -> str:
        what = gettext(self.what, **self.values)
        return gettext(KINDS[self.code], who=gettext(self.who), what=what)


def one_line(text: str) -> str:
    r"""Return `text` on one line without control characters, cut where it is long.

    >>> one_line("no\n\x1b[31mindex")
    'no [31mindex'
    """
    line = printable_line(text, instead=" ")
    return line if len(line) <= _MAX_DETAIL else f"{line[:_MAX_DETAIL]} …"
