"""Rated CSVs dropped on the comparison page: compared as on the command line, nothing stored."""

from __future__ import annotations

import json
import re
from io import BytesIO

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from webapp.db.engine import Database
from webapp.db.tables.judging import Event
from webapp.db.tables.runs import Query, Run, Upload
from webapp.exporters.comparisons.files import FORMATS

HEADER = "query_id,question,category,results_count,relevant_count,first_relevant_rank,notes\n"
HYBRID = ("5,4,1,", "5,3,1,", "5,2,2,")
API = ("5,2,2,", "5,1,4,", "5,2,2,")


def rated(*lines: str, last: str = "rumah 3") -> bytes:
    """A rated CSV with `lines`, each from results_count on; questions 1, 2 and so on."""
    texts = [*(f"rumah {n}" for n in range(1, len(lines))), last]
    rows = (f"{n},{texts[n - 1]},lokasi,{line}\n" for n, line in enumerate(lines, 1))
    return (HEADER + "".join(rows)).encode()


def drop(client: FlaskClient, **files: bytes) -> TestResponse:
    """Drop files and follow to their comparison."""
    chosen = [(BytesIO(data), f"evaluation_rated_{name}.csv") for name, data in files.items()]
    return client.post("/comparisons/files/", data={"files": chosen}, follow_redirects=True)


def address(page: TestResponse) -> str:
    """The query string of a page of a comparison."""
    return "?" + page.request.query_string.decode()


def test_two_dropped_files_are_compared_and_nothing_of_them_is_in_the_study(
    client: FlaskClient, web_database: Database
) -> None:
    """P@5 .8 .6 .4 against .4 .2 .4: the mean difference is .8/3."""
    page = drop(client, hybrid_20260125=rated(*HYBRID), api_only=rated(*API))

    assert page.status_code == 200
    summary = page.text[page.text.index('id="table-summary"') :]
    assert re.findall(r'<span class="value">([^<]+)', summary)[:1] == ["0.60"]  # (.8+.6+.4)/3
    parts = ("differences", "categories", "questions", "stability", "configuration", "downloads")
    shown = {part: client.get(f"/comparisons/files/{address(page)}&part={part}") for part in parts}
    assert "Hybrid is 0.27 higher than API Only" in shown["differences"].text
    for part in parts:
        assert f'id="{part}"' in shown[part].text
        assert f"part={part}" in page.text
        assert "/comparisons/questions/" not in shown[part].text
    assert "A rated file has counts and no verdicts by card." in page.text
    with web_database.reading() as session:
        for table in (Run, Query, Event):
            assert session.scalar(select(func.count()).select_from(table)) == 0
    tokens = re.findall(r'name="file" value="(\w+)"', page.text)[:2]
    assert client.post("/comparisons/files/forget", data={"file": tokens}).status_code == 303
    with web_database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Upload)) == 0
    assert client.get(f"/comparisons/files/{address(page)}").status_code == 404


def test_every_file_and_picture_of_dropped_files_can_be_taken_away(client: FlaskClient) -> None:
    page = drop(client, hybrid=rated(*HYBRID), api_only=rated(*API))

    for name, made in FORMATS.items():
        file = client.get(f"/comparisons/files/report.{name}{address(page)}&phase=1")
        assert file.status_code == 200, name
        assert "phase1_comparison_" in file.headers["Content-Disposition"]
        assert f".{made.extension}" in file.headers["Content-Disposition"]
    said = json.loads(client.get(f"/comparisons/files/report.json{address(page)}&phase=1").data)
    assert [(run["name"], run["search_method"]) for run in said["runs"]] == [
        ("Hybrid", "hybrid"),
        ("API Only", "api_only"),
    ]
    named = f"{address(page)}&name=Baru&name=v1.2+lama&phase=1&part=differences"
    assert "Baru is 0.27 higher than v1.2 lama" in client.get(f"/comparisons/files/{named}").text
    offered = client.get(f"/comparisons/files/{address(page)}&part=downloads").text
    links = set(re.findall(r'href="(/comparisons/files/[^"#]*)', offered))
    assert any(link.startswith("/comparisons/files/questions.svg") for link in links)
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code == 200, link


def test_what_is_wrong_with_a_dropped_file_is_told_by_file_and_line(client: FlaskClient) -> None:
    name = "evaluation_rated_20260125.csv"
    wrong = rated("5,4,1,", "5,9,1,", "5,2,2,")
    chosen = [(BytesIO(data), name) for data in (rated(*HYBRID), wrong)]

    page = client.post("/comparisons/files/", data={"files": chosen}, follow_redirects=True)

    assert f"{name} (2), line 3: " in page.text
    assert f"{name} (2) was not asked question 2" in page.text


def test_files_with_different_questions_are_refused_with_those_that_differ(
    client: FlaskClient,
) -> None:
    page = drop(client, hybrid=rated(*HYBRID), api_only=rated(*API, last="ruko 3"))

    assert "These files have different questions, so they cannot be compared." in page.text
    assert "3. rumah 3" in page.text
    assert "3. ruko 3" in page.text
    assert "rumah 1" not in page.text


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"hybrid": rated(*HYBRID)}, "A comparison needs two rated CSVs."),
        ({"a": rated(*HYBRID), "b": HEADER.encode()}, "holds no question"),
    ],
)
def test_files_that_cannot_be_compared_say_why(
    client: FlaskClient, files: dict[str, bytes], told: str
) -> None:
    page = drop(client, **files)

    assert page.status_code == 200
    assert told in page.text
    assert 'id="table-summary"' not in page.text
    assert client.post("/comparisons/files/", data={}).status_code == 422
