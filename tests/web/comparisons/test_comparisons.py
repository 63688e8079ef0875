"""A comparison as pages and files: the same figures, refusals in words, doors closed."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.runs.runs import card, click, query
from tests.web.conftest import made_once, stored
from webapp.db.engine import Database
from webapp.records import EmptyOutcome, Relevance
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating
from webapp.services.study import studies

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(name="pair")
def _pair(web_database: Database) -> tuple[str, str]:
    return rated_pair(web_database)


@made_once
def rated_pair(database: Database) -> tuple[str, str]:
    """Two runs: question 1 is 1/2 against 1/1, question 2 found against a false negative."""
    first = stored(
        database,
        [query(1, card("same"), card("a"), category=HOSTILE), query(2, card("b"))],
        method="api",
    )
    second = stored(database, [query(1, card("same"), category=HOSTILE), query(2)], method="hybrid")
    with database.writing() as session:
        study = studies.current(session)
        assert study is not None
        owner = studies.raters(session, study)[0]
        for query_id, rank, verdict in ((1, 1, YES), (1, 2, NO), (2, 1, YES)):
            made = click(f"{query_id}-{rank}")
            events.judge(session, owner, first, query_id, rank, verdict, made)
        empty = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
        events.rate(session, owner, second, 2, empty, click("empty"))
        session.commit()
    return first, second


def address(pair: tuple[str, ...], **other: str) -> str:
    """Return the query string that names the runs of a comparison."""
    named = [*(f"runs={run}" for run in pair), *(f"{k}={v}" for k, v in other.items())]
    return "?" + "&".join(named)


def test_the_first_phase_with_runs_is_shown_at_once(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    page = client.get("/comparisons/").text

    assert "Phase 1: search methods compared" in page
    assert page == client.get(f"/comparisons/{address(pair)}").text
    assert page == client.get("/comparisons/?phase=1").text
    assert page == client.get("/comparisons/?phase=2").text  # there is none
    parts = address(pair, part="categories", figure="success_rate")
    assert 'id="table-category_success_rate"' in client.get(f"/comparisons/{parts}").text


def test_figures_on_the_page_are_worked_by_hand(client: FlaskClient, pair: tuple[str, str]) -> None:
    page = client.get(f"/comparisons/{address(pair)}").text
    summary = page[page.index('id="table-summary"') :]

    # P@5 of api: (1/2 + 1/1) / 2; of hybrid 1/1 over one list. Success 2/2 and 1/2.
    first_row = re.findall(r'<span class="value">([^<]+)', summary)[:2]
    assert first_row == ["0.75", "1.00"]
    answer = page[page.index('id="answer"') : page.index('id="choice"')]
    assert "Neither api nor Hybrid is ahead on Precision@5, MRR or Success rate." in answer
    differences = client.get(f"/comparisons/{address(pair, part='differences')}").text
    assert "Hybrid is 0.50 higher than api" in differences  # question 1: 1 against 1/2
    assert "Small: with 1 to 2 pairs of questions" in differences
    file = client.get(f"/comparisons/report.json{address(pair)}")
    assert "phase1_comparison_" in file.headers["Content-Disposition"]
    assert "0.75" in file.text


def test_both_lists_of_a_question_stand_side_by_side(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    page = client.get(f"/comparisons/questions/1{address(pair)}").text

    categories = client.get(f"/comparisons/{address(pair, part='categories')}").text
    for text in (page, categories):
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text
    assert page.count('data-verdict="1"') == 2  # "same", judged once
    assert page.count('data-verdict="0"') == 1
    assert "also at rank 1 of Hybrid" in page
    assert "false negative" in client.get(f"/comparisons/questions/2{address(pair)}").text


def test_questions_that_moved_come_first_unless_the_order_is_asked_for(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    moved = client.get(f"/comparisons/{address(pair, part='questions')}").text
    in_order = client.get(f"/comparisons/{address(pair, part='questions', order='set')}").text

    def positions(page: str) -> list[str]:
        return re.findall(r"/comparisons/questions/(\d)", page)

    assert positions(moved) == ["2", "1"]  # 1 against 0, then 1 against 1/2
    assert positions(in_order) == ["1", "2"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/comparisons/?runs=nowhere&runs=nothing", 404),
        ("/comparisons/questions/9", 404),
        ("/comparisons/report.json", 422),
        ("/comparisons/report.exe", 404),
        ("/comparisons/?rule=rater%20Nobody", 404),
    ],
)
@pytest.mark.usefixtures("pair")
def test_what_is_not_there_is_said_without_a_traceback(
    client: FlaskClient, path: str, status: int
) -> None:
    page = client.get(path)

    assert page.status_code == status
    assert "Traceback" not in page.text


def test_disputes_that_keep_figures_open_are_named_where_verdicts_are_merged(
    client: FlaskClient, web_database: Database, pair: tuple[str, str]
) -> None:
    """The owner found the card relevant, Ani did not: the two votes have no majority."""
    with web_database.writing() as session:
        study = studies.current(session)
        assert study is not None
        ani = studies.add_rater(session, study, "Ani", NOW)
        events.judge(session, ani, pair[0], 1, 1, NO, click("ani"))
        session.commit()

    merged = client.get(f"/comparisons/{address(pair, rule='majority')}").text
    alone = client.get(f"/comparisons/{address(pair, rule='rater Owner')}").text

    assert "1 dispute waits for a decision." in merged
    assert 'href="/adjudications/"' in merged.partition("1 dispute waits")[2][:300]
    assert "dispute waits" not in alone
    own = client.get(f"/comparisons/{address(pair, rule='rater Ani')}").text
    assert "Ani alone" in own
    assert "Nothing can be concluded yet" in own


def test_runs_of_different_questions_are_refused_with_what_differs(
    client: FlaskClient, web_database: Database, pair: tuple[str, str]
) -> None:
    other = stored(web_database, [query(1, card("z"), text="Quite another")], method="other")

    page = client.get(f"/comparisons/{address((pair[0], other))}").text

    assert 'id="different"' in page
    assert "Quite another" in page
    assert client.get(f"/comparisons/report.json{address((pair[0], other))}").status_code == 422
