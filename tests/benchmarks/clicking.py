"""The browsers that click: those of the owner, who sees the run, and those of blind raters."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import NamedTuple

from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Client, Contestant, Outcome, Place, take_turns
from tests.benchmarks.results import Measurement, Times
from tests.benchmarks.serving import cookie
from tests.benchmarks.studies import Size, add_rater, card_keys, invite
from tests.browser.server import Server
from webapp.db.engine import Database

OPEN, BLIND = "open page", "blind page"
READING = "reading all that moved with a judgment"
EVERY = 5
"""Of so many places one is for the clicks that are followed by a reading."""
WARM = 10
"""Clicks before it counts: the first ones load what later ones find loaded."""
GIVEN = 30
"""The questions each rater has; of each the last card stays unjudged, so that more is to come."""


class Beside(NamedTuple):
    """Our clicks and those on the bare application, whose answers have as many bytes.

    ``read`` are ours once more, each with the reading that follows it.
    """

    ours: Outcome
    theirs: Outcome
    read: Outcome
    size: int


def fragment(size: int) -> list[Client]:
    """One browser of the yardstick, whose answers have so many bytes."""
    return [Client([Place(f"/fragment/{size}")])]


def open_clients(size: Size, questions: range, number: int = 1) -> list[Client]:
    """So many windows of the owner on one run, each with cards of its own."""
    run = f"/runs/{size.run_ids[0]}/queries"
    places = [
        Place(f"{run}/{question}/results/{rank}/judgment", reading=f"{run}/{question}/standing")
        for rank in range(1, size.results)
        for question in questions
    ]
    return [Client(places[one::number]) for one in range(number)]


def blind_client(database: Database, rater_id: int, questions: range, seen: str = "") -> Client:
    """The browser of a blind rater at their tasks on some questions; `seen` is its cookie."""
    given = card_keys(database, rater_id, questions)
    fewest = min(len(keys) for _, keys in given)
    places = [
        Place(f"/rate/{task}/judgment", {"card": keys[place]}, f"/rate/{task}/standing")
        for place in range(fewest - 1)
        for task, keys in given
    ]
    return Client(places, seen)


def invited(server: Server, database: Database, number: int, given: int) -> list[Client]:
    """The browsers of so many invited raters, who judge blind; each has the first questions."""
    made = [add_rater(database, f"Rater {one}", given=given) for one in range(number)]
    return [
        blind_client(database, one, range(1, given + 1), cookie(server, invite(database, one)))
        for one in made
    ]


def part(clients: Sequence[Client], share: Container[int]) -> list[Client]:
    """The same browsers with some of every few places, so that each of their clicks is a change.

    Who comes later to a place where others clicked might say what stands there already.
    """
    return [
        replace(
            client,
            places=[one for at, one in enumerate(client.places) if at % EVERY in share],
        )
        for client in clients
    ]


def bytes_of(port: int, clients: Sequence[Client]) -> int:
    """Return how many bytes the answer to a click has."""
    (found,) = take_turns([Contestant("first", port, clients[:1], requests=WARM)], 1)
    return found.size


def beside_bare(
    own_port: int, clients: Sequence[Client], port: int, effort: Effort, *, pause: float = 0.0
) -> Beside:
    """Return our clicks and as many on the bare application at `port`, in turns.

    With a `pause` every click is followed by its reading, else they are measured apart.
    """
    size = bytes_of(own_port, clients)
    each = max(1, effort.clicks // len(clients))
    alone = Contestant("alone", own_port, clients, "POST", each, effort.seconds, pause)
    theirs = replace(alone, name="bare", port=port, clients=fragment(size) * len(clients))
    if pause:
        found = take_turns([theirs, replace(alone, name="read", reads=True)], effort.rounds)
        return Beside(found[1], found[0], found[1], size)
    alone = replace(alone, clients=part(clients, range(1, EVERY)))
    few = max(1, each // EVERY)
    read = replace(alone, name="read", clients=part(clients, [0]), requests=few, reads=True)
    bare, ours, both = take_turns([theirs, alone, read], effort.turns)
    return Beside(ours, bare, both, size)


def pair(what: str, found: Beside) -> list[Measurement]:
    """Return the rows of our clicks, of the yardstick, and of the readings after clicks."""
    ours, theirs, read, size = found
    yardstick = f"bare Flask, one commit, {size:,} bytes"
    return [
        Measurement(
            what,
            ours.times,
            ours.per_second,
            yardstick=yardstick,
            ratio=ours.times.p50 / theirs.times.p50,
        ),
        Measurement(f"- {yardstick}", theirs.times, theirs.per_second),
        Measurement(f"- {READING}", Times.of(read.readings)),
    ]
