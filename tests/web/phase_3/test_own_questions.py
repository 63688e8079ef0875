"""A participant asks a chatbot that may be slow, wrong or away, and nothing is ever lost."""

from __future__ import annotations

import re
from threading import Barrier, Thread

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.db.tables.phase_3 import OwnQuestion
from relevansi.services.workers.loop import LEASE_TIME
from relevansi.web.frame.access import now
from relevansi.web.frame.workers import Workers, workers
from tests.chatbot import bots
from tests.page import Page
from tests.web.conftest import PART
from tests.web.phase_3.participants import NOBODY, WAIT, ask, opened, taking_part
from tests.web.rating.blind_study import set_study
from tests.web.rating.looking import fill, look, pins

NOTHING = bots.status(200, {"response": "Maaf, tidak ada.", "properties": []})


def states(database: Database) -> list[str]:
    with database.reading() as session:
        return [question.state for question in session.query(OwnQuestion).order_by(OwnQuestion.id)]


def asked_once(
    app: Flask, behaviour: bots.Behaviour, question: str = "Rumah?"
) -> tuple[FlaskClient, str]:
    """Somebody who asked one question, and where the answer to it stands."""
    with bots.serving(behaviour) as bot:
        client = taking_part(app, opened(app.extensions["database"], bot.address))
        return client, ask(app, client, question)


def test_an_answer_is_judged_and_the_next_asked(app: Flask, web_database: Database) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address, pause_seconds=0))
        address = ask(app, client, "Rumah di Johor?")
        page = Page(client.get(address))
        assert "elevant" not in page.source, "a rater's words"
        for rank in range(1, page.count("article") + 1):
            data = {"relevance": "1"}
            response = client.post(f"{address}/results/{rank}/judgment", data=data)
            assert response.headers["Location"].endswith(f"#rank-{rank}")
        home = Page(client.get("/ask/"))
        assert address in home.links()
        assert not home.has("[name=question]")
        client.post(f"{address}/rating", data={"quality": "5", "notes": "Pas"})
        page = Page(client.get(address))
        assert "Rated. Thank you." in page
        assert page.fields("#rate")["notes"] == "Pas"
        assert Page(client.get("/ask/")).has("[name=question]")
        assert client.post(f"{address}/done").headers["Location"] == "/ask/"
        assert ask(app, client, "Ruko di Amplas?") == "/ask/2"
    first, second = bot.asked
    assert (first["message"], first["method"]) == ("Rumah di Johor?", "hybrid")
    assert first["session_id"] == second["session_id"]


def test_an_empty_answer_asks_whether_that_is_right(app: Flask, web_database: Database) -> None:
    client, address = asked_once(app, NOTHING, "Kastil di Medan?")
    assert "whether showing nothing is right" in client.get(address).text
    client.post(f"{address}/rating", data={"empty_outcome": "false_negative"})
    page = Page(client.get(address))
    assert page.one("#outcome")["data-verdict"] == "false_negative"
    assert "the quality of the answer" in page
    assert "Suggested" not in page
    set_study(web_database, suggest_quality=True)
    assert "Suggested: 0." in client.get(address).text
    assert "Not rated in full" in client.get("/ask/").text
    client.post(f"{address}/rating", data={"quality": "0"})
    assert "Not rated in full" not in client.get("/ask/").text


def test_participants_look_things_up_only_where_the_owner_lets_them(
    app: Flask, web_database: Database
) -> None:
    client, address = asked_once(app, NOTHING, "Kastil di Medan?")
    assert not Page(client.get(address)).has("#look")
    assert client.get(f"{address}/look").status_code == 400
    set_study(web_database, looks_up_in_phase_3=True)
    fill(web_database, "a")
    hits = look(client, address, "house")
    data = {"evidence": "1", "listing": pins(hits)[0]}
    response = client.post(f"{address}/evidence", data=data, headers=PART)
    assert Page(response).partials["#evidence"].count("li") == 1
    assert Page(client.get(address)).one("#outcome")["data-verdict"] == "false_negative"
    client.post("/ask/undo")
    assert Page(client.get(address)).one("#outcome")["data-verdict"] == ""


