from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from relevansi.db.engine import Database
from relevansi.db.tables.machine_judges import MachineJudge
from relevansi.db.tables.people import Rater
from relevansi.records import Scale
from relevansi.services.machine_judges import calls, judges
from relevansi.services.machine_judges.calls import Terms
from relevansi.services.workers.loop import LEASE_TIME
from relevansi.web.frame import access
from relevansi.web.frame.workers import Workers, workers
from tests.chatbot import bots
from tests.chatbot.bots import Bot
from tests.page import Page
from tests.services.machine_judges import machines
from tests.services.runs.runs import card, query
from tests.stored_studies import made_once, open_study
from tests.web.conftest import PART, in_english, judge, stored

WAIT = 60
HERE = "/study/machine-judges"
CARDS = [query(n, *(card(f"p{n}{letter}") for letter in "abc"), text=f"Rumah {n}?")
         for n in range(1, 5)]  # fmt: skip
N = 12


@made_once
def run_of_four(database: Database) -> str:
    return stored(database, CARDS)


def make(client: FlaskClient, name: str = "Mesin") -> str:
    """Make a judge with our own prompt; return the address of its page."""
    form = Page(client.get(f"{HERE}/new"))
    response = form.submit(client, "form.new-judge", name=name)
    assert response.status_code == 303, response.text
    return str(response.headers["Location"])


def finish(app: Flask) -> None:
    """Wait until nobody is at work."""
    assert workers(app).is_idle(WAIT)


def rate_all(client: FlaskClient, run_id: str, *, wrong: int = 0) -> None:
    """Let the owner call everything relevant but the first cards of the first `wrong` answers."""
    for number in range(1, 5):
        for rank in (1, 2, 3):
            verdict = "0" if rank == 1 and number <= wrong else "1"
            judge(client, run_id, number, rank, verdict)


def judge_of(session: object) -> MachineJudge:
    result: MachineJudge | None = session.scalar(select(MachineJudge))  # type: ignore[attr-defined]
    assert result is not None
    return result


@pytest.fixture(name="bot")
def _bot(app: Flask) -> Iterator[Bot]:
    """An endpoint that finds all relevant, and is configured."""
    with bots.serving(machines.always("relevant")) as bot:
        app.config["JUDGE"] = machines.endpoint(bot)
        yield bot
        workers(app).is_idle(WAIT)


@pytest.fixture(name="run", autouse=True)
def _run(web_database: Database) -> str:
    return run_of_four(web_database)


def test_the_cost_is_shown_before_a_second_explicit_start(client: FlaskClient, bot: Bot) -> None:
    address = make(client)
    first = Page(client.get(address))
    terms = {"prompt_price": "1000", "completion_price": "2000", "currency": "USD",
             "most_calls": "", "at_once": "2"}  # fmt: skip
    agreed = Page(client.get(address, query_string=terms))

    assert "12 cards are left" in first
    assert "divided by 4" in first
    assert not first.has(f"form[action='{address}/start']")
    assert re.search(r"Start: judge 12 cards, about [\d.]+ USD", agreed.text)
    assert {*agreed.values("[name=prompt_price]")} == {"1000"}
    assert "no limit is set" in agreed.text.casefold()
    assert bot.asked == []


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("prompt_price", "free", "Please write a price in digits"),
        ("most_calls", "0", "too small or too large"),
        ("at_once", "6", "too small or too large"),
    ],
)
def test_terms_that_cannot_be_are_refused_with_what_is_wrong(
    client: FlaskClient, bot: Bot, field: str, typed: str, message: str
) -> None:
    address = make(client)
    response = client.get(address, query_string={field: typed})
    started = client.post(f"{address}/start", data={field: typed})

    assert message in response.text
    assert (response.status_code, started.status_code) == (200, 422)
    assert message in started.text
    assert client.get(f"{address}/start").headers["Location"] == address
    assert bot.asked == []


