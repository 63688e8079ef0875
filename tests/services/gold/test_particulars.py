from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.gold_files import GOLD, gold_bytes, take_gold
from tests.services.rating.blind_raters import set_study
from tests.services.rating.particulars import LISTED, exported, known, stored
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Question, Study
from webapp.records import Particulars
from webapp.services.gold import gold
from webapp.services.offline import runs
from webapp.services.rating import particulars, tasks


def test_the_distance_from_the_asked_place(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study)
    take_gold(session, rater, notes="Cemara Asri counts.")
    particulars.show_offered_notes(session, study, NOW)
    set_study(session, study, show_record=True)

    found = known(session, study, run_id)
    told = exported(session, study, run_id)

    # 0.01 degrees of longitude at 3.6 degrees north: 6371 km x cos 3.6 x 0.01 x pi / 180.
    assert found.recorded_km == pytest.approx(1.1097, abs=0.0005)
    assert (found.place, found.listed_km) == ("cemara", None)
    assert told["asked_place"] == "cemara"
    assert told["record"]["distance_km"] == found.recorded_km


def test_a_known_place_stands_in_for_a_point(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study, listed={**LISTED, "latitude": 3.6, "longitude": 98.7})
    places = {"cemara": {"name": "Cemara Asri", "keywords": ["cemara"], "lat": 3.6, "lng": 98.7}}
    set_id = session.scalars(select(Question.question_set_id)).first()
    assert set_id is not None
    question = {**GOLD["questions"][0], "constraints": {}}
    data = gold_bytes(questions=[question], locations=places)
    gold.import_file(session, rater, set_id, "gold.json", data, NOW)

    found = known(session, study, run_id)

    assert (found.place, found.listed_km) == ("Cemara Asri", 0)


def test_the_order_of_runs_changes_nothing(session: Session, study: Study, rater: Rater) -> None:
    fuller = {**LISTED, "description": "Rumah di hook", "facilities": ["cctv", "gym"]}
    stored(session, study, "a", line="Tenang", heading="Pilihan 2")
    stored(session, study, "b", listed=fuller, line="Dekat tol dan tenang sekali")
    take_gold(session, rater)
    session.flush()
    task = tasks.next_task(session, rater, NOW)
    assert task is not None

    found = particulars.of_task(session, rater, task.id)
    (card,) = found.cards.values()

    assert card.headings == ("Dekat Sun Plaza (300 m)",)  # "Pilihan 2" tells a rank
    assert card.lines == ("Dekat tol dan tenang sekali", "Tenang")
    assert card.listed == Particulars("Rumah di hook", ("cctv", "gym"))
    assert not {"a", "b", "hybrid"} & {*card.headings, *card.lines, card.place}


def test_a_note_is_read_once_it_is_shown(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study)
    (question,) = session.scalars(select(Question)).all()
    take_gold(session, rater, notes="no_data because it is full")
    session.flush()
    task = tasks.next_task(session, rater, NOW)
    assert task is not None

    def read() -> set[str]:
        return {
            particulars.of_answer(session, study, run_id, 1).note,
            particulars.of_task(session, rater, task.id).note,
            *(one.note for one in runs.offline_run(session, study, run_id).questions),
        }

    assert read() == {""}

    particulars.show_offered_notes(session, study, NOW)
    assert read() == {"no_data because it is full"}

    particulars.put_notes(session, study, {question.id: " Mine "}, NOW)
    particulars.show_offered_notes(session, study, NOW)
    assert read() == {"Mine"}

    particulars.put_notes(session, study, {question.id: ""}, NOW)
    assert read() == {""}
    assert question.note is None
    said = select(LogEntry.old, LogEntry.new).where(LogEntry.action == "set note")
    assert [tuple(row) for row in session.execute(said.order_by(LogEntry.id))] == [
        ("", "no_data because it is full"),
        ("no_data because it is full", "Mine"),
        ("Mine", ""),
    ]