def test_a_click_is_answered_with_what_it_changed(app: Flask) -> None:
    client, address = asked_once(app, bots.good)
    click = {"relevance": "1", "event_id": "e1", "device": "d", "sequence": "1"}
    for _retry in range(2):
        text = client.post(f"{address}/results/1/judgment", data=click, headers=PART).text
        assert "#verdict-1" in text
        assert "#end" in text
    graded = client.post(f"{address}/rating", data={"quality": "4"}, headers=PART).text
    assert "#grades" in graded
    assert "#rank-1" not in graded
    for event in ("u1", "u2"):
        undone = client.post("/ask/undo", data={"event_id": event}, headers=PART).text
    assert "" in Page(undone).values(".card", "data-verdict")
    assert "nothing left to undo" in client.post("/ask/undo", headers=PART).text


def test_a_page_waits_and_no_writer_does(app: Flask, web_database: Database) -> None:
    with bots.serving(bots.silent, bots.good) as bot:
        link = opened(web_database, bot.address)
        client = taking_part(app, link)
        address = client.post("/ask/", data={"question": "Rumah?"}).headers["Location"]
        assert bot.waiting.wait(WAIT)
        assert Page(client.get(address)).has("noscript meta[http-equiv=refresh]")
        assert Page(client.get(address, headers=PART)).has("#asking")
        second = taking_part(app, link)  # writes, while the call is on its way
        assert second.get("/ask/").status_code == 200
        bot.released.set()
        assert workers(app).is_idle(WAIT)
        assert states(web_database) == ["failed"]
        client.post(f"{address}/again")
        assert workers(app).is_idle(WAIT)
    waiting = client.get(address, query_string={"waiting": 1}, headers=PART)
    assert waiting.headers["HX-Refresh"] == "true"
    assert "#question" in Page(client.get(address, headers=PART)).partials


