"""The table of a run's questions: what the rated CSV holds, in any order."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database
from webapp.records import QueryState
from webapp.services.study import studies

QUERIES = (
    query(1, card("a"), card("b"), text="Zeta", category="location_simple"),
    query(2, card("c"), text="alpha", category="my own"),
    query(3, text="Nothing", category="property_type"),
    query(4, card("d"), card("e"), card("f"), text="Mid", category="location_simple"),
    query(5, state=QueryState.UNREADABLE, text="Broken", category="location_simple"),
)


def rated(client: FlaskClient, database: Database) -> str:
    """A run of which question 4 is half rated and question 3 a list that should not be empty."""
    run = stored(database, QUERIES)
    for number, rank, said in ((1, 1, "0"), (1, 2, "1"), (2, 1, "1"), (4, 1, "1"), (4, 2, "1")):
        address = f"/runs/{run}/queries/{number}/results/{rank}/judgment"
        client.post(address, data={"relevance": said})
    client.post(f"/runs/{run}/queries/1/rating", data={"quality": "3", "notes": "w" * 50})
    client.post(f"/runs/{run}/queries/3/rating", data={"empty_outcome": "false_negative"})
    return run


def table(page: str) -> list[list[str]]:
    """The rows of the table of questions, tags left out."""
    body = page.partition('class="figures of-questions wide"')[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body.partition("<tbody>")[2], re.DOTALL)
    cells = (re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows)
    return [[" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in row] for row in cells]


def numbers(client: FlaskClient, run: str, sort: str, order: str) -> list[str]:
    page = client.get(f"/runs/{run}?sort={sort}&order={order}").text
    return [row[0] for row in table(page)]


def test_a_row_shows_what_the_rated_csv_holds(client: FlaskClient, web_database: Database) -> None:
    run = rated(client, web_database)

    rows = table(client.get(f"/runs/{run}").text)

    # 2 results, 1 relevant at rank 2: precision 1/2, reciprocal rank 1/2.
    assert rows[0][:2] == ["1", "Zeta"]
    assert rows[0][2:11] == [
        "Location location_ simple",
        "2",
        "1",
        "2",
        "0.50",
        "0.50",
        "0.50",
        "1",
        "3",
    ]
    assert rows[0][11] == f"{'w' * 40}… {'w' * 50}"
    csv = client.get(f"/runs/{run}/export.csv").text.splitlines()[1]
    assert csv.startswith("1,Zeta,location_simple,2,1,2,0.5000,0.5000,0.5000,1,3,")


def test_what_is_not_rated_is_blank_and_what_has_no_value_is_a_dash(
    client: FlaskClient, web_database: Database
) -> None:
    run = rated(client, web_database)

    rows = {row[0]: row for row in table(client.get(f"/runs/{run}").text)}

    assert rows["2"][3:11] == ["1", "1", "1", "1.00", "1.00", "1.00", "1", ""]  # no quality yet
    # A false negative: no precision, reciprocal rank and success 0.
    assert rows["3"][3:11] == ["0", "0", "-", "-", "-", "0.00", "0", ""]
    assert rows["4"][1] == "Mid 2 of 3 cards open"
    assert rows["4"][3:11] == ["3", "", "", "", "", "", "", ""]
    assert rows["5"][1] == "Broken Unreadable · not counted"
    assert rows["5"][3:11] == ["-"] * 8


@pytest.mark.parametrize(
    ("sort", "rising", "falling"),
    [
        ("query_id", "12345", "54321"),
        ("question", "25431", "13452"),  # alpha, Broken, Mid, Nothing, Zeta
        ("category", "14523", "32145"),  # Location, my own, Property type
        ("results_count", "32145", "41235"),
        ("overall_precision", "12345", "21345"),  # 0.5 and 1; the others have none
        ("mrr", "31245", "21345"),  # 0, 0.5 and 1
        ("success", "31245", "12345"),  # 0, then 1 and 1
        ("response_quality", "12345", "12345"),
        ("notes", "12345", "12345"),
        ("password", "12345", "12345"),
    ],
)
def test_the_table_sorts_by_every_column_with_blanks_last(
    client: FlaskClient, web_database: Database, sort: str, rising: str, falling: str
) -> None:
    run = rated(client, web_database)

    assert "".join(numbers(client, run, sort, "asc")) == rising
    assert "".join(numbers(client, run, sort, "desc")) == falling


def test_a_heading_leads_to_the_other_order_and_another_rule_keeps_it(
    client: FlaskClient, web_database: Database
) -> None:
    run = rated(client, web_database)

    page = client.get(f"/runs/{run}?rule=majority&sort=mrr&order=asc").text

    assert 'aria-sort="ascending"' in page
    assert f"/runs/{run}?rule=majority&amp;sort=mrr&amp;order=desc#questions" in page
    assert f"/runs/{run}?rule=majority&amp;sort=success&amp;order=asc#questions" in page
    assert '<input type="hidden" name="sort" value="mrr">' in page


def test_a_row_leads_to_its_question_and_in_a_blind_study_to_its_list(
    client: FlaskClient, web_database: Database
) -> None:
    run = rated(client, web_database)

    assert f'href="/runs/{run}/queries/1"' in client.get(f"/runs/{run}").text
    with web_database.writing() as session:
        studies.open_or_make(session, None).blind = True  # type: ignore[arg-type]
        session.commit()
    page = client.get(f"/runs/{run}?rule=majority").text
    assert f'href="/runs/{run}/queries/1"' not in page
    shown = client.get(f"/comparisons/questions/1?runs={run}&rule=majority")
    assert f"/comparisons/questions/1?runs={run}&amp;rule=majority" in page
    assert shown.status_code == 200
    assert f'href="/runs/{run}?rule=majority#questions"' in shown.text