def test_a_judge_works_on_while_pages_are_shown_and_tells_what_it_used(
    app: Flask, client: FlaskClient, bot: Bot
) -> None:
    address = make(client)
    client.post(
        f"{address}/start",
        data={"prompt_price": "1,5", "completion_price": "2", "currency": "USD", "at_once": "3"},
    )
    finish(app)
    page, part = Page(client.get(address)), client.get(address, headers=PART)

    assert len(bot.asked) == N
    assert "12 of 12 cards judged" in page
    assert "It has judged every card of the study." in page
    assert f"{N * 300:,} + {N * 20:,} tokens" in page
    assert "tokens · 0.0059 USD" in page  # 3,600 x 1.5 + 240 x 2, a million
    assert part.headers["HX-Refresh"] == "true"  # what comes next is below the part
    assert part.text == ""
    assert "every 2s" not in page.source
    assert "The latest session has ended" not in page
    assert "12 judgments" in client.get("/raters/").text


def test_a_judge_can_be_stopped_and_started_again_for_the_rest(
    app: Flask, client: FlaskClient, bot: Bot
) -> None:
    address = make(client)
    client.post(f"{address}/start", data={"most_calls": "4", "at_once": "1"})
    finish(app)
    assert "4 of 12 cards judged" in client.get(address).text
    assert "The latest session has ended: the limit was reached." in client.get(address).text
    bot.behaviours = (bots.silent,)
    client.post(f"{address}/start", data={"at_once": "1"})
    assert bot.waiting.wait(WAIT)
    running = client.get(address).text
    part = Page(client.get(address, headers=PART))
    client.post(f"{address}/stop")
    bot.behaviours = (machines.always("relevant"),)
    bot.released.set()
    finish(app)

    assert "At work now." in running
    assert part.one("section")["hx-trigger"] == "every 2s"
    assert part.is_part
    assert "The latest session has ended" not in running
    assert "Start: judge" not in running
    assert "stopped by you" in client.get(address).text
    bot.released.clear()
    client.post(f"{address}/start", data={})
    finish(app)
    assert "12 of 12 cards judged" in client.get(address).text


def test_a_restart_of_the_server_goes_on_by_itself(
    app: Flask, client: FlaskClient, web_database: Database, bot: Bot
) -> None:
    """A session is running, and nobody works: as the next process finds it."""
    address = make(client)
    with web_database.writing() as session:
        at = app.config["JUDGE"]
        calls.start(session, judge_of(session), at, Terms(), access.now())
        session.commit()
    assert bot.asked == []
    app.extensions["workers"] = Workers(app)
    assert workers(app).is_idle(0)  # an application that serves nobody asks nobody
    workers(app).serve()
    finish(app)

    assert len(bot.asked) == N
    assert "12 of 12 cards judged" in client.get(address).text


