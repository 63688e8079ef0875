"""The page of assignments: fields that take people's spellings, and a plan that shows them all."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.conftest import NOW
from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database
from webapp.db.tables.people import LogEntry
from webapp.services.rating import tasks
from webapp.services.study import assignments, studies

ADDRESS = "/study/assignments/"


@pytest.fixture(name="ani")
def _ani(web_database: Database) -> int:
    """Ani, beside the owner, in a blind study of four questions; her id."""
    queries = [
        query(number, card("a"), category="area" if number < 3 else "price")
        for number in range(1, 5)
    ]
    for method in ("hybrid", "api_only"):
        stored(web_database, queries, method=method)
    with web_database.writing() as session:
        study = studies.open_or_make(session, NOW)
        rater = studies.add_rater(session, study, "Ani <b>", NOW)
        session.commit()
        return rater.id


def named(database: Database) -> dict[int, str]:
    """Return what is assigned, as it would be written."""
    with database.reading() as session:
        study = studies.open_or_make(session, NOW)
        sets = assignments.numbered(session, study)
        found = assignments.by_rater(session, study)
        return {key: assignments.written(questions, sets) for key, questions in found.items()}


def field(page: str, rater_id: int) -> str:
    found = re.search(rf'name="questions-{rater_id}" value="([^"]*)"', page)
    assert found is not None
    return found[1]


def test_nothing_is_named_at_first_and_everybody_gets_all(client: FlaskClient, ani: int) -> None:
    page = client.get(ADDRESS).text

    assert field(page, ani) == ""
    assert page.count("gets all questions") == 2
    assert re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page) == [
        ("All questions", "1-4"),
        ("<code>area</code>", "1-2"),
        ("<code>price</code>", "3-4"),
    ]


def test_what_is_named_is_stored_logged_and_shown_again_in_short(
    client: FlaskClient, web_database: Database, ani: int
) -> None:
    answer = client.post(ADDRESS, data={f"questions-{ani}": "Price, 2"})

    assert (answer.status_code, answer.location) == (303, f"{ADDRESS}?saved=1")
    assert named(web_database) == {ani: "2-4"}
    page = client.get(answer.location).text
    assert "Saved" in page
    assert field(page, ani) == "2-4"
    assert "gets 3 questions" in page
    with web_database.reading() as session:
        entry = session.scalars(select(LogEntry).where(LogEntry.action == "assign")).one()
        assert (entry.old, entry.new) == ("all", "2-4")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1, 9", "&#34;9&#34; is not among the questions there are: 1-4."),
        ("4-1", "&#34;4-1&#34; runs backwards: write the smaller number first."),
        ("1 and 2", "&#34;1 and 2&#34; is not a number, a range such as 1-10 or a category"),
        ("<script>", "&#34;&lt;script&gt;&#34; is not a number"),
        ("1," * 1500, "This text is too long."),
    ],
)
def test_what_cannot_be_understood_is_marked_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, ani: int, typed: str, said: str
) -> None:
    answer = client.post(ADDRESS, data={f"questions-{ani - 1}": "1", f"questions-{ani}": typed})

    assert answer.status_code == 422
    assert f'id="error-{ani}">{said}' in answer.text
    assert "Nothing was saved yet" in answer.text
    assert field(answer.text, ani - 1) == "1"
    assert named(web_database) == {}


def test_all_in_the_readers_language_is_all(
    client: FlaskClient, web_database: Database, ani: int
) -> None:
    client.post(ADDRESS, data={f"questions-{ani}": "1"})
    indonesian = {"Accept-Language": "id"}

    page = client.get(ADDRESS, headers=indonesian).text
    client.post(ADDRESS, data={f"questions-{ani}": "semua"}, headers=indonesian)

    assert "mendapat 1 pertanyaan" in page
    assert named(web_database) == {}


def test_several_question_sets_have_letters(
    client: FlaskClient, web_database: Database, ani: int
) -> None:
    stored(web_database, [query(1, card("a"), text="Another set")])

    wrong = client.post(ADDRESS, data={f"questions-{ani}": "2"}).text
    client.post(ADDRESS, data={f"questions-{ani}": "A2, B"})

    assert "write the letter of the set before it, as in A2." in wrong
    assert "Question set B" in wrong
    assert named(web_database) == {ani: "A2, B1"}


def test_a_study_without_questions_says_so(client: FlaskClient) -> None:
    assert "There are no questions yet." in client.get(ADDRESS).text


def test_while_raters_are_not_blind_the_page_says_that_it_does_not_count_yet(
    client: FlaskClient, run_id: str
) -> None:
    assert run_id
    page = client.get(ADDRESS).text

    assert "Assignments count as soon as the study is blind." in page
    assert 'id="plan"' not in client.get("/study/standing").text


def test_the_standing_shows_planned_and_given_and_what_nobody_will_judge(
    client: FlaskClient, web_database: Database, ani: int
) -> None:
    client.post("/study/", data={"name": "S", "repeat_percent": "0", "overlap": "2"})
    client.post(ADDRESS, data={f"questions-{ani - 1}": "1-2", f"questions-{ani}": "2-3"})
    with web_database.writing() as session:
        rater = studies.raters(session, studies.open_or_make(session, NOW))[1]
        tasks.next_task(session, rater, NOW)
        session.commit()

    page = client.get("/study/standing").text
    rows = re.findall(
        r'data-cell="([^"]+)".*?data-cell="([^"]+)".*?<td[^>]*>(.*?)</td>', page, re.DOTALL
    )

    assert rows == [
        ("planned", "not theirs", "1 of 2"),
        ("planned", "given", "2 of 2"),
        ("not theirs", "planned", "1 of 2"),
        ("not theirs", "not theirs", "0 of 2"),
    ]
    assert "Nobody will judge: 4." in page
    assert "Fewer raters than the overlap of 2 will judge: 1, 3." in page
    assert "Ani <b>" not in page


def test_what_is_left_counts_those_who_may_judge_a_question(client: FlaskClient, ani: int) -> None:
    client.post(ADDRESS, data={f"questions-{ani}": "1"})

    rows = client.get("/study/standing").text.split("questions-stand")[1]

    # One thing to a question: of the owner and Ani for the first, of the owner for the others.
    assert re.findall(r'data-label="Left">(\d+)<', rows) == ["2", "1", "1", "1"]
