"""A study says what pooling saves, who judged what, and how long the rest takes."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import card, click, query, run
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import Relevance
from webapp.services.rating import blind_page, tasks
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies
from webapp.services.study.standing import pace, question_standings, rater_standings, saving


def stored(session: Session, study: Study) -> None:
    lists = {
        "hybrid": (query(1, card("a"), card("b"), card("a")), query(2)),
        "api_only": (query(1, card("b"), card("c")), query(2)),
    }
    for method, queries in lists.items():
        imports.store(session, study, run(*queries, method=method), Labels(), NOW)


def test_the_saving_counts_cards_against_distinct_things(session: Session, study: Study) -> None:
    stored(session, study)

    found = saving(session, study)
    # Five cards shown; a, b and c to judge.
    assert (found.shown, found.distinct, found.beyond, found.saved) == (5, 3, 0, 2)


def test_what_lies_deeper_than_the_pool_is_counted(session: Session, study: Study) -> None:
    stored(session, study)
    studies.set_switches(session, study, replace(studies.switches(study), pool_depth=1), NOW)
    session.flush()

    found = saving(session, study)
    assert (found.shown, found.distinct, found.beyond) == (5, 2, 1)


def test_each_rater_and_question_says_how_far_it_is(
    session: Session, study: Study, rater: Rater
) -> None:
    stored(session, study)
    other = studies.add_rater(session, study, "Budi", NOW)
    task = tasks.next_task(session, other, NOW)
    assert task is not None
    for number, shown in enumerate(blind_page.blind_page(session, other, task.id).cards[:2]):
        said = click(f"e{number}", minute=number)
        tasks.judge(session, other, task.id, shown.key, Relevance.RELEVANT, said)

    mine, theirs = rater_standings(session, study)
    assert (mine.name, mine.judged, mine.pace) == (rater.name, 0, None)
    # One card and one empty list are left, and the quality of two answers to each question.
    assert (theirs.progress.open_judgments, theirs.progress.unrated) == (2, 4)
    assert (theirs.judged, theirs.pace, theirs.seconds_left) == (2, 60, 360)
    assert theirs.last_at == NOW + timedelta(minutes=1)
    first, second = question_standings(session, study)
    assert (first.things, first.given_to, first.judged) == (3, ["Budi"], {"Budi": 2})
    assert (second.things, second.given_to, second.judged) == (1, [], {})


def test_a_break_is_no_part_of_the_pace() -> None:
    moments = [NOW, NOW + timedelta(seconds=3), NOW + timedelta(hours=1)]

    assert pace(moments) == 3
