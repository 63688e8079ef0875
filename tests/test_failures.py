"""Every failure a user can meet states a sentence and a remedy, the same in every place."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator

import pytest

import webapp
from webapp.failures import Busy, Conflict, Failure, Missing, Refused
from webapp.i18n import speaking

BASES = (Missing, Conflict, Refused, Busy)
INTERNAL = {
    "CallFailed": "why a question got no answer, kept with the question",
    "FileReplaced": "an outage of the database, as SQLAlchemy's own errors are",
    "WriterBusy": "an outage of the database, as SQLAlchemy's own errors are",
    "Cancelled": "ends a job in its worker",
    "NotQuestions": "the page of assignments says it at the field, with what there is",
    "OpenedElsewhere": "leads to a page with a button",
    "SimilaritiesDoNotFit": "becomes a problem of the file",
    "TextChanged": "the page is shown again with the new text",
    "UnfitChatbot": "the form of phase 3 says it at the field",
    "UnreadableAmount": "the form of gold questions says it at the field",
    "UnreadableMember": "becomes a difference that a verification reports",
    "UnreadableVerdict": "kept with the call of a machine judge",
    "UnusableSetting": "of settings, which are below the failures; it says itself what to write",
    "UnfitRows": "becomes a difference that a verification reports",
}
"""Exceptions that are not failures, and why: what a user meets is said by another."""
NOT_IMPORTED = ("webapp.__main__", "webapp.db.migrations")


def kinds(of: type[Failure] = Failure) -> Iterator[type[Failure]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def all_failures() -> list[type[Failure]]:
    for module in pkgutil.walk_packages(webapp.__path__, "webapp."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)
    return [kind for kind in kinds() if kind not in BASES and kind.__module__.startswith("webapp")]


def test_every_failure_is_of_one_of_four_kinds_and_says_what_and_what_to_do() -> None:
    found = all_failures()

    assert len(found) > 50
    for kind in found:
        assert issubclass(kind, BASES), kind
        failure = kind.__new__(kind)
        failure.said = defaultdict(lambda: "x")
        for language in ("en", "id"):
            with speaking(language):
                texts = [failure.sentence(), Failure.advice(failure)]
                if kind.advice is Failure.advice:
                    texts += [failure.line(), str(failure)]
                for text in texts:
                    assert text
                    assert "%" not in text


def test_every_other_exception_is_internal_for_a_reason() -> None:
    all_failures()
    found = [*Exception.__subclasses__(), *ValueError.__subclasses__()]
    plain = {
        kind.__name__
        for kind in found
        if kind.__module__.startswith("webapp.") and not issubclass(kind, Failure)
    }

    assert {name for name in plain if not name.startswith("_")} == set(INTERNAL)


@pytest.mark.parametrize(
    ("base", "status"), [(Missing, 404), (Conflict, 409), (Refused, 400), (Busy, 503)]
)
def test_a_failure_has_the_status_of_its_kind(base: type[Failure], status: int) -> None:
    assert base.status == status


def test_a_failure_names_what_it_is_about_and_the_command_line_has_a_remedy_of_its_own() -> None:
    class NoSuchDoor(Missing):
        message = "There is no door %(name)s"
        remedy = "Open the page of the doors."
        command_remedy = "`doors` lists them."

    failure = NoSuchDoor("7")

    assert failure.sentence() == "There is no door 7"
    assert failure.advice() == "Open the page of the doors."
    assert failure.line() == "There is no door 7. `doors` lists them."
