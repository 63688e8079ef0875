"""Every failure a user can meet states a sentence and a remedy, the same in every place."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator

import relevansi
from relevansi.failures import Busy, Conflict, Failure, Missing, Refused
from relevansi.i18n import speaking

BASES = (Missing, Conflict, Refused, Busy)
NOT_IMPORTED = ("relevansi.__main__", "relevansi.db.migrations")


def kinds(of: type[Failure] = Failure) -> Iterator[type[Failure]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def all_failures() -> list[type[Failure]]:
    for module in pkgutil.walk_packages(relevansi.__path__, "relevansi."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)
    return [
        kind for kind in kinds() if kind not in BASES and kind.__module__.startswith("relevansi")
    ]


def test_every_failure_is_of_one_of_four_kinds_and_says_what_and_what_to_do() -> None:
    result = all_failures()

    assert len(result) > 50
    for kind in result:
        assert issubclass(kind, BASES), kind
        failure = kind.__new__(kind)
        failure.placeholders = defaultdict(lambda: "x")
        for language in ("en", "id"):
            with speaking(language):
                texts = [failure.sentence(), Failure.advice(failure)]
                if kind.advice is Failure.advice:
                    texts += [failure.line(), str(failure)]
                for text in texts:
                    assert text
                    assert "%" not in text
