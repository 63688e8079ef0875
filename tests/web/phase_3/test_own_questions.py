"""A participant asks a chatbot that may be slow, wrong or away, and nothing is ever lost."""

from __future__ import annotations

import re
from threading import Barrier, Event, Lock, Thread
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.chatbot import bots
from tests.web.conftest import PART
from tests.web.phase_3.participants import WAIT, ask, opened, taking_part
from tests.web.rating.blind_study import set_study
from webapp.db.engine import Database
from webapp.db.tables.phase_3 import OwnQuestion
from webapp.services.workers.loop import ALIVE
from webapp.web.frame.access import now
from webapp.web.frame.workers import Workers, set_up, workers


def states(database: Database) -> list[str]:
    with database.reading() as session:
        return [own.state for own in session.query(OwnQuestion).order_by(OwnQuestion.id)]


def test_an_answer_is_shown_as_cards_and_judged_without_a_script(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = ask(app, client, "Rumah di Johor?")
    page = client.get(address).text

    assert 'id="rank-1"' in page
    assert "Does not fit" in page
    assert "Very good" in page
    assert "elevant" not in page, "a rater's words"
    assert "2 floors" in page or "Floors" in page
    answer = client.post(f"{address}/results/1/judgment", data={"relevance": "1"})
    assert answer.headers["Location"].endswith("#rank-1")
    client.post(f"{address}/rating", data={"quality": "5", "notes": "Pas"})
    page = client.get(address).text
    assert "Everything is rated" in page
    assert ">\nPas</textarea>" in page
    assert client.post(f"{address}/done").headers["Location"] == "/ask/"
    assert "Rated" in client.get("/ask/").text
    (asked,) = bot.asked
    assert asked["message"] == "Rumah di Johor?"
    assert asked["method"] == "hybrid"


def test_the_next_question_can_be_asked_as_soon_as_the_answer_is_rated(
    app: Flask, web_database: Database
) -> None:
    """Without another visit to the rated one; with a card or the grade left it waits."""
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address, pause_seconds=0))
        address = ask(app, client, "Rumah di Johor?")
        cards = client.get(address).text.count("<article")
        for rank in range(1, cards + 1):
            client.post(f"{address}/results/{rank}/judgment", data={"relevance": "1"})
        home = client.get("/ask/").text
        assert "Go on with this question" in home
        assert 'name="question"' not in home
        client.post(f"{address}/rating", data={"quality": "4"})
        home = client.get("/ask/").text
        assert "Go on with this question" not in home
        assert 'name="question"' in home

        assert ask(app, client, "Ruko di Amplas?").startswith("/ask/2")
    assert len(bot.asked) == 2


def test_an_empty_answer_asks_in_plain_words_whether_that_is_right(
    app: Flask, web_database: Database
) -> None:
    nothing = bots.status(200, {"response": "Maaf, tidak ada.", "properties": []})
    with bots.serving(nothing) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = ask(app, client, "Kastil di Medan?")
    page = client.get(address).text

    assert "The chatbot showed no property" in page
    assert "Not rated yet: whether showing nothing is right" in page
    client.post(f"{address}/rating", data={"empty_outcome": "false_negative"})
    page = client.get(address).text
    assert 'data-verdict="false_negative"' in page
    assert "Not rated yet: the quality of the answer" in page
    assert "Suggested" not in page
    set_study(web_database, suggest_quality=True)
    assert "Suggested for an answer without results: 0." in client.get(address).text
    assert "Not rated in full" in client.get("/ask/").text
    client.post(f"{address}/rating", data={"quality": "0"})
    assert "Everything is rated" in client.get(address).text
    assert "Not rated in full" not in client.get("/ask/").text


