"""The browsers that click: those of the owner, who sees the run, and those of blind raters."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import NamedTuple

from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Client, Contestant, Outcome, Place, take_turns
from tests.benchmarks.results import Measurement
from tests.benchmarks.serving import cookie
from tests.benchmarks.studies import Size, add_rater, card_keys, invite
from tests.browser.server import Server
from webapp.db.engine import Database

OPEN, BLIND = "open page", "blind page"
YARDSTICK = "minimal application"
EVERY = 5
"""Places are shared out by turns of so many, where one study is clicked more than once."""
FEW_ROUNDS = 2
WARM = 10
"""Clicks before it counts: the first ones load what later ones find loaded."""
GIVEN = 30
"""The questions each rater has; of each the last card stays unjudged, so that more is to come."""


class Beside(NamedTuple):
    """Our clicks, each answered with its figures, and as many on the minimal application."""

    ours: Outcome
    theirs: Outcome


def minimal_clients(number: int, questions: int) -> list[Client]:
    """So many browsers on the minimal application, each with questions of its own."""
    places = [
        Place(f"/queries/{question}/results/{rank}/judgment")
        for question in range(1, questions + 1)
        for rank in range(1, 11)
    ]
    return [Client(places[one::number]) for one in range(number)]


def open_clients(size: Size, questions: range, number: int = 1) -> list[Client]:
    """So many windows of the owner on one run, each with cards of its own."""
    run = f"/runs/{size.run_ids[0]}/queries"
    places = [
        Place(f"{run}/{question}/results/{rank}/judgment")
        for rank in range(1, size.results)
        for question in questions
    ]
    return [Client(places[one::number]) for one in range(number)]


def blind_client(database: Database, rater_id: int, questions: range, seen: str = "") -> Client:
    """The browser of a blind rater at their tasks on some questions; `seen` is its cookie."""
    given = card_keys(database, rater_id, questions)
    fewest = min(len(keys) for _, keys in given)
    places = [
        Place(f"/rate/{task}/judgment", {"card": keys[place]})
        for place in range(fewest - 1)
        for task, keys in given
    ]
    return Client(places, seen, page=f"/rate/{given[0][0]}")


def invited(server: Server, database: Database, number: int, given: int) -> list[Client]:
    """The browsers of so many invited raters, who judge blind; each has the first questions."""
    made = [add_rater(database, f"Rater {one}", given=given) for one in range(number)]
    return [
        blind_client(database, one, range(1, given + 1), cookie(server, invite(database, one)))
        for one in made
    ]


def part(clients: Sequence[Client], share: Container[int]) -> list[Client]:
    """The same browsers with some of every few places, so that each of their clicks is a change.

    A second click at a place might give the verdict that it has already, and change nothing.
    """
    return [
        replace(
            client,
            places=[one for at, one in enumerate(client.places) if at % EVERY in share],
        )
        for client in clients
    ]


def beside_minimal(
    own_port: int,
    clients: Sequence[Client],
    port: int,
    effort: Effort,
    *,
    pause: float = 0.0,
) -> Beside:
    """Return our clicks and as many on the minimal application at `port`, in turns."""
    # By two connections, which are shared out among the processes that answer.
    take_turns([Contestant("first", own_port, clients[:2], requests=WARM)], 1)
    each, rounds = max(1, effort.clicks // len(clients)), effort.turns
    seconds = effort.seconds
    if pause:  # fewer rounds, so that each lasts
        each, rounds = each * effort.rounds, min(effort.rounds, FEW_ROUNDS)
        seconds = max(seconds, 3 * pause * each)
    ours = Contestant("ours", own_port, clients, "POST", each, seconds, pause)
    others = minimal_clients(len(clients), effort.questions)
    theirs = replace(ours, name="minimal", port=port, clients=others)
    found = take_turns([theirs, ours], rounds)
    return Beside(found[1], found[0])


def pair(what: str, found: Beside) -> list[Measurement]:
    """Return the rows of our clicks and of the minimal application's."""
    ours, theirs = found
    return [
        Measurement(
            what,
            ours.times,
            ours.per_second,
            yardstick=YARDSTICK,
            ratio=ours.times.p50 / theirs.times.p50,
        ),
        Measurement(f"- {YARDSTICK}", theirs.times, theirs.per_second),
    ]
