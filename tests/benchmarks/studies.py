"""Studies of any size, made up: their rows are written as an import and clicks would leave them.

Cards, questions and verdicts say nothing real, and are the same every time. Three runs show
some properties in common, as real ones do, so that their pool is smaller than their lists.
What the product derives (summaries) it derives here as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice, product
from pathlib import Path
from typing import Any

from sqlalchemy import Select, String, case, cast, func, insert, literal, select, update
from sqlalchemy.orm import Session

from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.db.tables.base import Base, Moment
from webapp.db.tables.judging import Event, JudgedThing, Judgment, Property, QueryRating, Task
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run, RunFile
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.importers.runs.json_runs import question_key
from webapp.importers.runs.property_particulars import identity
from webapp.records import Card, QueryState
from webapp.services.judging import live_metrics
from webapp.services.people import raters
from webapp.services.rating import tasks
from webapp.services.study import studies
from webapp.web.frame.access import now

METHODS = ("api_only", "hybrid", "vector_only", "keyword", "reranked")
CATEGORIES = 12
STEP = 4
"""So many places down the list of one run begins the next one's."""
OWNER = 1
"""The id of the first rater."""
PORTION = 5_000
GRADE = 4


@dataclass(frozen=True, slots=True)
class Size:
    """How large a study is."""

    questions: int
    runs: int = 1
    results: int = 10

    @property
    def pooled(self) -> int:
        """The distinct properties that are shown for one question."""
        return self.results + STEP * (self.runs - 1)

    @property
    def run_ids(self) -> list[str]:
        """The ids of its runs."""
        return [f"run{number}" for number in range(self.runs)]

    def __str__(self) -> str:
        runs = f"{self.runs} runs x " if self.runs > 1 else ""
        return f"{runs}{self.questions:,} questions x {self.results} cards"


def made_up(folder: Path, size: Size, *, blind: bool = False) -> Database:
    """Return a database in `folder`, with a study of that size and its owner, unrated."""
    database = Database(sqlite_url(folder / "relevansi.sqlite"))
    database.prepare()
    with database.writing() as session:
        study = studies.open_or_make(session, now())
        study.blind, study.order_secret = blind, f"{7:064x}"
        session.flush()
        _ask(session, study, size)
        _show(session, size)
        for place, run_id in enumerate(size.run_ids):
            _run(session, study, size, place)
            live_metrics.refresh(session, [OWNER], Query.run_id == run_id)
        session.commit()
    return database


def add_rater(database: Database, name: str, *, judged: int = 0, given: int = 0) -> int:
    """Return the id of a new rater, to whom the first questions were `given` as tasks.

    The first so many of the study's things to judge are `judged`, with an event for each, and
    every answer of which all is judged has its grade.
    """
    with database.writing() as session:
        rater = raters.add(session, session.get_one(Study, 1), name, now())
        _judge(session, rater, judged, given)
        session.commit()
        return rater.id


def let_owner_judge(database: Database, *, judged: int = 0, given: int = 0) -> None:
    """Let the owner have judged so many things, and have so many questions as tasks."""
    with database.writing() as session:
        _judge(session, session.get_one(Rater, OWNER), judged, given)
        session.commit()


def invite(database: Database, rater_id: int) -> str:
    """Return the token of an invitation for a rater."""
    with database.writing() as session:
        token = raters.make(session, session.get_one(Rater, rater_id), now()).token
        session.commit()
        return token


def make_blind(database: Database, *, blind: bool) -> None:
    """Let the study be rated blind, or openly."""
    with database.writing() as session:
        session.execute(update(Study).values(blind=blind))
        session.commit()


def card_keys(
    database: Database, rater_id: int, questions: Iterable[int]
) -> list[tuple[str, list[str]]]:
    """Return the rater's tasks on some questions, each with the names of its cards in order."""
    wanted = Task.rater_id == rater_id, Task.question_id.in_(list(questions))
    with database.reading() as session:
        found = session.scalars(select(Task).where(*wanted).order_by(Task.question_id))
        return [(task.id, _keys(session, task)) for task in found]


def keys_of(database: Database, task_id: str) -> list[str]:
    """Return the names of the cards of a task, in the order its rater sees them."""
    with database.reading() as session:
        return _keys(session, session.get_one(Task, task_id))


def _keys(session: Session, task: Task) -> list[str]:
    return [tasks.key(task, thing.id) for thing in tasks.things(session, task)]


def card(question: int, place: int) -> dict[str, Any]:
    """Return the card at a place of a question's pool as it is stored: what chatbots state."""
    name = f"rumah-cemara-asri-{question}-{place}"
    return {
        "title": f"Rumah Cemara Asri {question}-{place}",
        "url": f"https://example.org/listing/{name}",
        "slug": name,
        "price": 1_670_000_000,
        "price_note": "sale",
        "location": "Cemara, Medan",
        "bedrooms": 4,
        "bathrooms": 3,
        "land_area": 105.0,
        "building_area": 150.0,
        "certificate": "SHM",
        "source": "listing",
    }


def answer(question: int, places: range) -> str:
    """Return a chatbot's answer that lists some properties of a question's pool."""
    cards = (
        f"{rank}. **[Rumah Cemara Asri {question}-{place}]"
        f"(https://example.org/listing/rumah-cemara-asri-{question}-{place})**\n"
        "   - 📍 Cemara, Medan\n   - 💰 Rp 1.670.000.000\n"
        "   - 🏠 4 Kamar Tidur, 3 Kamar Mandi, LT 105.0m², LB 150m²\n"
        for rank, place in enumerate(places, start=1)
    )
    return "Berikut rumah yang sesuai:\n\n" + "\n".join(cards)