def test_a_click_by_script_is_answered_with_what_it_changed(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = ask(app, client, "Rumah?")
    click = {"relevance": "1", "event_id": "e1", "device": "d", "sequence": "1"}
    for _retry in range(2):
        text = client.post(f"{address}/results/1/judgment", data=click, headers=PART).text
        assert "#rank-1" in text
        assert "#end" in text
    undone = client.post("/ask/undo", data={"event_id": "u1"}, headers=PART).text
    assert 'data-verdict=""' in undone
    assert "nothing left to undo" in client.post("/ask/undo", headers=PART).text


def test_the_page_waits_while_the_chatbot_thinks_and_no_writer_waits_for_it(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.silent) as bot:
        link = opened(web_database, bot.address)
        client = taking_part(app, link)
        answer = client.post("/ask/", data={"question": "Rumah?"})
        assert bot.waiting.wait(WAIT)
        page = client.get(answer.headers["Location"]).text
        assert "The chatbot is answering" in page
        assert '<noscript><meta http-equiv="refresh"' in page
        part = client.get(answer.headers["Location"], headers=PART)
        assert part.text.startswith("<section") or 'id="asking"' in part.text
        other = taking_part(app, link)  # writes, while the call is on its way
        assert other.get("/ask/").status_code == 200
    assert workers(app).is_idle(WAIT)
    assert states(web_database) == ["failed"]


def test_once_there_is_an_answer_the_waiting_page_is_told_to_load_it(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = ask(app, client, "Rumah?")

    waiting = client.get(address, query_string={"waiting": 1}, headers=PART)
    assert waiting.headers["HX-Refresh"] == "true"
    assert 'hx-target="#question"' in client.get(address, headers=PART).text


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (bots.status(500, {"detail": "boom-internal"}), "not an answer that can be shown"),
        (bots.status(429, {"detail": "slow down"}), "very busy"),
        (bots.raw(b"<html>secret stack</html>"), "not an answer that can be shown"),
        (bots.cut, "not an answer that can be shown"),
        (bots.huge, "not an answer that can be shown"),
        (bots.other_session, "not an answer that can be shown"),
        (bots.status(422, {"detail": "too short"}), "does not take this question"),
    ],
)
def test_a_failure_is_said_in_plain_words_and_can_be_tried_again(
    app: Flask, web_database: Database, behaviour: bots.Behaviour, said: str
) -> None:
    with bots.serving(behaviour, bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = ask(app, client, "Rumah di <Johor>?")
        page = client.get(address).text
        assert said in page
        assert "nothing you typed is lost" in page
        assert "Rumah di &lt;Johor&gt;?" in page
        for detail in ("boom-internal", "secret stack", "500", bot.address):
            assert detail not in page
        client.post(f"{address}/again")
        assert workers(app).is_idle(WAIT)
        assert 'id="rank-1"' in client.get(address).text


def test_a_chatbot_that_is_away_is_said_and_the_question_can_be_left(
    app: Flask, web_database: Database
) -> None:
    client = taking_part(app, opened(web_database, "http://127.0.0.1:9"))
    address = ask(app, client, "Rumah?")

    assert "cannot be reached" in client.get(address).text
    assert client.post(f"{address}/give-up").headers["Location"] == "/ask/"
    assert "left without an answer" in client.get(address).text
    assert "10 questions left" in client.get("/ask/").text


def test_an_address_at_which_there_is_nothing_is_the_owner_s_matter(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.status(404, {"detail": "no such page"})) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        page = client.get(ask(app, client, "Rumah?")).text

    assert "not set up correctly" in page


@pytest.mark.parametrize("text", ["", "  ", "x" * 2001])
def test_what_is_no_question_comes_back_as_it_was_typed(
    app: Flask, web_database: Database, text: str
) -> None:
    client = taking_part(app, opened(web_database, "http://127.0.0.1:9"))
    answer = client.post("/ask/", data={"question": text})

    assert answer.status_code == 422
    assert text.strip() in answer.text
    assert states(web_database) == []


def test_two_tabs_at_once_ask_one_question_and_the_other_waits_in_its_form(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        name = app.config["SESSION_COOKIE_NAME"]
        cookie = client.get_cookie(name)
        assert cookie is not None
        barrier, answers = Barrier(2), {}

        def send(text: str) -> None:
            tab: FlaskClient = app.test_client()
            tab.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
            tab.set_cookie(name, cookie.value)
            barrier.wait()
            answers[text] = tab.post("/ask/", data={"question": text})

        tabs = [Thread(target=send, args=[text]) for text in ("Rumah?", "Ruko?")]
        for tab in tabs:
            tab.start()
        for tab in tabs:
            tab.join()
        assert workers(app).is_idle(WAIT)

    assert sorted(answer.status_code for answer in answers.values()) == [303, 409]
    (late,) = (text for text, answer in answers.items() if answer.status_code == 409)
    assert late in answers[late].text
    assert len(states(web_database)) == len(bot.asked) == 1


def test_a_question_sent_again_after_a_lost_answer_is_asked_once(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        first, again = ask(app, client, "Rumah?"), ask(app, client, "Rumah?")

    assert first == again
    assert len(bot.asked) == 1


def test_a_restart_in_mid_question_leaves_it_interrupted_and_to_be_asked_again(
    app: Flask, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bots.serving(bots.silent, bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        address = client.post("/ask/", data={"question": "Rumah?"}).headers["Location"]
        assert bot.waiting.wait(WAIT)
        old, later = workers(app), now() + ALIVE * 2
        set_up(app)  # as the next process begins, which knows nothing of that call
        workers(app).serve()
        monkeypatch.setattr("webapp.web.frame.access.now", lambda: later)
        page = client.get(address).text
        assert "interrupted on its way" in page
        assert "Rumah?" in page
        client.post(f"{address}/again")
        assert workers(app).is_idle(WAIT)
        assert 'id="rank-1"' in client.get(address).text
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
        set_up(app)
        assert workers(app).is_idle(0)  # an application that serves nobody asks nothing
        workers(app).serve()
        assert workers(app).is_idle(WAIT)

    assert states(web_database) == ["answered"]


def test_a_follow_up_is_asked_in_the_same_session_unless_it_begins_anew(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address))
        for question, more in (
            ("Rumah?", {}),
            ("Yang lain?", {}),
            ("Ruko?", {"new_conversation": "1"}),
        ):
            client.post(f"{ask(app, client, question, **more)}/done")
    sessions = [asked["session_id"] for asked in bot.asked]

    assert sessions[0] == sessions[1] != sessions[2]
    assert "Earlier in this conversation" in client.get("/ask/2").text
    assert "Earlier in this conversation" not in client.get("/ask/3").text


def test_the_pause_between_questions_keeps_what_was_typed(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        client = taking_part(app, opened(web_database, bot.address, pause_seconds=3600))
        client.post(f"{ask(app, client, 'Rumah?')}/done")
        answer = client.post("/ask/", data={"question": "Ruko di Amplas?"})

    assert answer.status_code == 429
    assert "Ruko di Amplas?" in answer.text
    assert re.search(r"Please wait 3,[56]\d\d seconds", answer.text)


def test_a_missing_key_is_the_owner_s_matter_and_no_secret_is_told(
    app: Flask, web_database: Database
) -> None:
    mapping = (
        '{"send": {"q": "{message}"}, "read": {"text": "a"},'
        ' "headers": {"Authorization": "Bearer {env:NO_SUCH_KEY}"}}'
    )
    link = opened(web_database, "http://127.0.0.1:9", api="mapping", mapping=mapping)
    client = taking_part(app, link)
    page = client.get(ask(app, client, "Rumah?")).text

    assert "not set up correctly" in page
    assert "NO_SUCH_KEY" not in page


def test_no_name_of_a_method_or_an_llm_reaches_a_participant(
    app: Flask, web_database: Database
) -> None:
    with bots.serving(bots.good) as bot:
        settings = {"search_method": "secret_method", "llm": "secret-llm"}
        client = taking_part(app, opened(web_database, bot.address, **settings))
        address = ask(app, client, "Rumah?")
        received = ""
        client.post("/closing/", data={"anyway": "1"})
        for path in ("/ask/", address, "/closing/", "/closing/thanks", "/nothing", "/runs/"):
            answer = client.get(path)
            received += f"{answer.headers}{answer.text}"

    for secret in ("secret_method", "secret-llm", bot.address, "web.sqlite"):
        assert secret not in received


def test_one_participant_s_questions_are_nobody_else_s(app: Flask, web_database: Database) -> None:
    with bots.serving(bots.good) as bot:
        link = opened(web_database, bot.address)
        client, other = taking_part(app, link), taking_part(app, link)
        address = ask(app, client, "Rumah rahasia?")

    assert other.get(address).status_code == 404
    assert "Rumah rahasia?" not in other.get("/ask/").text
    for path, data in (
        ("/results/1/judgment", {"relevance": "1"}),
        ("/rating", {"quality": "1"}),
        ("/done", {}),
        ("/again", {}),
        ("/give-up", {}),
    ):
        assert other.post(address + path, data=data).status_code == 404


def test_five_people_at_once_are_all_answered_and_the_chatbot_gets_two_questions_at_a_time(
    app: Flask, web_database: Database
) -> None:
    lock, now_asked, most, two = Lock(), 0, 0, Event()

    def counting(handler: bots.Handler, asked: Any) -> None:
        nonlocal now_asked, most
        with lock:
            now_asked += 1
            most = max(most, now_asked)
            if most == 2:
                two.set()
        two.wait(WAIT)  # the first waits for the second
        handler.server.released.wait(0.1)  # for a third, which must not come
        with lock:
            now_asked -= 1
        bots.good(handler, asked)

    with bots.serving(counting) as bot:
        link = opened(web_database, bot.address, at_once=2)
        people = [taking_part(app, link) for _ in range(5)]
        threads = [
            Thread(target=person.post, args=["/ask/"], kwargs={"data": {"question": f"{n}?"}})
            for n, person in enumerate(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert workers(app).is_idle(WAIT)

    assert most == 2
    assert states(web_database) == ["answered"] * 5
    for number, person in enumerate(people):
        assert f"{number}?" in person.get("/ask/1").text