UNUSABLE = "not an answer that can be shown"


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (bots.status(500, {"detail": "boom-internal"}), UNUSABLE),
        (bots.status(429, {"detail": "slow down"}), "very busy"),
        (bots.raw(b"<html>secret stack</html>"), UNUSABLE),
        (bots.status(422, {"detail": "too short"}), "does not take this question"),
    ],
)
def test_a_failure_is_said_in_plain_words_and_can_be_tried_again(
    app: Flask, web_database: Database, behaviour: bots.Behaviour, message: str
) -> None:
    with bots.serving(behaviour, bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = ask(app, client, "Rumah di <Johor>?")
        page = Page(client.get(address))
        assert message in page
        assert "Rumah di <Johor>?" in page
        assert "500" not in page  # elsewhere it is a part of hashes
        for detail in ("boom-internal", "secret stack", bot.address):
            assert detail not in page.source
        client.post(f"{address}/again")
        assert workers(app).is_idle(WAIT)
        assert Page(client.get(address)).has("#rank-1")


def test_a_question_can_be_left(app: Flask, web_database: Database) -> None:
    client = taking_part(app, opened(web_database, NOBODY))
    address = ask(app, client, "Rumah?")

    assert "cannot be reached" in client.get(address).text
    assert client.post(f"{address}/give-up").headers["Location"] == "/ask/"
    assert "left without an answer" in client.get(address).text
    assert "10 questions left" in client.get("/ask/").text


def test_a_wrong_set_up_tells_no_secret(app: Flask, web_database: Database) -> None:
    client, address = asked_once(app, bots.status(404, {"detail": "no such page"}))
    assert "not set up correctly" in client.get(address).text
    mapping = (
        '{"send": {"q": "{message}"}, "read": {"text": "a"},'
        ' "headers": {"Authorization": "Bearer {env:NO_SUCH_KEY}"}}'
    )
    client = taking_part(app, opened(web_database, NOBODY, api="mapping", mapping=mapping))
    page = client.get(ask(app, client, "Rumah?")).text

    assert "not set up correctly" in page
    assert "NO_SUCH_KEY" not in page


@pytest.mark.parametrize("text", ["  ", "x" * 2001])
def test_what_is_no_question_comes_back(app: Flask, web_database: Database, text: str) -> None:
    client = taking_part(app, opened(web_database, NOBODY))
    response = client.post("/ask/", data={"question": text})

    assert response.status_code == 422
    assert text.strip() in response.text
    assert states(web_database) == []


def test_two_tabs_at_once_ask_one_question(app: Flask, web_database: Database) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        name = app.config["SESSION_COOKIE_NAME"]
        cookie = client.get_cookie(name)
        assert cookie is not None
        barrier, responses = Barrier(2), {}

        def send(text: str) -> None:
            tab: FlaskClient = app.test_client()
            tab.set_cookie(name, cookie.value)
            barrier.wait()
            responses[text] = tab.post("/ask/", data={"question": text})

        tabs = [Thread(target=send, args=[text]) for text in ("Rumah?", "Ruko?")]
        for tab in tabs:
            tab.start()
        for tab in tabs:
            tab.join()
        assert workers(app).is_idle(WAIT)
        (accepted,) = (text for text, response in responses.items() if response.status_code == 303)
        (refused,) = (text for text, response in responses.items() if response.status_code == 409)
        assert refused in responses[refused].text
        assert ask(app, client, accepted) == "/ask/1"  # again, after an answer that was lost

    assert len(states(web_database)) == len(bot.asked) == 1


def test_a_restart_in_mid_question_leaves_it_interrupted_and_to_be_asked_again(
    app: Flask, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bots.serving(bots.silent, bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = client.post("/ask/", data={"question": "Rumah?"}).headers["Location"]
        assert bot.waiting.wait(WAIT)
        old, later = workers(app), now() + LEASE_TIME * 2
        app.extensions["workers"] = Workers(app)  # the next process knows nothing of that call
        workers(app).serve()
        monkeypatch.setattr("relevansi.web.frame.access.now", lambda: later)
        assert "interrupted on its way" in client.get(address).text
        client.post(f"{address}/again")
        assert workers(app).is_idle(WAIT)
        assert Page(client.get(address)).has("#rank-1")
        bot.released.set()
        assert old.is_idle(WAIT)
    assert states(web_database) == ["answered"]


def test_what_waited_when_the_server_ended_is_asked_when_it_starts(
    app: Flask, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        monkeypatch.setattr(Workers, "wake", lambda _self, _work: None)
        client.post("/ask/", data={"question": "Rumah?"})
        assert states(web_database) == ["waiting"]
        monkeypatch.undo()
        app.extensions["workers"] = Workers(app)
        assert workers(app).is_idle(0)  # an application that serves nobody asks nothing
        workers(app).serve()
        assert workers(app).is_idle(WAIT)

    assert states(web_database) == ["answered"]


def test_the_pause_keeps_what_was_typed(app: Flask, web_database: Database) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address, pause_seconds=3600))
        client.post(f"{ask(app, client, 'Rumah?')}/done")
        response = client.post("/ask/", data={"question": "Ruko di Amplas?"})

    assert response.status_code == 429
    assert "Ruko di Amplas?" in response.text
    assert re.search(r"3,[56]\d\d seconds", response.text)


def test_methods_and_others_questions_stay_secret(app: Flask, web_database: Database) -> None:
    with bots.serving(bots.good) as bot:
        settings = {"search_method": "secret_method", "llm": "secret-llm"}
        link = opened(web_database, bot.address, **settings)
        client, stranger = taking_part(app, link), taking_part(app, link)
        address = ask(app, client, "Rumah rahasia?")
        client.post("/closing/", data={"anyway": "1"})
        paths = ("/ask/", address, "/closing/", "/closing/thanks", "/nothing", "/runs/")
        received = "".join(
            f"{response.headers}{response.text}" for response in map(client.get, paths)
        )

    for secret in ("secret_method", "secret-llm", bot.address, "web.sqlite"):
        assert secret not in received
    assert "Rumah rahasia?" not in stranger.get("/ask/").text
    assert stranger.get(address).status_code == 404
    for path, data in (
        ("/results/1/judgment", {"relevance": "1"}),
        ("/rating", {"quality": "1"}),
        *((path, {}) for path in ("/done", "/again", "/give-up")),
    ):
        assert stranger.post(address + path, data=data).status_code == 404
