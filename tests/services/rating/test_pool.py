"""The pool holds each distinct thing once; a rater's share is what the overlap leaves."""

from __future__ import annotations

from threading import Thread

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import YES, Robot, judged, set_study, stored
from tests.services.runs.runs import card, click, query
from webapp.db.engine import Database
from webapp.db.tables.judging import Judgment, Task
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import QueryState
from webapp.services.judging import live_metrics
from webapp.services.judging.events import AnswerRating
from webapp.services.rating import blind_page, shares, tasks
from webapp.services.runs import runs as runs_of_studies
from webapp.services.study import studies


def test_the_verdicts_asked_are_the_distinct_judged_things(
    session: Session, study: Study, rater: Rater, runs: list[str]
) -> None:
    set_study(session, study, repeat_percent=0)
    Robot(session, rater).rate_all()

    # Question 1: a (two prices), b, c; 2: x and its emptiness; 3: y and its emptiness;
    # 4 depends on its conversation: z once for each of the three runs.
    assert judged(session, rater) == 4 + 2 + 2 + 3
    for run_id in runs:
        found = live_metrics.by_category(session, rater.id, run_id)
        assert all(standing.open_queries == 0 for standing in found.values())
    assert live_metrics.check(session) == []
    assert tasks.next_task(session, rater, NOW) is None


def test_the_pool_s_depth_leaves_deeper_cards_unjudged_and_counted(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a"), card("b"), card("c")))
    set_study(session, study, pool_depth=2, repeat_percent=0)
    Robot(session, rater).rate_all()

    standing = live_metrics.by_category(session, rater.id, run_id)["location"]
    assert (standing.totals.n_judged, standing.open_judgments) == (2, 1)


def test_what_a_study_asks_for_follows_its_runs_and_its_depth(
    session: Session, study: Study, rater: Rater
) -> None:
    """Counts are kept between clicks: an import, cards by hand, a depth, a deletion change them."""
    broken = query(2, state=QueryState.UNREADABLE)
    first = stored(session, study, "hybrid", query(1, card("a"), card("b")), broken)
    set_study(session, study, repeat_percent=0)

    def asked() -> int:
        return shares.progress(session, rater).open_judgments

    assert [asked(), asked()] == [2, 2]
    second = stored(session, study, "api_only", query(1, card("b"), card("c")), query(2))
    assert asked() == 3 + 1  # a, b, c; the empty list of question 2
    runs_of_studies.add_cards(session, study, first, 2, "1. **Rumah X**\n   - 📍 Medan", NOW)
    assert asked() == 4 + 1
    set_study(session, study, pool_depth=1)
    assert asked() == 3 + 1  # a and b at rank 1, x; the empty list
    runs_of_studies.delete_run(session, study, second, NOW)
    assert asked() == 2
    set_study(session, study, pool_depth=None)
    assert asked() == 3


def test_a_question_goes_to_no_more_raters_than_the_overlap(
    session: Session,
    study: Study,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    set_study(session, study, overlap=2, repeat_percent=0)
    everybody = [rater, *(studies.add_rater(session, study, name, NOW) for name in "ABC")]
    for one in everybody:
        Robot(session, one).rate_all()

    given = session.execute(
        select(Task.question_id, Task.run_id, func.count()).group_by(Task.question_id, Task.run_id)
    )
    assert [count for _, _, count in given] == [2] * 6


def test_raters_asking_at_the_same_moment_never_exceed_the_overlap(database: Database) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        set_study(session, study, overlap=1)
        stored(session, study, "hybrid", *(query(number, card("a")) for number in range(1, 9)))
        ids = [studies.add_rater(session, study, name, NOW).id for name in "ABCD"]
        session.commit()

    def ask(rater_id: int) -> None:
        for number in range(3):
            with database.writing() as session:
                one = session.get_one(Rater, rater_id)
                task = tasks.next_task(session, one, NOW)
                if task is not None:
                    page = blind_page.blind_page(session, one, task.id)
                    said = click(f"{rater_id}-{number}")
                    tasks.judge(session, one, task.id, page.cards[0].key, YES, said)
                    (answer,) = blind_page.blind_page(session, one, task.id).answers
                    rated = click(f"{rater_id}-{number}q")
                    tasks.rate(session, one, task.id, answer.key, AnswerRating(quality=1), rated)
                session.commit()

    threads = [Thread(target=ask, args=(rater_id,)) for rater_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as session:
        counts = session.scalars(select(func.count()).select_from(Task).group_by(Task.question_id))
        assert list(counts) == [1] * 8
        assert session.scalar(select(func.count()).select_from(Judgment)) == 8
