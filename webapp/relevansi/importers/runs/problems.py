"""The problems of a file as sentences in the language in force: file, place and remedy.

A `Problem` carries a code and details; its sentence is made when it is shown, so that a
stored problem can be shown in any language.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from msgspec import Struct, json

from relevansi.failures import Refused
from relevansi.i18n import gettext, mark
from relevansi.records import Problem, Severity


@cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """The ``messages`` by the codes of problems, as a command prints them.

    ``page`` and ``program`` have those whose remedy is another there; ``words`` fill them. All are
    message ids.
    """
    return tomllib.loads(Path(__file__).with_name("problems.toml").read_text("utf-8"))


Edge = Literal["command", "page", "program"]
"""Where a problem is shown: its remedy is an option, a field of a form, or one of a request."""
FIRST_PLACES = 5
_TABLES = ("map", "table")  # details that are a mapping, NAME=VALUE with commas
_ASKING = {
    *("results_json_guessed", "results_id_unnamed", "results_columns_missing"),
    *("results_grades_unfit", "results_splits"),
}
_INDEX = re.compile(r"\[\d+\]")
_TRANSLATED = frozenset({"expected", "found", "outcome"})


class ImportRefused(Refused):
    """Nothing of a file could be used; ``problem`` is the reason, ``problems`` has all."""

    message = mark("%(name)s cannot be used")
    remedy = mark("Mend the file, or choose another.")

    def __init__(self, problem: Problem, *others: Problem) -> None:
        super().__init__(problem.file)
        self.problem = problem
        self.problems: Sequence[Problem] = (problem, *others)

    def __reduce__(self) -> tuple[type[ImportRefused], tuple[Problem, ...], dict[str, object]]:
        return type(self), tuple(self.problems), self.__dict__

    def __str__(self) -> str:
        return message(self.problem)

    def advice(self, edge: Edge = "command") -> str:
        """Return all problems, equal ones joined."""
        return " ".join(remark.text for remark in remarks(self.problems, edge))

    line = advice


class UnreadableFile(ImportRefused):
    """The bytes are not readable JSON: another encoding, cut off, too large, too deep."""


class UnknownRunFormat(ImportRefused):
    """The JSON holds something other than the answers of a run."""


class UnusableQuestions(ImportRefused):
    """A question file that is not a list of questions, or has a wrong one."""


class JoinedProblem(Struct, frozen=True):
    """Equal problems of one file in one text, with how many there are and the first places.

    It ``asks`` where its remedy is a choice in the form beside it.
    """

    severity: Severity
    text: str
    asks: bool = False


def remarks(problems: Iterable[Problem], edge: Edge = "command") -> tuple[JoinedProblem, ...]:
    """The problems in the language in force, those that differ in place and numbers as one."""
    equal: dict[object, list[Problem]] = {}
    for problem in problems:
        equal.setdefault(_kind(problem), []).append(problem)
    return tuple(
        JoinedProblem(
            first.severity,
            _text(message(first, edge), more),
            edge == "page" and first.code in _ASKING,
        )
        for first, *more in equal.values()
    )


def message(problem: Problem, edge: Edge = "command") -> str:
    """The problem, its place and its remedy, in the language in force."""
    words = catalogue()["words"]
    template = catalogue().get(edge, {}).get(problem.code) or catalogue()["messages"][problem.code]
    details = {
        name: gettext(words[str(value)]) if name in _TRANSLATED and value in words else value
        for name, value in problem.details.items()
    }
    for name in details.keys() & _TABLES:
        table = str(details[name])
        details[name] = shlex.quote(table) if edge == "command" else _object(table)
    if problem.line is not None and "place" in details and "%(line)s" not in template:
        line = gettext("line %(n)s", n=problem.line)
        details["place"] = f"{line}, {details['place']}"
    places = {"file": problem.file, "line": problem.line, "query": problem.query_id}
    return gettext(template, **(places | details))


def _object(table: str) -> str:
    pairs = (part.partition("=") for part in table.split(","))
    return json.encode({name: value for name, _, value in pairs}).decode()


def to_dict(problem: Problem, edge: Edge = "command") -> dict[str, str | int | None]:
    """The problem as JSON prints it: severity, file, query_id, line, code and message."""
    place = {"file": problem.file, "query_id": problem.query_id, "line": problem.line}
    sentence = {"code": problem.code, "message": message(problem, edge)}
    return {"severity": problem.severity.value, **place, **sentence}


def _problem(
    severity: Severity,
    code: str,
    file: str,
    details: Mapping[str, str | int] = MappingProxyType({}),
    *,
    query_id: int | None = None,
    line: int | None = None,
) -> Problem:
    return Problem(severity, code, file, query_id, line, dict(details))


error = partial(_problem, Severity.ERROR)
"""Return a problem that loses part of the file."""
warning = partial(_problem, Severity.WARNING)
"""Return a problem that loses nothing, but that the file's owner should know."""


def _kind(problem: Problem) -> object:
    words = {
        (name, _INDEX.sub("", value))
        for name, value in problem.details.items()
        if isinstance(value, str) and name != "ranks"
    }
    return problem.severity, problem.code, problem.file, frozenset(words)


def _text(text: str, more: Sequence[Problem]) -> str:
    if not more:
        return text
    places = list(dict.fromkeys(filter(None, map(_place, more))))
    first_places = ", ".join(places[:FIRST_PLACES]) + (", …" if len(places) > FIRST_PLACES else "")
    also = gettext("and %(n)s more like this", n=len(more))
    return f"{text} ({also}: {first_places})" if first_places else f"{text} ({also})"


def _place(problem: Problem) -> str:
    if problem.query_id is not None:
        return gettext("question %(n)s", n=problem.query_id)
    if problem.line is not None:
        return gettext("line %(n)s", n=problem.line)
    return str(problem.details.get("place", ""))
