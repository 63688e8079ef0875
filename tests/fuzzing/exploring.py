"""Inputs put in one after the other, and what they brought to light made small."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from tests.fuzzing.kinds import Found, Kind, found

SHRINKING_SECONDS = 10.0
MOST_TRIES = 400


def explore(
    kind: Kind[Any],
    first: int,
    *,
    going_on: Callable[[int], bool],
    known: set[tuple[str, str, str]],
) -> Iterator[Found]:
    """Put the inputs from the number `first` on in while `going_on`; yield each new cause.

    `going_on` is asked with the number of the input that comes next, before it is made.
    """
    number, fresh = first, True
    while going_on(number):
        if fresh or number % kind.batch == 0:
            kind.begin()
        fresh = False
        given: Any = None
        try:
            given = kind.number(number)
            kind.put(given)
            if (number + 1) % kind.batch == 0:
                kind.end()
        except Exception as raised:  # noqa: BLE001 - any at all is what is looked for
            one = found(kind.name, kind.seed, number, raised)
            if one.cause not in known:
                known.add(one.cause)
                yield _smallest(kind, given, one)
            fresh = True
        number += 1


def _smallest(kind: Kind[Any], given: Any, one: Found) -> Found:
    """Return the finding with the smallest input that still shows it, as far as was looked."""
    until, tries = time.monotonic() + SHRINKING_SECONDS, MOST_TRIES
    best = given
    improved = given is not None
    while improved and tries > 0:
        improved = False
        for smaller in islice(kind.smaller(best), tries):
            tries -= 1
            if time.monotonic() > until:
                tries = 0
                break
            if _shows(kind, smaller, one):
                best, improved = smaller, True
                break
    shown = b""
    with suppress(Exception):
        shown = b"" if best is None else kind.shown(best)
    return replace(one, smallest=shown)


def _shows(kind: Kind[Any], given: Any, one: Found) -> bool:
    """Whether an input alone, put in anew, shows the same."""
    try:
        kind.begin()
        kind.put(given)
        kind.end()
    except Exception as raised:  # noqa: BLE001
        return found(kind.name, kind.seed, one.number, raised).cause == one.cause
    return False
