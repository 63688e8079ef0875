"""Beside changed content a rater is shown their latest verdict on the content before it."""

from __future__ import annotations

from datetime import timedelta

from tests.conftest import NOW
from tests.services.runs.runs import card
from webapp.db.tables.judging import JudgedThing
from webapp.services.judging.judged_things import to_row
from webapp.services.rating.pages import EarlierVerdict, said_before

MINUTE = timedelta(minutes=1)


def content(
    number: int, price: int, *, run_id: str | None = None, property_id: int | None = 1
) -> JudgedThing:
    """Return one content of a property under question 1, told apart by its price."""
    shown = to_row(card("a", price=price)) if property_id else None
    return JudgedThing(id=number, question_id=1, run_id=run_id, property_id=property_id, card=shown)


def shown(found: dict[int, EarlierVerdict]) -> dict[int, tuple[str, int | None]]:
    return {thing: (one.relevance, one.card.price) for thing, one in found.items()}


def test_of_several_earlier_verdicts_the_latest_is_shown_with_what_differs() -> None:
    first, second, now = content(1, 10), content(2, 20), content(3, 30)
    said = [(second, "0", NOW + MINUTE), (first, "1", NOW)]

    found = said_before([now], said)
    assert shown(found) == {3: ("0", 20)}
    assert (found[3].now.price, found[3].differing) == (30, ("price",))


def test_beside_a_verdict_of_its_own_only_what_came_before_it_is_shown() -> None:
    first, second, own = content(1, 10), content(2, 20), content(3, 30)
    said = [(first, "1", NOW), (own, "1", NOW + MINUTE), (second, "0", NOW + 2 * MINUTE)]

    # Nothing was said before the first content's verdict; before the third's, only the first's.
    assert shown(said_before([first, own], said)) == {3: ("1", 10)}


def test_another_run_s_conversation_or_property_and_an_emptiness_are_no_content_before() -> None:
    elsewhere, other = content(1, 10, run_id="run"), content(2, 10, property_id=2)
    empty, now = content(3, 10, property_id=None), content(4, 30)

    assert said_before([now], [(thing, "1", NOW) for thing in (elsewhere, other, empty)]) == {}
