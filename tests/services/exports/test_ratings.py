from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, Judgment, QueryRating
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.importers.runs.ratings import OfflineRatings
from relevansi.records import ReadRun, Relevance
from relevansi.services.exports import ratings as offline_ratings
from relevansi.services.exports.ratings import FileEffect, RatingCounts, RatingsReport
from relevansi.services.judging import answer_ratings, judgments, stored_summaries
from relevansi.services.judging.verdicts import blindness
from relevansi.services.people import raters
from relevansi.services.runs import file_formats, stored_runs
from relevansi.services.runs.file_formats import FileFormat
from relevansi.services.runs.stored_runs import Labels
from tests.conftest import NOW
from tests.services.exports.offline_files import change, ratings
from tests.services.runs.runs import card, click, query, run

RUN = run(
    query(1, card("a"), card("b"), card("a")),
    query(2),
    query(3, card("c"), category="context_x", context_dependent=True),
)
HOUR = NOW + timedelta(hours=1)


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    return stored_runs.store(session, study, RUN, Labels(), NOW).id


def read(data: bytes) -> OfflineRatings:
    content = file_formats.read_file(FileFormat.RATINGS, "ratings.json", data).content
    assert isinstance(content, OfflineRatings)
    return content


def store(session: Session, study: Study, data: bytes, **options: Any) -> RatingsReport:
    return offline_ratings.store(session, study, read(data), HOUR, **{"confirmed": True, **options})


def verdicts(session: Session, name: str = "Ani") -> list[str | None]:
    result = select(Judgment.verdict).join(Rater).where(Rater.name == name)
    return list(session.scalars(result.order_by(Judgment.judged_item_id)))


def codes(report: RatingsReport) -> list[str]:
    return [problem.code for problem in report.problems]


FIRST = (change(1, 1, "relevance", "1", rank=1, minute=1),)
WHOLE = ratings(
    RUN,
    change(1, 1, "relevance", "1", rank=1, minute=1),
    change(2, 1, "relevance", "0", rank=2, minute=2),
    change(3, 1, "relevance", None, rank=2, minute=3, undoes="e2"),
    change(4, 1, "relevance", "unsure", rank=2, minute=4),
    change(5, 1, "quality", 4, minute=5),
    change(6, 1, "notes", "kurang jelas", minute=6),
    change(7, 2, "empty_outcome", "correct_empty", minute=7),
    change(8, 3, "relevance", "0", rank=1, minute=8),
)


def test_every_change_becomes_an_event_with_the_time_it_was_made(
    session: Session, study: Study, run_id: str
) -> None:
    report = store(session, study, WHOLE)

    assert (report.run_id, report.rater, report.rater_is_new, report.new) == (
        run_id,
        "Ani",
        True,
        8,
    )
    assert report.counts == report.added == RatingCounts(3, 1, 1, 1)
    assert report.changed == report.same == RatingCounts()
    assert report.problems == ()
    assert stored_summaries.check(session) == []
    logged = session.scalars(select(Event).order_by(Event.sequence)).all()
    assert [event.client_time for event in logged] == [
        NOW + timedelta(minutes=minute) for minute in range(1, 9)
    ]
    assert {(event.device, event.received_at) for event in logged} == {("phone", HOUR)}
    assert [event.cause for event in logged].count("undo") == 1
    assert logged[2].undoes_id == logged[1].id
    assert verdicts(session) == ["1", "unsure", "correct_empty", "0"]
    rating = session.scalars(select(QueryRating)).one()
    assert (rating.quality, rating.notes) == (4, "kurang jelas")
    # What the page showed while it was rated is not known.
    blind = blindness(session, Query.run_id == run_id, [rating.rater_id])
    assert (blind.verdicts.unknown, blind.grades.unknown) == (4, 1)


def test_the_same_file_twice_changes_nothing_and_a_later_one_adds_what_is_new(
    session: Session, study: Study, run_id: str
) -> None:
    store(session, study, WHOLE)
    again = store(session, study, WHOLE)

    assert again.already_imported
    assert (again.run_id, again.new, again.stored_before) == (run_id, 0, 8)
    assert len(session.scalars(select(Event)).all()) == 8

    later = store(session, study, ratings(RUN, *FIRST, change(9, 1, "relevance", "0", rank=1)))
    assert (later.new, later.stored_before) == (1, 1)
    assert len(session.scalars(select(Event)).all()) == 9


