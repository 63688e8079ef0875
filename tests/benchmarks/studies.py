"""Studies of any size, made up: imported and judged by the product's own services.

Cards, questions and verdicts say nothing real, and are the same every time. Three runs show
some properties in common, as real ones do, so that their pool is smaller than their lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select, update

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.judging import JudgedItem, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.records import Click
from relevansi.services.judging import events
from relevansi.services.judging.events import Target, TargetChange
from relevansi.services.people import raters, tokens
from relevansi.services.people.tokens import Scope
from relevansi.services.rating import tasks
from relevansi.services.runs import imports, stored_runs
from relevansi.services.runs.stored_runs import Labels
from relevansi.services.study import studies
from relevansi.web.frame.access import now

METHODS = ("api_only", "hybrid", "vector_only")
CATEGORIES = 12
STEP = 4
"""So many places down the list of one run begins the next one's."""
OWNER = 1
"""The id of the first rater."""
TASKS = 30
"""The questions each rater has; of each the last card stays unjudged, so that more is to come."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a study is."""

    questions: int
    runs: int = 1
    results: int = 10

    def __str__(self) -> str:
        runs = f"{self.runs} runs x " if self.runs > 1 else ""
        return f"{runs}{self.questions:,} questions x {self.results} cards"


def made_up(folder: Path, size: Size, *, blind: bool = False) -> Database:
    """Return a database in `folder`, with a study of that size and its owner, unrated."""
    database = Database(sqlite_url(folder / "relevansi.sqlite"))
    database.prepare()
    with database.writing() as session:
        study = studies.open_or_make(session, now())
        for place, method in enumerate(METHODS[: size.runs]):
            places = range(place * STEP, place * STEP + size.results)
            data = json.dumps(run_file(size.questions, places, method)).encode()
            report = imports.examine(session, study, imports.read(f"{method}.json", data))
            assert report.read is not None
            stored_runs.store(session, study, report.read, Labels(), now())
        study.blind = blind
        session.commit()
    return database


def run_file(questions: int, places: range, method: str = "hybrid") -> dict[str, object]:
    """Return a run file whose answers list the properties at some places of a question's pool."""
    return {
        "timestamp": "20260301_090000",
        "thread_id": "bench",
        "search_method": method,
        "llm": "made up",
        "total_questions": questions,
        "successful": questions,
        "results": [
            {
                "query_id": number,
                "question": f"Carikan rumah nomor {number} di Medan di bawah 2 miliar",
                "category": f"category_{number % CATEGORIES:02}",
                "success": True,
                "response": _answer(number, places),
                "results_count": len(places),
            }
            for number in range(1, questions + 1)
        ],
    }


def add_rater(database: Database, name: str, n_questions: int) -> int:
    """Return the id of a new rater, to whom the first questions were given as tasks."""
    with database.writing() as session:
        rater_id = raters.add(session, session.get_one(Study, 1), name, now()).id
        session.commit()
    give(database, rater_id, n_questions)
    return rater_id


def give(database: Database, rater_id: int, n_questions: int) -> None:
    """Give a rater the first so many questions as tasks."""
    with database.writing() as session:
        for number in session.scalars(select(Question.id).where(Question.position <= n_questions)):
            task_id = f"{rater_id}-{number}"
            session.add(Task(id=task_id, rater_id=rater_id, question_id=number, claimed_at=now()))
        session.commit()


def let_owner_judge_everything(database: Database) -> None:
    """Write what the owner said: two of three cards are relevant, every answer has its grade."""
    at = now() - timedelta(days=1)
    with database.writing() as session:
        rater = session.get_one(Rater, OWNER)
        query_of = dict(session.execute(select(JudgedItem.id, Result.query_key).join(Result)).all())
        expected = [
            (Target("verdict", item, query), "01"[bool(item % 3)])
            for item, query in query_of.items()
        ]
        expected += [
            (Target("quality", None, query.id), "4") for query in session.scalars(select(Query))
        ]
        changes = [
            TargetChange(target, new, Click(f"made-up-{place}", at))
            for place, (target, new) in enumerate(expected)
        ]
        events.record_all(session, rater, changes)
        events.refresh(session, rater, [target for target, _ in expected])
        session.commit()


def invite(database: Database, rater_id: int) -> str:
    """Return the token of an invitation for a rater."""
    with database.writing() as session:
        token = raters.make(session, session.get_one(Rater, rater_id), now()).token
        session.commit()
        return token


def token(database: Database, scope: Scope = "read") -> str:
    """Return a token of the owner that may do so much."""
    with database.writing() as session:
        issued = tokens.make(session, session.get_one(Rater, OWNER), "bench", [scope], now())
        session.commit()
        return issued.token


def make_blind(database: Database, *, blind: bool) -> None:
    """Let the study be rated blind, or openly."""
    with database.writing() as session:
        session.execute(update(Study).values(blind=blind))
        session.commit()


def run_ids(database: Database) -> list[str]:
    """Return the ids of the runs, the first imported first."""
    with database.reading() as session:
        return list(session.scalars(select(Run.id).order_by(Run.imported_at, Run.id)))


def card_keys(
    database: Database, rater_id: int, questions: Iterable[int]
) -> list[tuple[str, list[str]]]:
    """Return the rater's tasks on some questions, each with the names of its cards in order."""
    expected = Task.rater_id == rater_id, Question.position.in_(list(questions))
    with database.reading() as session:
        result = select(Task).join(Question).where(*expected).order_by(Question.position)
        return [
            (task.id, [tasks.key(task, card.id) for card in tasks.cards(session, task)])
            for task in session.scalars(result)
        ]


def _answer(question: int, places: range) -> str:
    """Return a chatbot's answer that lists some properties of a question's pool."""
    cards = (
        f"{rank}. **[Rumah Cemara Asri {question}-{place}]"
        f"(https://example.org/listing/rumah-cemara-asri-{question}-{place})**\n"
        "   - 📍 Cemara, Medan\n   - 💰 Rp 1.670.000.000\n"
        "   - 🏠 4 Kamar Tidur, 3 Kamar Mandi, LT 105.0m², LB 150m²\n"
        for rank, place in enumerate(places, start=1)
    )
    return "Berikut rumah yang sesuai:\n\n" + "\n".join(cards)
