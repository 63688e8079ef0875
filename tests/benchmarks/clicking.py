"""The browsers that click: those of the owner, who sees the run, and those of blind raters."""

from __future__ import annotations

from tests.benchmarks.load import Client, Place
from tests.benchmarks.serving import cookie
from tests.benchmarks.studies import Size, add_rater, card_keys, invite
from tests.browser.server import Server
from webapp.db.engine import Database

OPEN, BLIND = "open page", "blind page"
WARM = 10
"""Clicks before it counts: the first ones load what later ones find loaded."""
GIVEN = 30
"""The questions each rater has; of each the last card stays unjudged, so that more is to come."""


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
