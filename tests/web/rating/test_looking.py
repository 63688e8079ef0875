"""Looking things up over HTTP: what a page shows, stores and never tells."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from tests.page import Page
from tests.services.runs.runs import card, query
from tests.web.conftest import PART, stored
from tests.web.documents import collection, imported
from tests.web.rating.blind_study import begin, keys, place, set_study, three_runs
from tests.web.rating.looking import fill, look, pins
from tests.web.visitors import invited


def evidence(client: FlaskClient, at: str) -> list[str]:
    return [item.text for item in Page(client.get(at)).all("#evidence li > b bdi")]


@pytest.fixture(name="empty")
def _empty(web_database: Database) -> str:
    run_id = stored(web_database, [query(1), query(2, card("x"))])
    fill(web_database, "a", "b", price=9)
    return place(run_id, 1)


def test_an_empty_answer_is_looked_up_and_evidence_sets_its_outcome(
    client: FlaskClient, empty: str
) -> None:
    hits = look(client, empty, "house")
    assert len(pins(hits)) == 2
    pin = {"evidence": "1", "listing": pins(hits)[0], "event_id": "p"}
    part = Page(client.post(f"{empty}/evidence", data=pin, headers=PART))
    assert part.all("#outcome [value=false_negative][aria-pressed=true]")
    assert evidence(client, empty) == ["House a"]
    assert look(client, empty, "house").all(".hit .pin[aria-pressed=true]")
    item = Page(client.get(empty)).values("#evidence [name=item]")[0]
    client.post(f"{empty}/evidence", data={"evidence": "", "item": item, "event_id": "q"})
    assert evidence(client, empty) == []
    assert not Page(client.get(empty)).all("#outcome [aria-pressed=true]")
    assert "house" in Page(client.get("/history/"))


def test_without_a_script_a_search_is_a_page_and_a_pin_leads_back_to_it(
    client: FlaskClient, empty: str
) -> None:
    page = Page(client.get(f"{empty}/look", query_string={"words": "house", "price_to": "1"}))
    assert page.values("#look-words") == ["house"]
    pin = {"evidence": "1", "listing": pins(page)[0]}
    response = client.post(f"{empty}/evidence", data=pin)
    assert response.status_code == 303
    back = Page(client.get(response.location))
    assert back.values("#look-words") == ["house"]
    assert [chip["value"] for chip in back.all(".facet input")] == ["1"]


@pytest.mark.parametrize(
    "wrong",
    [{"words": "x" * 201}, {"words": "", "type": "castle"}, {"words": "", "start": "100000"}],
)
def test_a_search_out_of_bounds_is_refused(
    client: FlaskClient, empty: str, wrong: dict[str, str]
) -> None:
    response = client.get(f"{empty}/look", query_string=wrong)
    assert response.status_code in {400, 422}


def test_other_questions_are_looked_up_where_the_owner_allows_it(
    client: FlaskClient, web_database: Database, empty: str
) -> None:
    listed = empty.removesuffix("1") + "2"
    assert Page(client.get(listed)).all("#missing")
    hits = look(client, listed, "")
    assert (len(hits.all(".hit")), len(pins(hits))) == (3, 2)  # the list has one of them
    set_study(web_database, looks_up=False)
    assert not Page(client.get(listed)).all("#missing")
    assert client.get(f"{listed}/look").status_code in {400, 403, 409, 422}
    assert client.get(f"{empty}/look").status_code == 200


def test_a_blind_question_is_looked_up_at_its_cards_then_at_its_empty_answer(
    client: FlaskClient, web_database: Database
) -> None:
    """Before its cards are judged the owner may switch that off, as of any question."""
    three_runs(web_database)
    client.get("/rate/")
    at = str(client.post(f"{begin(client)}/later").location)  # the second one, empty in one run
    assert Page(client.get(at)).all("#missing")
    assert Page(client.get(f"{at}/look?words=x")).all("#missing .hit")
    set_study(web_database, looks_up=False)
    assert not Page(client.get(at)).all("#look")
    assert client.get(f"{at}/look").status_code in {400, 403, 409, 422}
    set_study(web_database, looks_up=True)
    (card_key,) = keys(client.get(at))
    verdict = {"card": card_key, "relevance": "1"}
    clicked = Page(client.post(f"{at}/judgment", data=verdict, headers=PART))
    assert clicked.all("#below-cards")
    assert not clicked.all("#missing")
    page = Page(client.get(at))
    assert page.count("#look") == page.count(".emptiness #look") == 1


def test_a_second_blind_rater_cannot_tell_that_a_card_was_pinned(
    client: FlaskClient, web_database: Database
) -> None:
    """The HTML of the pinned card is that of a listed one, but for its name and number."""
    three_runs(web_database)
    fill(web_database, "new", "b2")
    first, second = (invited(client.application, name) for name in ("Ani", "Budi"))
    at = begin(first)
    pin = {"evidence": "1", "listing": pins(look(first, at, "house new"))[0]}
    first.post(f"{at}/evidence", data=pin)
    cards = {
        card.all("bdi")[0].text: card.markup
        for card in Page(second.get(begin(second))).all("article.card")
    }
    pinned = cards.pop("House new")
    shapes = {_shape(markup, title) for title, markup in cards.items()}
    assert _shape(pinned, "House new") in shapes
    assert "evidence" not in pinned


def _shape(markup: str, title: str) -> str:
    """Return the HTML of a card without its title, key, number and price."""
    plain = re.sub(r"[0-9a-f]{16}", "KEY", markup.replace(f">{title}<", ">TITLE<"))
    return re.sub(r"Rp[^<\"]*|(?<=[-\"> ])[0-9]+(?=[\"< ])", "N", plain).strip()


def test_texts_are_looked_up_in_a_study_of_documents(
    client: FlaskClient, web_database: Database
) -> None:
    imported(web_database, *collection(questions=2))
    set_study(web_database, blind=True, repeat_percent=0)
    at = begin(client)
    hits = look(client, at, "copper d2x1")
    assert hits.has(".hit")
    assert not hits.has(".facet")
    client.post(f"{at}/evidence", data={"evidence": "1", "listing": pins(hits)[0]})
    assert len(evidence(client, at)) == 1
