"""Rating pages with badges: what they show of a card, and gold questions for them."""

from __future__ import annotations

import json
import re

from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.gold.gold_files import gold_bytes, listing, stored_run, v2_file
from tests.services.runs.runs import click
from tests.web.conftest import made_once
from tests.web.rating.blind_study import set_study
from webapp.db.engine import Database
from webapp.db.tables.runs import Run
from webapp.importers.runs import json_runs
from webapp.records import EmptyOutcome, QueryState, Relevance
from webapp.services.gold import gold
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

OVERRIDE = {"subject": "price", "outcome": "pass", "reason": "typing error"}


@made_once
def stored(database: Database, *, with_gold: bool = True) -> str:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        run_id = stored_run(session, study, owner, with_gold=with_gold).id
        session.commit()
    return run_id


def take_gold(database: Database, run_id: str, **changed: object) -> None:
    with database.writing() as session:
        run = session.get_one(Run, run_id)
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        gold.import_file(session, owner, run.question_set_id, "g.json", gold_bytes(**changed), NOW)
        session.commit()


def judge_all(database: Database, run_id: str) -> None:
    """Have the owner judge every card of a run, and call its empty lists right."""
    with database.writing() as session:
        owner = studies.raters(session, studies.open_or_make(session, NOW))[0]
        for query in session.get_one(Run, run_id).queries:
            for result in query.results:
                made = click(f"{query.id}-{result.rank}")
                events.judge(
                    session, owner, run_id, query.query_id, result.rank, Relevance.RELEVANT, made
                )
            if query.state == QueryState.EMPTY:
                right = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
                events.rate(session, owner, run_id, query.query_id, right, click(str(query.id)))
        session.commit()


def badges_of(html: str, number: int) -> str:
    """Return the words of the badges below a card."""
    part = html.split(f'<div id="badges-{number}"')[1].split("</div>", maxsplit=1)[0]
    return " ".join(re.sub("<[^>]+>", " ", f"<div {part}").split())


def key_of(html: str, title: str) -> str:
    """Return the name of a card in a blind task by its title."""
    articles = re.findall(r"<article.*?</article>", html, re.DOTALL)
    found = next(article for article in articles if title in article)
    return str(re.findall(r'name="card" value="(\w+)"', found)[0])


def number_of(html: str, title: str) -> int:
    articles = re.findall(r'<article id="card-(\d+)".*?</article>', html, re.DOTALL)
    texts = re.findall(r"<article.*?</article>", html, re.DOTALL)
    return int(next(n for n, text in zip(articles, texts, strict=True) if title in text))


def begin(client: FlaskClient) -> str:
    """Return the address of what is next for a blind rater, who has judged its cards."""
    address = str(client.get("/rate/").headers["Location"])
    for key in dict.fromkeys(re.findall(r'name="card" value="(\w+)"', client.get(address).text)):
        verdict = {"card": key, "relevance": "1", "event_id": f"{address}-{key}"}
        client.post(f"{address}/judgment", data=verdict)
    return address


def shown_blind(database: Database) -> str:
    """Add another run, so that raters are blind, and show badges; return the run's id."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        document = json.loads(v2_file({1: [listing("a"), listing("f")], 2: [], 3: []}))
        document["method"] = "api_only"
        read = json_runs.read("results.json", json.dumps(document).encode())
        other = imports.store(session, study, read, Labels(), NOW).id
        session.commit()
    set_study(database, badges_while_blind=True, repeat_percent=0)
    return other
