"""Runs can be relabelled, completed by hand and deleted, and every change is logged."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem, Judgment
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Study
from relevansi.records import QueryState, Relevance
from relevansi.services.comparisons import chosen_runs
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.runs import reports, runs
from relevansi.services.runs.runs import NotUnreadable, UnknownRun
from tests.conftest import NOW
from tests.services.comparisons.stored_runs import stored
from tests.services.rating.blind_raters import set_study
from tests.services.runs.runs import card, click, count, query, run, store

YES = Relevance.RELEVANT
CARDS = (
    "1. **[Rumah A](https://x.example/properti/rumah-a)**\n   💰 Rp 500.000.000\n2. **Rumah B**\n"
)


READ = run(
    query(1, card("a")),
    query(2, card("b"), context_dependent=True),
    query(3, state=QueryState.UNREADABLE),
)


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    return store(session, study, READ).id


def test_a_run_can_be_relabelled_and_the_change_is_logged(
    session: Session, study: Study, run_id: str
) -> None:
    runs.relabel(session, study, run_id, "vector_only", "gpt-4o-mini", NOW)
    session.flush()

    row = session.get_one(Run, run_id)
    assert (row.search_method, row.llm) == ("vector_only", "gpt-4o-mini")
    assert row.stated_search_method == "hybrid"
    logged = session.execute(
        select(LogEntry.action, LogEntry.old, LogEntry.new).order_by(LogEntry.id)
    )
    assert list(logged) == [
        ("relabel method", "hybrid", "vector_only"),
        ("relabel llm", None, "gpt-4o-mini"),
    ]


def test_a_card_below_the_depth_of_the_pool_is_not_left(
    session: Session, study: Study, rater: Rater
) -> None:
    """Page, command and next open question agree, by clicks and made anew; another depth counts."""
    read = run(query(1, card("a"), card("b"), card("a"), card("c")), query(2, card("d"), card("c")))
    run_id = store(session, study, read).id
    set_study(session, study, asks_quality=False)
    rule = reports.rule_of(session, study)

    def counts() -> tuple[int, int, int | None]:
        overview = runs.run_page(session, rater, run_id).overview
        result = reports.state(session, study, Query.run_id == run_id, rule)
        assert result.cards == overview.progress.open_judgments
        assert result.questions - result.complete == overview.progress.open_queries
        assert stored_summaries.check(session) == []
        return result.cards, overview.progress.open_queries, overview.first_open

    assert counts() == (5, 2, 1)
    set_study(session, study, pool_depth=2)
    assert counts() == (4, 2, 1)
    for rank in (1, 2):
        judgments.judge(session, rater, run_id, 1, rank, YES, click(f"e{rank}"))
    assert counts() == (2, 1, 2)
    judgments.judge(session, rater, run_id, 1, 4, YES, click("below"))
    assert counts() == (2, 1, 2)
    set_study(session, study, pool_depth=1)
    assert counts() == (1, 1, 2)
    set_study(session, study, pool_depth=None)
    assert counts() == (2, 1, 2)


def test_a_deleted_run_keeps_pooled_judgments_for_its_file_when_it_comes_again(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 2, 1, YES, click("e2"))
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=5), click("e3"))

    goes, stays = runs.deletion_cost(session, study, run_id)
    assert [line.split()[0] for line in (*goes[1:], stays[0])] == ["1", "1", "1"]
    runs.delete_run(session, study, run_id, NOW)
    assert (count(session, Run), count(session, Query), count(session, Judgment)) == (0, 0, 1)
    assert count(session, Event) == 3
    assert set(session.scalars(select(JudgedItem.run_id))) == {None}
    assert stored_summaries.check(session) == []
    with pytest.raises(UnknownRun):
        runs.find(session, study, run_id)

    again = store(session, study, READ)
    summary = stored_summaries.by_category(session, rater.id, again.id)["location"]
    assert (again.id != run_id, summary.totals.n_relevant) == (True, 1)


def test_cards_added_by_hand_make_an_unreadable_answer_ratable(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    assert runs.add_cards(session, study, run_id, 3, "no card in here", NOW) == 0
    assert runs.add_cards(session, study, run_id, 3, CARDS, NOW) == 2

    judgments.judge(session, rater, run_id, 3, 2, YES, click("e1"))
    totals = stored_summaries.by_category(session, rater.id, run_id)["location"].totals
    assert (totals.n_unreadable, totals.n_with_results, totals.n_results) == (0, 3, 4)
    with pytest.raises(NotUnreadable):
        runs.add_cards(session, study, run_id, 3, CARDS, NOW)


def test_search_methods_come_in_the_method_s_order_then_as_they_were_imported(
    session: Session, study: Study
) -> None:
    stored(session, study, "bm25", query(1, card("a")), hour=1)
    stored(session, study, "hybrid", query(1, card("b")), hour=2)
    stored(session, study, "dense", query(1, card("c")), hour=3)
    stored(session, study, "vector_only", query(1, card("d")), hour=4)
    stored(session, study, "api_only", query(1, card("e")), hour=5)

    chosen = [runs.find(session, study, run) for run in chosen_runs.of_phase(session, study, 1)]

    methods = [run.search_method for run in chosen]
    assert methods == ["api_only", "vector_only", "hybrid", "bm25", "dense"]
    assert list(chosen_runs.names_of(chosen).values())[:3] == ["API Only", "Vector Only", "Hybrid"]


def test_the_owner_s_order_of_runs_is_that_of_lists_and_phases(
    session: Session, study: Study, rater: Rater
) -> None:
    hybrid = stored(session, study, "hybrid", query(1, card("a")), hour=1)
    vector = stored(session, study, "vector_only", query(1, card("b")), hour=2)
    api = stored(session, study, "api_only", query(1, card("c")), hour=3)

    def lists() -> list[tuple[str, ...]]:
        return [
            chosen_runs.of_phase(session, study, 1),
            tuple(overview.run.id for overview in runs.overviews(session, rater)),
            tuple(overview.run.id for overview in chosen_runs.candidates(session, study)),
        ]

    assert lists() == [(api, vector, hybrid)] * 3
    runs.move(session, study, hybrid, "up")
    runs.move(session, study, api, "up")  # it is the first already
    assert lists() == [(api, hybrid, vector)] * 3
    runs.move(session, study, api, "down")
    runs.move(session, study, vector, "down")  # it is the last already
    assert lists() == [(hybrid, api, vector)] * 3

    late = stored(session, study, "api_only", query(1, card("d")), hour=4, llm="two")
    assert lists()[1:] == [(hybrid, api, vector, late)] * 2  # a new run comes last
    runs.relabel(session, study, late, "bm25", "one", NOW)
    assert lists() == [(hybrid, api, vector, late)] * 3
