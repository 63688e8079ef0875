"""How many empty answers were looked up before they were judged, and what was pinned for them."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import Adjudication, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.metrics.judging.empty_answers import EmptyAnswerCounts, counts_of
from relevansi.services.catalogue.filters import Filters
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.programs import rows
from relevansi.services.programs.rows import FilteredItems, FilteredJudgments
from relevansi.services.rating import lookups
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.catalogue.conftest import MISSED, NOTHING, LookedUp
from tests.services.catalogue.pinned import judge, new_listing
from tests.services.runs.runs import card, click, query, run, store


def counts(
    session: Session, study: Study, run_id: str, rule: Rule, *, category: str | None = None
) -> EmptyAnswerCounts:
    report = reports.report(session, study, run_id, rule)
    return counts_of(row.empty_answer for row in report.rows if category in {None, row.category})


def test_only_searches_before_the_verdict_check_an_empty_answer(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    rule = reports.of_rater(rater)

    result = counts(session, study, looked_up.run_id, rule)
    # Two searches before the verdict on question 2, none before that on question 3.
    assert result == EmptyAnswerCounts(2, 1, 2, false_negatives=2, with_evidence=1, evidence=2)
    assert result.share_checked == 0.5
    of_missed = counts(session, study, looked_up.run_id, rule, category="y")
    assert of_missed.share_checked is None
    assert of_missed.evidence == 2


def test_a_verdict_given_anew_after_a_search_is_checked(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    again = AnswerRating(empty_outcome=MISSED)
    judgments.rate(session, rater, looked_up.run_id, 3, again, click("again", minute=4))
    again = AnswerRating(empty_outcome=NOTHING)
    judgments.rate(session, rater, looked_up.run_id, 3, again, click("and again", minute=5))

    result = counts(session, study, looked_up.run_id, reports.of_rater(rater))
    assert (result.checked, result.searches) == (2, 3)


def test_evidence_and_outcomes_of_several_raters_are_merged_by_the_rule(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    budi = studies.add_rater(session, study, "Budi", NOW)
    for query_id, outcome in ((2, NOTHING), (3, MISSED)):
        rating, at = AnswerRating(empty_outcome=outcome), click(f"b{query_id}", minute=9)
        judgments.rate(session, budi, looked_up.run_id, query_id, rating, at)
    first, second = looked_up.pinned
    judge(session, budi, first, "0")
    judge(session, budi, second, "1")

    def under(rule: Rule) -> EmptyAnswerCounts:
        return counts(session, study, looked_up.run_id, rule)

    # Question 3 and the first pinned item are ties; only Ani looked question 2 up.
    assert under(Rule("majority")) == EmptyAnswerCounts(1, 1, 2, 2, 1, 1)
    assert under(reports.of_rater(budi)) == EmptyAnswerCounts(1, 0, 0, 1, 0, 0)
    settled = {"verdict": "1", "reason": "", "rater_id": rater.id, "at": NOW}
    session.add(Adjudication(judged_item_id=first, **settled))
    session.flush()
    assert under(Rule("adjudicated")) == EmptyAnswerCounts(1, 1, 2, 2, 1, 2)
    assert under(Rule("majority")).evidence == 1


def test_what_its_rater_no_longer_finds_relevant_is_no_evidence(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    judgments.judge_item(session, rater, looked_up.pinned[0], "0", click("no", minute=9))

    result = counts(session, study, looked_up.run_id, reports.of_rater(rater))
    assert (result.with_evidence, result.evidence) == (1, 1)


def test_a_verdict_shared_by_runs_rests_on_the_same_searches(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    """The second run is empty at the same questions, so each outcome is one verdict."""
    queries = [query(n, category="x" if n < 4 else "y") for n in range(1, 6)]
    second_run_id = store(session, study, run(*queries, method="vector")).id
    rule = reports.of_rater(rater)

    rows = [
        row
        for run_id in (looked_up.run_id, second_run_id)
        for row in reports.report(session, study, run_id, rule).rows
    ]
    assert counts(session, study, second_run_id, rule).checked == 1
    assert counts_of(row.empty_answer for row in rows).correct_empty == 2


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    """Budi looks for question 1 and pins a house; for question 2 he finds nothing that fits."""
    run_id = store(session, study, run(query(1), query(2), query(3, card("a")))).id
    budi = studies.add_rater(session, study, "Budi", NOW)
    for query_id in (1, 2):
        place = lookups.of_answer(session, budi, run_id, query_id)
        lookups.search(session, budi, place, "house", Filters(), NOW)
    first = lookups.of_answer(session, budi, run_id, 1)
    lookups.pin(session, budi, first, new_listing(session, "a"), click("pin", minute=1))
    rating, at = AnswerRating(empty_outcome=NOTHING), click("nothing", minute=1)
    judgments.rate(session, budi, run_id, 2, rating, at)
    return run_id


def of_budi(session: Session, study: Study, run_id: str) -> EmptyAnswerCounts:
    return counts(session, study, run_id, reports.rule_of(session, study, "rater Budi"))


def test_searches_and_pins_are_counted(session: Session, study: Study, run_id: str) -> None:
    # One search before "truly nothing"; one false negative by one pinned house.
    assert of_budi(session, study, run_id) == EmptyAnswerCounts(1, 1, 1, 1, 1, 1)


def test_unpinned_evidence_is_no_longer_counted(
    session: Session, study: Study, run_id: str
) -> None:
    budi = reports.rule_of(session, study, "rater Budi").rater
    assert budi is not None
    place = lookups.of_answer(session, budi, run_id, 1)
    [pinned] = session.scalars(select(Judgment.judged_item_id).where(Judgment.is_evidence))
    lookups.unpin(session, budi, place, pinned, click("unpin", minute=2))

    assert of_budi(session, study, run_id) == EmptyAnswerCounts(1, 1, 1)


def test_programs_see_evidence_among_items_and_judgments(
    session: Session, study: Study, run_id: str
) -> None:
    verdicts = rows.judgment_rows(session, study, FilteredJudgments(run=run_id)).data
    items = rows.item_rows(session, study, FilteredItems(run=run_id)).data

    [pinned] = [verdict for verdict in verdicts if verdict.evidence]
    assert pinned.relevant
    assert [item.identity for item in items if item.id == pinned.item] == ["slug:a"]


def test_a_deleted_run_leaves_searches_and_evidence_to_its_questions(
    session: Session, study: Study, run_id: str
) -> None:
    """They hold for whatever other run comes back empty at the same question."""
    runs.delete_run(session, study, run_id, NOW)
    again = store(session, study, run(query(1), query(2), query(3), method="vector")).id

    assert session.scalar(select(func.count()).select_from(Search)) == 2
    assert of_budi(session, study, again).evidence == 1