@pytest.mark.parametrize(("minute", "verdict"), [(5, "0"), (50, "1")])
def test_of_two_verdicts_the_later_counts_and_both_are_reported(
    session: Session, study: Study, run_id: str, minute: int, verdict: str
) -> None:
    ani = raters.add(session, study, "Ani", NOW)
    here = click("here", minute=30)
    judgments.judge(session, ani, run_id, 1, 2, Relevance.NOT_RELEVANT, here)
    data = ratings(RUN, change(1, 1, "relevance", "1", rank=2, minute=minute))
    announced = offline_ratings.examine(session, study, read(data), HOUR)
    report = store(session, study, data)

    assert report.contradictions == (FileEffect(1, "relevance", "0", "1", "B", verdict, True),)
    assert announced == replace(report, stored=False)
    assert verdicts(session) == [verdict]
    assert len(session.scalars(select(Event)).all()) == 2


def test_a_file_in_the_owners_name_changes_nothing_until_the_name_is_confirmed(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    """Here 0 on card B, 3 as quality and a note; the file says 1, 3 and 1 on card A, later."""
    judgments.judge(session, rater, run_id, 1, 2, Relevance.NOT_RELEVANT, click("h1"))
    rating = answer_ratings.AnswerRating(quality=3, notes="milik sendiri")
    judgments.rate(session, rater, run_id, 1, rating, click("h2"))
    before = verdicts(session, rater.name)
    data = ratings(
        RUN,
        change(1, 1, "relevance", "1", rank=2, minute=5),
        change(2, 1, "relevance", "1", rank=1, minute=6),
        change(3, 1, "quality", 3, minute=7),
        change(4, 1, "notes", None, minute=8),
        change(5, 2, "empty_outcome", "false_negative", minute=9),
        rater=f" {rater.name.upper()} ",
    )
    refused = store(session, study, data, confirmed=False)

    assert (refused.rater, refused.needs_confirmation, refused.stored) == (rater.name, True, False)
    assert refused.new == 5
    assert refused.added == RatingCounts(verdicts=1, outcomes=1)
    assert refused.changed == RatingCounts(verdicts=1, notes=1)
    assert refused.same == RatingCounts(qualities=1)
    assert refused.contradictions == (
        FileEffect(1, "relevance", "0", "1", "B", "1", True),
        FileEffect(1, "notes", "milik sendiri", None, "", None, True),
    )
    assert verdicts(session, rater.name) == before == ["0"]
    assert session.scalars(select(Event).where(Event.device == "phone")).all() == []

    assert store(session, study, data).stored
    assert sorted(map(str, verdicts(session, rater.name))) == ["1", "1", "false_negative"]
    assert session.scalars(select(QueryRating.notes)).all() == [""]
    again = store(session, study, data, confirmed=False)
    assert (again.stored, again.already_imported, again.needs_confirmation) == (True, True, False)


@pytest.mark.parametrize(
    "edited",
    [
        change(1, 1, "relevance", "0", rank=1),
        change(1, 1, "relevance", "1", rank=2),
        change(1, 3, "relevance", "1", rank=1),
    ],
)
@pytest.mark.usefixtures("run_id")
def test_a_stored_change_that_was_edited_in_the_file_is_left_out_and_reported(
    session: Session, study: Study, edited: dict[str, Any]
) -> None:
    store(session, study, ratings(RUN, change(1, 1, "relevance", "1", rank=1)))
    report = store(session, study, ratings(RUN, edited, change(2, 1, "quality", 4)))

    assert codes(report) == ["ratings_change_edited"]
    assert (report.stored, report.new) == (True, 1)
    assert verdicts(session) == ["1"]


def test_a_clock_that_runs_ahead_shadows_no_later_click_here(
    session: Session, study: Study, run_id: str
) -> None:
    data = ratings(RUN, change(1, 1, "relevance", "1", rank=1, minute=60 * 24 * 365))
    store(session, study, data)
    ani = raters.find_named(session, study, "Ani")
    assert ani is not None
    judgments.judge(session, ani, run_id, 1, 1, Relevance.NOT_RELEVANT, click("x", minute=120))

    assert verdicts(session) == ["0"]


@pytest.mark.parametrize("name", ["{}\u200b", "\u202e{}", "\N{CYRILLIC CAPITAL LETTER O}wner"])
@pytest.mark.usefixtures("run_id")
def test_a_name_that_looks_like_a_rater_s_needs_confirmation(
    session: Session, study: Study, rater: Rater, name: str
) -> None:
    raters.rename(session, rater, "Owner", NOW)
    report = store(
        session, study, ratings(RUN, *FIRST, rater=name.format("Owner")), confirmed=False
    )

    assert (report.rater, report.needs_confirmation, report.stored) == ("Owner", True, False)


@pytest.mark.usefixtures("run_id")
def test_a_name_loses_invisible_characters_and_can_be_replaced(
    session: Session, study: Study, rater: Rater
) -> None:
    report = store(session, study, ratings(RUN, *FIRST, rater="An\u200bi\u202e"), confirmed=False)
    assert (report.rater, report.rater_is_new, report.stored) == ("Ani", True, True)

    report = store(session, study, WHOLE, rater=rater.name.upper())
    assert (report.rater, report.rater_is_new) == (rater.name, False)


@pytest.mark.parametrize("name", ["  ", "\u200b\u2800"])
@pytest.mark.usefixtures("run_id")
def test_ratings_without_a_name_ask_for_one(session: Session, study: Study, name: str) -> None:
    report = store(session, study, ratings(RUN, rater=name))

    assert (codes(report), report.storable) == (["ratings_without_rater"], False)


@pytest.mark.usefixtures("run_id")
def test_a_removed_rater_judges_no_more(session: Session, study: Study) -> None:
    raters.remove(session, raters.add(session, study, "Ani", NOW), NOW)

    assert codes(store(session, study, WHOLE)) == ["ratings_of_no_rater"]
    assert session.scalars(select(Event)).all() == []


def test_ratings_need_exactly_one_run_with_their_answers(session: Session, study: Study) -> None:
    assert codes(store(session, study, WHOLE)) == ["ratings_without_run"]
    assert raters.find_named(session, study, "Ani") is None

    for method in ("hybrid", "api_only"):
        read = run(*RUN.queries, method=method, name=f"{method}.json")
        stored_runs.store(session, study, read, Labels(), NOW)
    assert codes(store(session, study, WHOLE)) == ["ratings_of_two_runs"]


def rated_as(read: ReadRun, *slugs: str) -> bytes:
    """Return a verdict on rank 2 of a page that showed `slugs` for question 1."""
    results = [
        {"rank": rank, "title": slug.title(), "identity": f"slug:{slug}"}
        for rank, slug in enumerate(slugs, start=1)
    ]
    verdict = change(1, 1, "relevance", "1", rank=2)
    return ratings(read, verdict, queries=[{"query_id": 1, "results": results}])


@pytest.mark.usefixtures("run_id")
def test_a_card_at_another_rank_by_now_gets_its_verdict(session: Session, study: Study) -> None:
    report = store(session, study, rated_as(RUN, "b", "a"))  # here a is first, b second

    assert codes(report) == ["ratings_card_moved"]
    first = session.scalars(select(Query).where(Query.query_id == 1)).one().results[0]
    assert session.scalars(select(Judgment.judged_item_id)).one() == first.judged_item_id


@pytest.mark.usefixtures("run_id")
def test_only_the_verdict_on_a_missing_card_is_left_out(session: Session, study: Study) -> None:
    report = store(session, study, rated_as(RUN, "a", "z"))

    assert codes(report) == ["ratings_card_gone"]
    assert session.scalars(select(Judgment.judged_item_id)).all() == []
    assert report.storable


@pytest.mark.usefixtures("run_id")
def test_changes_of_unknown_questions_are_reported(session: Session, study: Study) -> None:
    data = ratings(
        RUN,
        change(1, 9, "quality", 3),
        change(2, 9, "quality", 4),
        change(3, 1, "empty_outcome", "correct_empty"),
        change(4, 1, "quality", 2),
    )
    report = store(session, study, data)

    assert codes(report) == ["ratings_question_unknown", "ratings_question_unknown"]
    assert report.new == 1


@pytest.mark.usefixtures("run_id")
def test_reasons_come_along_with_their_verdicts(session: Session, study: Study) -> None:
    """As they are in the file, also one that the owner took off the list meanwhile."""
    why = (
        change(1, 1, "relevance", "0", rank=1, minute=1),
        change(2, 1, "reason", "price", rank=1, minute=2),
        change(3, 1, "reason", "Dekat rel", rank=1, minute=3),
        change(4, 1, "relevance", "0", rank=2, minute=4),
        change(5, 1, "reason", "other: jauh", rank=2, minute=5),
        change(6, 1, "reason", None, rank=2, minute=6, undoes="e5"),
    )
    store(session, study, ratings(RUN, *why))

    assert verdicts(session) == ["0", "0"]
    by_item = select(Judgment.reason).order_by(Judgment.judged_item_id)
    assert list(session.scalars(by_item)) == ["Dekat rel", None]
