"""The log tells who changed what from what to what; one's own latest change can be undone."""

from __future__ import annotations

import csv
import io
import json

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.records import Click, EmptyOutcome
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.people import history
from relevansi.services.people.history import ChangeKind, EventFilters, HistoryEntry, NoLongerLatest
from relevansi.services.rating import blind_pages, task_judgments
from relevansi.services.runs import runs
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import current_page
from tests.services.runs.runs import NO, YES, card, click, query, run, store


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    queries = (query(1, card("a"), card("b")), query(2))
    return store(session, study, run(*queries)).id


ALL = EventFilters()


@pytest.fixture(name="budi")
def _budi(session: Session, study: Study, run_id: str) -> Rater:  # noqa: ARG001
    return studies.add_rater(session, study, "Budi", NOW)


def entries(session: Session, reader: Rater, filters: EventFilters = ALL) -> list[HistoryEntry]:
    session.flush()
    return history.history(session, reader, filters).entries


def latest(session: Session, reader: Rater) -> Event:
    session.flush()
    result = history.history(session, reader, ALL).latest
    assert result is not None
    return result.event


def test_an_entry_has_the_old_and_new_value_and_whether_it_is_current(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1", client_minute=-1))
    second_click = click("e2", minute=2, device="phone", sequence=7)
    judgments.judge(session, rater, run_id, 1, 1, NO, second_click)
    last, first = entries(session, rater)

    assert (first.event.old, first.event.new, first.stands) == (None, "1", False)
    assert (last.event.old, last.event.new, last.stands) == ("1", "0", True)
    assert (last.change, last.title) == (ChangeKind.VERDICT, "A")
    assert last.question is not None
    assert last.question.position == 1
    assert (last.event.device, last.event.sequence, last.event.cause) == ("phone", 7, "click")


@pytest.mark.parametrize(
    ("laptop", "phone"),
    [
        # The same device: the number of the click decides.
        (
            click("new", device="phone", sequence=2, client_minute=0),
            click("old", minute=1, device="phone", sequence=1, client_minute=0),
        ),
        # The phone judged at minute 1 and was offline; the laptop judged at minute 2.
        (
            click("new", minute=2, device="laptop", sequence=1, client_minute=2),
            click("old", minute=9, device="phone", sequence=1, client_minute=1),
        ),
    ],
)
def test_an_earlier_click_that_arrives_late_is_overtaken(
    session: Session, rater: Rater, run_id: str, laptop: Click, phone: Click
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, laptop)
    judgments.judge(session, rater, run_id, 1, 1, NO, phone)
    result = {
        entry.event.event_id: (entry.stands, entry.overtaken) for entry in entries(session, rater)
    }
    assert result == {"new": (True, False), "old": (False, True)}

    later = click("later", minute=10, device="phone", sequence=3, client_minute=10)
    judgments.judge(session, rater, run_id, 1, 1, YES, later)
    assert [entry.stands for entry in entries(session, rater)] == [True, False, False]


def test_raters_see_only_themselves(
    session: Session, rater: Rater, budi: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("mine"))
    judgments.judge(session, budi, run_id, 1, 1, NO, click("his"))

    assert [entry.event.event_id for entry in entries(session, rater)] == ["his", "mine"]
    assert [entry.event.event_id for entry in entries(session, budi)] == ["his"]
    assert entries(session, budi, EventFilters(rater=rater.id)) == []
    assert history.history(session, budi, ALL).raters == []
    assert len(history.history(session, rater, ALL).raters) == 2
    assert b"mine" not in history.as_csv(session, budi)
    assert b"mine" not in history.as_json_lines(session, budi)


def test_the_list_can_be_narrowed(session: Session, rater: Rater, budi: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("card"))
    rating = AnswerRating(quality=3, notes="good")
    judgments.rate(session, budi, run_id, 1, rating, click("answer"))
    empty = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    judgments.rate(session, rater, run_id, 2, empty, click("empty"))
    second, name = history.history(session, rater, ALL).questions[1]

    def ids(**filters: object) -> list[str]:
        return [entry.event.event_id for entry in entries(session, rater, replace(ALL, **filters))]

    assert ids(rater=budi.id) == ["answer", "answer"]
    assert ids(question=second) == ["empty"]
    assert ids(change=ChangeKind.VERDICT) == ["card"]
    assert ids(change=ChangeKind.OUTCOME) == ["empty"]
    assert ids(change=ChangeKind.NOTES) == ["answer"]
    assert name == "2. Question 2"


def test_pages_go_back_in_time_without_a_gap(
    session: Session, rater: Rater, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE_SIZE", 2)
    for number in range(5):
        verdict = YES if number % 2 else NO
        judgments.judge(session, rater, run_id, 1, 1, verdict, click(f"e{number}", minute=number))
    session.flush()
    pages, before = [], None
    for _ in range(3):
        page = history.history(session, rater, EventFilters(before=before))
        pages.append([entry.event.event_id for entry in page.entries])
        before = page.older

    assert pages == [["e4", "e3"], ["e2", "e1"], ["e0"]]
    assert (before, page.total) == (None, 5)


def test_the_latest_change_can_be_undone_once(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 1, 2, NO, click("e2", minute=1))
    last = latest(session, rater)
    assert last.event_id == "e2"
    for _ in range(2):  # the same form sent twice
        history.undo(session, rater, last.id, click("u", minute=2))
        session.flush()

    undo, second, first = entries(session, rater)
    assert (undo.event.cause, undo.event.undoes_id) == ("undo", second.event.id)
    assert (undo.event.old, undo.event.new) == ("0", None)
    assert (second.undone, second.stands, undo.stands, first.stands) == (True, False, True, True)
    with pytest.raises(NoLongerLatest):
        history.undo(session, rater, last.id, click("other", minute=3))
    assert [row.verdict for row in session.scalars(select(Judgment))].count("1") == 1


def test_undo_takes_back_what_was_judged_blind(session: Session, budi: Rater) -> None:
    page = current_page(session, budi)
    task_judgments.judge(session, budi, page.task_id, page.cards[0].key, YES, click("e1"))
    history.undo(session, budi, latest(session, budi).id, click("u", minute=1))
    session.flush()

    assert session.scalars(select(Judgment.verdict)).all() == [None]


def answers_in_log(session: Session, reader: Rater) -> list[str]:
    """The names of the rated answers in the log that `reader` downloads."""
    text = history.as_csv(session, reader).decode()
    return [row["answer"] for row in csv.DictReader(io.StringIO(text)) if row["answer"]]


def test_blind_entries_name_no_run(
    session: Session, study: Study, budi: Rater, run_id: str
) -> None:
    study.blind = True
    page = current_page(session, budi)
    for number, blind_card in enumerate(page.cards):
        task_judgments.judge(session, budi, page.task_id, blind_card.key, YES, click(f"c{number}"))
    (answer,) = blind_pages.blind_page(session, budi, page.task_id).answers
    task_judgments.rate(
        session, budi, page.task_id, answer.key, AnswerRating(quality=4), click("q")
    )
    (result,) = entries(session, budi, EventFilters(change=ChangeKind.QUALITY))

    assert (result.letter, result.query, result.event.new) == ("A", None, "4")
    assert run_id.encode() not in history.as_csv(session, budi)
    assert answers_in_log(session, budi) == ["A"]
    owner = session.scalars(select(Rater).where(Rater.is_owner)).one()
    assert answers_in_log(session, owner) == [str(session.scalars(select(Query.id)).first())]
    study.blind = False
    (entry,) = entries(session, budi, EventFilters(change=ChangeKind.QUALITY))
    assert entry.query is not None
    assert entry.query.run_id == run_id


def test_a_hidden_repeat_looks_plain_to_its_rater(
    session: Session, rater: Rater, budi: Rater
) -> None:
    for number, field in enumerate(("repeat", "repeat quality")):
        values = {"rater_id": budi.id, "event_id": f"r{number}", "field": field, "new": "1"}
        session.add(Event(**values, cause="click", device="", sequence=1, received_at=NOW))

    repeats = [ChangeKind.REPEAT_QUALITY, ChangeKind.REPEAT]
    plain = [ChangeKind.QUALITY, ChangeKind.VERDICT]
    assert [entry.change for entry in entries(session, rater)] == repeats
    assert [entry.change for entry in entries(session, budi)] == plain
    (result,) = entries(session, budi, EventFilters(change=ChangeKind.VERDICT))
    assert result.change is ChangeKind.VERDICT
    assert entries(session, rater, EventFilters(change=ChangeKind.VERDICT)) == []
    assert not [entry for entry in history.history(session, budi, ALL).changes if "repeat" in entry]
    assert set(repeats) < set(history.history(session, rater, ALL).changes)


def test_events_outlive_their_run(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=2), click("q"))
    session.flush()
    runs.delete_run(session, study, run_id, NOW)
    (result,) = entries(session, rater)

    assert (result.event.new, result.question, result.stands) == ("2", None, False)
    assert history.history(session, rater, ALL).latest is None


def test_files_hold_every_event_safely(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1", client_minute=-1))
    judgments.rate(session, rater, run_id, 1, AnswerRating(notes="=1+1"), click("e2", minute=1))
    session.flush()
    rows = list(csv.DictReader(io.StringIO(history.as_csv(session, rater).decode())))
    lines = [json.loads(line) for line in history.as_json_lines(session, rater).splitlines()]

    assert tuple(rows[0]) == history.COLUMNS == tuple(lines[0])
    assert [row["new"] for row in rows] == ["1", "'=1+1"]
    assert [line["new"] for line in lines] == ["1", "=1+1"]
    assert (rows[0]["property"], rows[0]["content"], rows[0]["stands"]) == ("slug:a", "1", "1")
    assert lines[0]["received_at"] == "2026-03-01T09:00:00+00:00"
    assert lines[0]["client_time"] == "2026-03-01T08:59:00+00:00"
    assert (lines[0]["stands"], lines[0]["undone"], lines[1]["field"]) == (True, False, "notes")
