"""What participants gave, by person and over all, and that nothing is left of who withdraws."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.chatbot.answers import Answer
from relevansi.db.engine import Database
from relevansi.db.tables.base import Base
from relevansi.db.tables.people import LogEntry
from relevansi.db.tables.phase_3 import Participant, UserStudy
from relevansi.db.tables.study import Study
from relevansi.exporters.phase_3 import sheets, summary, words
from relevansi.i18n import speaking
from relevansi.metrics.intervals import estimate_interval
from relevansi.metrics.judging.queries import Undefined
from relevansi.metrics.phase_3.user_study import ParticipantStage
from relevansi.records import COMMENTS, EmptyOutcome, Relevance
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.judging.answer_ratings import KEEP, AnswerRating
from relevansi.services.phase_3 import findings, own_questions, participants, questionnaires
from relevansi.services.phase_3.asking import FailedCall
from relevansi.services.study import studies
from tests.conftest import NOW, copied
from tests.services.phase_3.participants import (
    WORK,
    ask_question,
    claimed,
    only,
    place,
    taking_part,
)
from tests.services.runs.runs import click
from tests.stored_studies import open_study

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
MINUTE = timedelta(minutes=1)
NOTHING = "Maaf, tidak ada properti yang cocok."


def rated(
    session: Session,
    participant: Participant,
    *verdicts_given: Relevance,
    quality: int = 4,
    notes: str = "",
    text: str = "Rumah di Cemara?",
) -> int:
    """Ask and rate one question with two cards in its answer; return its position."""
    position = ask_question(session, participant, text)
    name = f"{participant.id}-{position}"
    for rank, verdict in enumerate(verdicts_given, start=1):
        judgments.judge(
            session, *place(participant), position, rank, verdict, click(f"{name}-{rank}")
        )
    rating = AnswerRating(quality=quality, notes=notes, empty_outcome=KEEP)
    judgments.rate(session, *place(participant), position, rating, click(name))
    own_questions.close(session, participant, position, NOW)
    return position


def closing(session: Session, participant: Participant, answers: str, helped: str = "") -> None:
    """Answer the ten items, one digit each, and what helped."""
    assert participant.rater is not None
    for number, answer in enumerate(answers, start=1):
        answer_click = click(f"{participant.id}-sus-{number}")
        questionnaires.answer(session, participant.rater, f"sus {number}", answer, answer_click)
    if helped:
        comment_click = click(f"{participant.id}-helped")
        questionnaires.answer(session, participant.rater, COMMENTS[0], helped, comment_click)


@pytest.fixture(name="melati")
def _melati(session: Session, study: Study) -> Participant:
    """Melati asked twice (P@5 1 and 0.5), found it all good, wrote two comments, is done."""
    melati = taking_part(session, study)
    rated(session, melati, YES, YES, notes="Harganya cocok")
    rated(session, melati, NO, YES, quality=3, text="Yang lain?")
    closing(session, melati, "5151515151", helped="Cepat")
    participants.finish(melati, NOW + MINUTE)
    return melati


@pytest.fixture(name="kenari")
def _kenari(session: Session, study: Study, melati: Participant) -> Participant:
    """Kenari asked once and found nothing relevant; the questionnaire is half done."""
    assert melati.number == 1
    kenari = taking_part(session, study, "Kenari")
    rated(session, kenari, NO, NO, quality=1)
    closing(session, kenari, "33333")
    return kenari


@pytest.mark.usefixtures("melati", "kenari")
def test_the_report_has_the_stage_of_everybody(session: Session, study: Study) -> None:
    participants.invite(session, study, "Jalak", NOW)
    taking_part(session, study, "Merak")
    report = findings.report(session, study, NOW)

    melati, kenari, jalak, merak = report.people
    assert [person.pseudonym for person in report.people] == ["Melati", "Kenari", "Jalak", "Merak"]
    assert [person.stage for person in report.people] == [
        ParticipantStage.FINISHED,
        ParticipantStage.ASKING,
        ParticipantStage.INVITED,
        ParticipantStage.AGREED,
    ]
    assert [len(person.answers) for person in report.people] == [2, 1, 0, 0]
    assert [sum(a.is_rated for a in person.answers) for person in report.people] == [2, 1, 0, 0]
    # 5 to each praise and 1 to each complaint: 2.5 x (5 x 4 + 5 x 4) = 100.
    assert melati.usability_score == 100.0
    assert kenari.usability_score is None
    assert (melati.consent, jalak.consent) == (1, None)
    assert merak.figures["mrr"].why_undefined is Undefined.NO_QUERY
    assert len(report.taking_part) == 3
    assert report.n_questions == 3


def test_participants_count_cannot_tell_as_the_study_does(session: Session, study: Study) -> None:
    melati = taking_part(session, study)
    rated(session, melati, YES, Relevance.UNSURE)
    assert findings.report(session, study, NOW).figures["mean_overall_precision"].value == 0.5

    switches = replace(studies.switches(study), cannot_tell="left_out")
    studies.set_switches(session, study, switches, NOW)
    rated(session, taking_part(session, study, "Kenari"), YES, Relevance.UNSURE)

    report = findings.report(session, study, NOW)
    assert report.figures["mean_overall_precision"].value == 1.0
    assert report.cannot_tell == "left_out"
    assert stored_summaries.check(session) == []


@pytest.mark.usefixtures("melati", "kenari")
def test_figures_are_over_questions_intervals_over_people(session: Session, study: Study) -> None:
    report = findings.report(session, study, NOW)

    # P@5: Melati 1 and 0.5, Kenari 0: 1.5 / 3. From it 1.5 - 2 x 0.5 and 0 - 0.5, times 2 / 3:
    # the variance over the two is 2 (0.5^2 + 0.5^2) / 3^2.
    precision = report.figures["mean_precision_at_5"]
    assert (precision.value, precision.clusters, precision.n) == (0.5, 2, 3)
    assert precision.interval == estimate_interval(0.5, 2 * (0.5**2 + 0.5**2) / 9, 2)
    # RR: 1 and 1/2, and 0. Success: 1, 1, 0. Quality: 4, 3, 1. Every question had results.
    assert report.figures["mrr"].value == 0.5
    assert report.figures["success_rate"].value == pytest.approx(2 / 3)
    assert report.figures["mean_response_quality"].value == pytest.approx(8 / 3)
    assert report.figures["coverage"].value == 1.0
    assert (report.usability.n, report.usability.mean) == (1, 100.0)
    melati, kenari = report.people
    assert [(rank, card.title, verdict) for rank, card, verdict in melati.answers[1].cards] == [
        (1, "Rumah Cemara", NO),
        (2, "Rumah Johor", YES),
    ]
    assert melati.figures["mean_precision_at_5"].value == 0.75
    assert kenari.figures["success_rate"].value == 0.0


def test_empty_and_failed_answers_are_counted_as_everywhere(session: Session, study: Study) -> None:
    participant = taking_part(session, study)
    position = ask_question(session, participant, "Istana?", NOTHING)
    empty = AnswerRating(quality=KEEP, notes=KEEP, empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    judgments.rate(session, *place(participant), position, empty, click("empty"))
    own_questions.close(session, participant, position, NOW)
    failing = own_questions.ask(session, participant, "Gagal?", NOW)
    WORK.store(session, claimed(session), FailedCall("timeout", "too late"), NOW)
    own_questions.give_up(session, participant, failing, NOW)
    waiting = own_questions.ask(session, participant, "Menunggu?", NOW)

    report = findings.report(session, study, NOW)

    (person,) = report.people
    assert [answer.state for answer in person.answers] == ["answered", "given up", "waiting"]
    assert [answer.number for answer in person.answers] == [position, failing, waiting]
    # A correct empty succeeds and a failed call does not; what waits is in no figure.
    assert (report.figures["success_rate"].value, report.figures["success_rate"].n) == (0.5, 2)
    assert (report.figures["coverage"].value, report.figures["coverage"].n) == (0.0, 2)
    assert report.figures["mean_precision_at_5"].value is None


def test_failed_and_unreadable_answers_ask_for_no_rating(session: Session, study: Study) -> None:
    participant = taking_part(session, study)
    rated(session, participant, YES, YES)
    own_questions.ask(session, participant, "Ruko?", NOW)
    call = claimed(session)
    lost = Answer("Ini hasilnya.", metadata={"returned": 3})
    WORK.store(session, call, lost, NOW)
    own_questions.close(session, participant, 2, NOW)
    own_questions.ask(session, participant, "Gagal?", NOW)
    WORK.store(session, claimed(session), FailedCall("timeout", "too late"), NOW)
    own_questions.give_up(session, participant, 3, NOW)

    report = findings.report(session, study, NOW)
    (person,) = report.people

    assert [(a.asks_for_a_rating, a.is_rated) for a in person.answers] == [
        (True, True),
        (False, False),
        (False, False),
    ]
    assert person.n_rated == 1
    assert (report.totals.n_failed, report.totals.n_unreadable) == (1, 1)
    with speaking("en"):
        counts = words.counts(report)
    assert counts == "1 participant · 3 questions · 1 failed call · 1 unreadable answer"
    answers = sheets.sheet(report, "answers")
    assert [row[answers.columns.index("rated")] for row in answers.rows] == [1, None, None]
    # Quality over the one rated answer; success over it and the failed call.
    assert report.figures["mean_response_quality"].n == 1
    assert (report.figures["success_rate"].value, report.figures["success_rate"].n) == (0.5, 2)
    (line, *_) = summary.stages(report).rows
    assert [cell.text for cell in line[3:7]] == ["3", "1", "1", "1"]


@pytest.mark.usefixtures("kenari")
def test_tags_are_counted_and_logged(session: Session, study: Study, melati: Participant) -> None:
    findings.set_category(session, melati, 1, "  area  Cemara ", NOW)
    findings.add(session, melati, "note 1", "price", NOW)
    findings.add(session, melati, "note 1", "Price", NOW)  # the same theme in other letters
    findings.add(session, melati, "helped", "price", NOW)
    findings.add(session, melati, "helped", "speed", NOW)
    findings.remove(session, melati, "helped", "speed", NOW)

    report = findings.report(session, study, NOW)

    assert [(line.category, line.n_questions, line.n_people) for line in report.categories] == [
        ("area Cemara", 1, 1),
        ("", 2, 2),
    ]
    assert report.categories[0].figures["mean_precision_at_5"].value == 1.0
    (line,) = report.themes
    assert (line.theme, line.n_people) == ("price", 1)
    assert [comment.text for _, comment in line.comments] == ["Harganya cocok", "Cepat"]
    tags = {"phase 3 category", "phase 3 theme"}
    assert [
        (row.action, row.subject, row.old, row.new)
        for row in only(session, LogEntry)
        if row.action in tags
    ] == [
        ("phase 3 category", "participant 1, question 1", "", "area Cemara"),
        ("phase 3 theme", "participant 1, note 1", None, "price"),
        ("phase 3 theme", "participant 1, helped", None, "price"),
        ("phase 3 theme", "participant 1, helped", None, "speed"),
        ("phase 3 theme", "participant 1, helped", "speed", None),
    ]


DAY = timedelta(days=1)
SECRET = "Rumah untuk ibu saya yang sakit"


def rows(session: Session) -> dict[str, int]:
    """Return how many rows every table holds, but the log."""
    session.flush()
    return {
        name: session.scalar(select(func.count()).select_from(table)) or 0
        for name, table in Base.metadata.tables.items()
        if name != "log_entries"
    }


@pytest.fixture(name="newcomer")
def _newcomer(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


def test_a_withdrawal_deletes_every_row_and_leaves_a_count(
    session: Session, study: Study, newcomer: Participant
) -> None:
    rated(session, newcomer, YES, NO, notes="Bagus")
    before = rows(session)
    kenari = taking_part(session, study, "Kenari")
    rated(session, kenari, YES, YES, notes="Kurang")
    ask_question(session, kenari, SECRET)
    closing(session, kenari, "33333", helped="Cepat")
    findings.add(session, kenari, "helped", "speed", NOW)
    findings.set_category(session, kenari, 1, "area", NOW)
    cost = participants.withdrawal_cost(session, kenari)

    participants.withdraw(session, kenari, NOW)

    # Two cards judged, quality and notes of one answer, five items and a text; an event each.
    assert list(cost.values()) == [2, 2, 1, 6, 10]
    after = rows(session)
    # The link that was everybody's is the study's own and stays.
    assert after.pop("participant_links") == before.pop("participant_links") + 1
    # That somebody came by it within the hour is counted by address alone, and names nobody.
    assert after.pop("attempts") == before.pop("attempts") + 1
    assert after == before
    assert session.get_one(UserStudy, study.id).withdrawn == 1
    report = findings.report(session, study, NOW)
    assert [person.pseudonym for person in report.people] == ["Melati"]
    assert (report.withdrawn, report.n_questions) == (1, 1)
    log = str([(entry.subject, entry.old, entry.new) for entry in only(session, LogEntry)])
    assert not [word for word in ("Kenari", "speed", "area", SECRET) if word in log]
    assert taking_part(session, study, "Kenari").number == 3  # no number is given again


def test_exports_that_hold_a_withdrawn_participant_are_listed(
    session: Session, study: Study, newcomer: Participant
) -> None:
    participants.invite(session, study, "Jalak", NOW)
    jalak = participants.everybody(session, study)[1]
    assert participants.exports_since_consent(session, jalak) == ()
    assert participants.withdrawal_cost(session, jalak)["events"] == 0
    participants.withdraw(session, jalak, NOW - 2 * DAY)
    participants.log_export(session, study, "before.csv", NOW - DAY)
    participants.log_export(session, study, "cards.csv", NOW + DAY)

    (copy,) = participants.exports_since_consent(session, newcomer)
    assert (copy.subject, copy.at) == ("cards.csv", NOW + DAY)
    assert participants.exports_before_withdrawal(session, study) == []
    participants.withdraw(session, newcomer, NOW + 2 * DAY)
    participants.log_export(session, study, "after.csv", NOW + 3 * DAY)

    assert [
        exported.subject for exported in participants.exports_before_withdrawal(session, study)
    ] == ["before.csv", "cards.csv"]


def test_no_trace_is_left_in_the_sqlite_file(sqlite_template: Path, sqlite: Database) -> None:
    copied(sqlite_template, sqlite)
    with open_study(sqlite) as (session, study):
        participant = taking_part(session, study)
        ask_question(session, participant, SECRET)
    with open_study(sqlite) as (session, study):
        (participant,) = participants.everybody(session, study)
        path = Path(sqlite.description)
        assert SECRET.encode() in _bytes(path)
        participants.withdraw(session, participant, NOW)

    sqlite.empty_journal()

    assert SECRET.encode() not in _bytes(path)
    sqlite.close()


def _bytes(path: Path) -> bytes:
    """Return the bytes of a database's file and of those beside it."""
    return b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