def question_text(number: int) -> str:
    """Return the question at a position, from 1."""
    return f"Carikan rumah nomor {number} di Medan dengan 3 kamar tidur di bawah 2 miliar"


def category(number: int) -> str:
    """Return the category of the question at a position."""
    return f"category_{number % CATEGORIES:02}"


def _ask(session: Session, study: Study, size: Size) -> None:
    """Write the questions; each has its position for its id."""
    session.add(QuestionSet(id=1, study_id=study.id, created_at=now()))
    session.flush()
    _insert(
        session,
        Question,
        (
            {
                "id": number,
                "question_set_id": 1,
                "position": number,
                "text": question_text(number),
                "key": question_key(question_text(number)),
                "category": category(number),
                "context_dependent": False,
            }
            for number in range(1, size.questions + 1)
        ),
    )


def _show(session: Session, size: Size) -> None:
    """Write each question's pool of properties, whose places follow each other in the ids."""
    for question in range(1, size.questions + 1, PORTION):
        last = min(question + PORTION, size.questions + 1)
        pools = list(product(range(question, last), range(size.pooled)))
        first = (question - 1) * size.pooled + 1
        shown = [(number, at[0], card(*at)) for number, at in enumerate(pools, start=first)]
        _insert(
            session,
            Property,
            ({"id": number, "identity": identity(Card(**one))} for number, _, one in shown),
        )
        _insert(
            session,
            JudgedThing,
            (
                {
                    "id": number,
                    "question_id": asked,
                    "property_id": number,
                    "content": 1,
                    "card": one,
                }
                for number, asked, one in shown
            ),
        )


def _run(session: Session, study: Study, size: Size, place: int) -> None:
    """Write a run whose lists are the pools from the place where its own begins."""
    run_id, first = size.run_ids[place], place * STEP
    listed = range(first, first + size.results)
    session.add(
        Run(
            id=run_id,
            study_id=study.id,
            question_set_id=1,
            search_method=METHODS[place],
            stated_search_method=METHODS[place],
            session_key=run_id,
            extra={},
            imported_at=now(),
        )
    )
    session.flush()
    session.add(
        RunFile(
            run_id=run_id,
            sha256=run_id,
            name=f"{METHODS[place]}.json",
            file_format="v1",
            problems=[],
            imported_at=now(),
        )
    )
    before = place * size.questions
    _insert(
        session,
        Query,
        (
            {
                "id": before + number,
                "run_id": run_id,
                "question_id": number,
                "query_id": number,
                "response": answer(number, listed),
                "state": str(QueryState.RESULTS),
                "claimed_count": size.results,
                "extra": {},
            }
            for number in range(1, size.questions + 1)
        ),
    )
    at = (JudgedThing.id - 1) % size.pooled
    shown = select(
        JudgedThing.question_id + before, at - first + 1, JudgedThing.id, JudgedThing.card
    ).where(at >= first, at < first + size.results)
    _fill(session, Result, ("query_key", "rank", "judged_thing_id", "card"), shown)


def _judge(session: Session, rater: Rater, judged: int, given: int) -> None:
    """Write what a rater was given and said: two of three things are relevant."""
    own, at = literal(rater.id), literal(now() - timedelta(days=1), Moment)
    name = cast(own, String) + "-" + cast(Question.id, String)
    given_ones = select(name, own, Question.id, literal("pool"), at).where(Question.id <= given)
    _fill(session, Task, ("id", "rater_id", "question_id", "kind", "claimed_at"), given_ones)
    verdict = case((JudgedThing.id % 3 == 0, "0"), else_="1")
    things = select(own, JudgedThing.id, verdict, at).where(JudgedThing.id <= judged)
    _fill(session, Judgment, ("rater_id", "judged_thing_id", "verdict", "changed_at"), things)
    _click(session, rater)
    wholly = _wholly_judged(session, judged)
    graded = select(own, Query.id, literal(GRADE), literal(""), at)
    graded = graded.where(Query.question_id <= wholly)
    _fill(session, QueryRating, ("rater_id", "query_key", "quality", "notes", "changed_at"), graded)
    if judged:
        live_metrics.refresh(session, [rater.id], Query.question_id <= wholly + 1)


def _click(session: Session, rater: Rater) -> None:
    """Write the event behind each of a rater's verdicts, in the order of the things."""
    thing = Judgment.judged_thing_id
    clicks = (
        select(
            Judgment.rater_id,
            literal("made-up-") + cast(thing, String),
            literal("verdict"),
            thing,
            func.min(Result.query_key),
            Judgment.verdict,
            literal("click"),
            literal("made up"),
            thing,
            Judgment.changed_at,
        )
        .join(Result, Result.judged_thing_id == thing)
        .where(Judgment.rater_id == rater.id)
        .group_by(thing)
    )
    named = ("rater_id", "event_id", "field", "judged_thing_id", "query_key", "new", "cause")
    _fill(session, Event, (*named, "device", "sequence", "received_at"), clicks)


def _wholly_judged(session: Session, judged: int) -> int:
    """Return how many questions have nothing open once the first so many things are judged."""
    pools = select(JudgedThing.question_id).group_by(JudgedThing.question_id)
    whole = pools.having(func.max(JudgedThing.id) <= judged).subquery()
    return session.scalar(select(func.count()).select_from(whole)) or 0


def _insert(session: Session, table: type[Base], rows: Iterable[dict[str, object]]) -> None:
    left = iter(rows)
    while portion := list(islice(left, PORTION)):
        # The ORM's own insert takes twice as long.
        session.connection().execute(insert(table), portion)


def _fill(
    session: Session, table: type[Base], columns: Sequence[str], rows: Select[*tuple[Any, ...]]
) -> None:
    session.execute(insert(table).from_select(columns, rows))
