"""The facts that unfold under a card: all from the files, the record apart, alike for all runs."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.study import Question, Study
from relevansi.kinds.property import Card, Particulars
from relevansi.services.rating import particulars
from tests.conftest import NOW
from tests.services.rating.blind_raters import current_page, set_study
from tests.services.rating.particulars import LISTED, exported, of_run, stored


def test_what_only_the_record_knows_stands_apart(session: Session, study: Study) -> None:
    run_id = stored(session, study)
    set_study(session, study, show_record=True)

    result = of_run(session, study, run_id)

    # "cctv" was listed, three bedrooms are on the card, the address holds city and place.
    assert result.listed == Particulars(features=("cctv",))
    assert result.recorded == Particulars(
        "Ada carport.", ("Carport",), (("address", "Cemara, Medan"),), 3.6, 98.71
    )
    assert result.record == Card(title="", floors=2)


def test_the_json_of_a_run_holds_all_of_it_the_record_apart(session: Session, study: Study) -> None:
    run_id = stored(session, study)
    (question,) = session.scalars(select(Question)).all()
    particulars.set_notes(session, study, {question.id: "Cemara Asri counts."}, NOW)
    assert not study.show_record

    assert exported(session, study, run_id)


def test_an_unverified_record_is_never_shown(session: Session, study: Study) -> None:
    run_id = stored(session, study, listed={**LISTED, "verified": False})
    set_study(session, study, show_record=True)

    assert not of_run(session, study, run_id).is_recorded


def test_a_later_v2_file_brings_what_the_v1_lacks(session: Session, study: Study) -> None:
    set_study(session, study, show_record=True)
    listed = {"id": 1, "title": "Rumah A", "url": "https://x.example/properti/a"}
    run_id = stored(session, study, listed=listed, name="test_results.json")
    assert not of_run(session, study, run_id).is_recorded

    assert stored(session, study) == run_id
    assert of_run(session, study, run_id).recorded.description == "Ada carport."


def test_the_order_of_runs_changes_no_facts(session: Session, study: Study, rater: Rater) -> None:
    fuller = {**LISTED, "description": "Rumah di hook", "facilities": ["cctv", "gym"]}
    stored(session, study, "a", line="Tenang", heading="Pilihan 2")
    stored(session, study, "b", listed=fuller, line="Dekat tol dan tenang sekali")
    session.flush()
    task_id = current_page(session, rater).task_id

    result = particulars.of_task(session, rater, task_id)
    (card,) = result.cards.values()

    assert card.headings == ("Dekat Sun Plaza (300 m)",)  # "Pilihan 2" tells a rank
    assert card.lines == ("Dekat tol dan tenang sekali", "Tenang")
    assert card.listed == Particulars("Rumah di hook", ("cctv", "gym"))
    assert not {"a", "b", "hybrid"} & {*card.headings, *card.lines, card.place}


def test_raters_read_the_owner_s_logged_note(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study)
    (question,) = session.scalars(select(Question)).all()
    session.flush()
    task_id = current_page(session, rater).task_id

    def read() -> set[str]:
        return {
            particulars.of_answer(session, study, run_id, 1).note,
            particulars.of_task(session, rater, task_id).note,
        }

    assert read() == {""}

    particulars.set_notes(session, study, {question.id: " Mine "}, NOW)
    assert read() == {"Mine"}

    particulars.set_notes(session, study, {question.id: ""}, NOW)
    assert read() == {""}
    assert question.note is None
    changes = select(LogEntry.old, LogEntry.new).where(LogEntry.action == "set note")
    assert [tuple(row) for row in session.execute(changes.order_by(LogEntry.id))] == [
        ("", "Mine"),
        ("Mine", ""),
    ]
