"""Failures that a user can meet, in four kinds, each with the sentence a user reads.

Each failure is a class that states its own sentence. The page and the command line show that
sentence; only the remedy differs where one speaks of pages and the other of commands.
"""

from __future__ import annotations

from typing import ClassVar

from relevansi.i18n import gettext, mark

SEE_RUNS = mark("Go back to the first page: every run of this study is listed there.")
RELOAD = mark("Reload the page and try again.")


class Failure(Exception):
    """Something that was not done; nothing that is stored was changed.

    ``message`` and ``remedy`` (``command_remedy`` on the command line, ``program_remedy`` to a
    program, where it is another) are message ids, whose ``%(name)s`` is replaced by the arguments
    of the exception, any other name by that argument.
    After ``retry_after`` seconds the same request may succeed.
    """

    message: ClassVar[str]
    remedy: ClassVar[str]
    command_remedy: ClassVar[str | None] = None
    program_remedy: ClassVar[str | None] = None
    status: ClassVar[int]
    retry_after: ClassVar[int | None] = None

    def __init__(self, *args: object, **values: object) -> None:
        super().__init__(*args)
        self.placeholders = {"name": " ".join(map(str, args)), **values}

    def __str__(self) -> str:
        return f"{self.sentence()}. {self.advice()}"

    @property
    def name(self) -> str:
        """The arguments of the exception as text: the missing, taken or refused thing."""
        return str(self.placeholders["name"])

    def sentence(self) -> str:
        return gettext(self.message) % self.placeholders

    def advice(self) -> str:
        return gettext(self.remedy) % self.placeholders

    def line(self) -> str:
        """Return message and remedy as the command line prints them."""
        if self.command_remedy is None:
            return str(self)
        return f"{self.sentence()}. {gettext(self.command_remedy) % self.placeholders}"


class Missing(Failure, LookupError):
    """There is nothing of the name, number or token that was given."""

    status = 404


class Conflict(Failure):
    """The state of the study does not allow it, or has changed meanwhile."""

    status = 409


class Refused(Failure):
    """The request cannot be answered as it is, or not to the person who sent it."""

    status = 400


class Busy(Failure):
    """Not now: too much is asked at this moment."""

    status = 503