@pytest.mark.usefixtures("bot")
def test_a_session_that_nobody_works_on_is_told_so_and_can_go_on(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    address = make(client)
    with web_database.writing() as session:
        long_ago = access.now() - LEASE_TIME - timedelta(minutes=1)
        at = app.config["JUDGE"]
        calls.start(session, judge_of(session), at, Terms(), long_ago)
        session.commit()
    assert "It has stopped: the program" in client.get(address).text
    client.post(f"{address}/resume")
    finish(app)

    assert "12 of 12 cards judged" in client.get(address).text


def test_why_it_stopped_by_itself_is_told_in_words(
    app: Flask, client: FlaskClient, bot: Bot
) -> None:
    bot.behaviours = (bots.status(401, {"error": {"message": "no such key <b>"}}),)
    address = make(client)
    client.post(f"{address}/start", data={"at_once": "5"})
    finish(app)
    page = Page(client.get(address))

    assert "stops by itself after 5 cards in a row without a usable answer" in page
    assert len(bot.asked) == 5
    assert "5 without a usable answer" in page
    assert "It stopped by itself." in page
    assert "The endpoint refused the call." in page
    assert "401 no such key <b>" in page
    assert "No verdict was made up for these." in page


@pytest.mark.usefixtures("bot")
def test_a_judge_needs_a_name_of_its_own_and_a_prompt_with_its_places(client: FlaskClient) -> None:
    make(client)
    for data, message in (
        ({"name": "mesin", "prompt": "{question} {card}"}, "a rater of this name already"),
        ({"name": "", "prompt": "{question} {card}"}, "Please fill this in."),
        ({"name": "Baru", "prompt": "{question} only"}, "The prompt needs the place {card}."),
    ):
        response = client.post(f"{HERE}/", data=data)
        assert response.status_code == 422
        assert message in response.text
        assert "only" not in data["prompt"] or "{question} only" in response.text


@pytest.mark.usefixtures("bot")
def test_figures_are_in_use_once_the_owner_has_seen_the_agreement_and_said_so(
    app: Flask, client: FlaskClient, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judges, "MIN_SHARED", N)
    address = make(client)
    client.post(f"{address}/start", data={})
    finish(app)
    assert "There is no card yet that both" in client.get(f"{address}/agreement").text
    assert client.post(f"{address}/release").status_code == 409
    rate_all(client, run, wrong=2)
    page = Page(client.get(f"{address}/agreement"))
    client.post(f"{address}/release")

    assert "Both decided 12 cards" in page
    assert re.search("Where they differ.*P1A.*P2A", page.text)
    assert "Its figures are in use since" in client.get(f"{address}/agreement").text
    report = Page(client.get(f"/runs/{run}", query_string={"rule": "machine Mesin"}))
    assert report.texts(".pick b") == ["Mesin (machine) alone"]
    client.post(f"{address}/withdraw")
    assert "Mesin" not in client.get(f"/runs/{run}").text
    assert client.get(f"{address}/withdraw").headers["Location"] == f"{address}/agreement"


@pytest.mark.usefixtures("bot")
def test_a_machine_is_marked_among_raters_and_nobody_is_one(
    client: FlaskClient, web_database: Database
) -> None:
    make(client)
    client.post("/password", data={"password": "long enough", "again": "long enough"})
    (line,) = (
        rater for rater in Page(client.get("/raters/")).all(".rater-line") if "Mesin" in rater
    )

    assert line.texts("h2 .chip") == ["machine"]
    assert not line.has("form[action$='/invitations']")
    assert "Mesin" not in client.get("/study/standing").text
    with web_database.reading() as session:
        machine = session.scalar(select(Rater.id).where(Rater.is_machine))
    assert client.post(f"/raters/{machine}/invitations").status_code == 409


@pytest.mark.usefixtures("bot")
def test_an_unknown_judge_is_not_found(app: Flask, client: FlaskClient) -> None:
    """A person has no page of a machine either."""
    for address in (f"{HERE}/1", f"{HERE}/99", f"{HERE}/1/agreement"):
        assert client.get(address).status_code == 404
    assert in_english(app).post(f"{HERE}/1/release").status_code == 404


def test_an_unusable_address_is_told_and_not_repeated(app: Flask, client: FlaskClient) -> None:
    from relevansi.config import JudgeEndpoint

    app.config["JUDGE"] = JudgeEndpoint("me:secret@nowhere", "m")
    page = client.get(f"{HERE}/")

    assert f"{HERE}/new" not in page.text
    assert "is not an http or https address" in page.text
    assert "secret" not in page.text
    assert client.get(f"{HERE}/new").status_code == 409


def test_on_a_scale_of_grades_its_answers_are_grades_beside_those_of_people(
    app: Flask, client: FlaskClient, web_database: Database, run: str
) -> None:
    with open_study(web_database) as (_, study):
        study.scale = Scale(top=2, words=("off", "near", "full")).to_store()
    with bots.serving(machines.always("2")) as bot:
        app.config["JUDGE"] = machines.endpoint(bot)
        assert "near" in client.get(f"{HERE}/new").text
        address = make(client)
        client.post(f"{address}/start", data={})
        finish(app)
    for number in range(1, 5):
        judge(client, run, number, 1, str(number % 3))

    page = Page(client.get(f"{address}/agreement"))
    assert page.count("table.confusion tbody tr") == 4
    assert page.count("table.confusion tbody td") == 16
    assert "Cohen's kappa, quadratic weights" in page
