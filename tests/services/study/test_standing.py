"""A study says what pooling saves, who judged what, and how long the rest takes."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study
from tests.services.rating.blind_raters import stored as store
from tests.services.runs.runs import card, click, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import Relevance
from webapp.services.rating import pages, tasks
from webapp.services.study import studies
from webapp.services.study.standing import pace, question_standings, rater_standings, saving


def stored(session: Session, study: Study) -> None:
    store(session, study, "hybrid", query(1, card("a"), card("b"), card("a")), query(2))
    store(session, study, "api_only", query(1, card("b"), card("c")), query(2))


def test_the_saving_counts_cards_against_distinct_things(session: Session, study: Study) -> None:
    stored(session, study)

    found = saving(session, study)
    # Five cards shown; a, b and c to judge.
    assert (found.shown, found.distinct, found.beyond, found.saved) == (5, 3, 0, 2)
    set_study(session, study, pool_depth=1)
    session.flush()
    found = saving(session, study)
    assert (found.shown, found.distinct, found.beyond) == (5, 2, 1)


def test_raters_and_questions_say_how_far(session: Session, study: Study, rater: Rater) -> None:
    stored(session, study)
    other = studies.add_rater(session, study, "Budi", NOW)
    task = tasks.next_task(session, other, NOW)
    assert task is not None
    for number, shown in enumerate(pages.blind_page(session, other, task.id).cards[:2]):
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
