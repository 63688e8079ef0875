"""The log as a page: filtered, paged, with undo and files to take away."""

from __future__ import annotations

import json
import re

import pytest
from flask.testing import FlaskClient


@pytest.fixture(name="judged")
def _judged(client: FlaskClient, run_id: str) -> str:
    """Two clicks on cards and a note that a spreadsheet would run."""
    for rank, verdict in ((1, "1"), (2, "0")):
        address = f"/runs/{run_id}/queries/1/results/{rank}/judgment"
        client.post(address, data={"relevance": verdict})
    client.post(f"/runs/{run_id}/queries/1/rating", data={"notes": "=cmd <script>"})
    return run_id


def undo_form(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', page))


def test_an_empty_log_says_what_will_stand_there(client: FlaskClient) -> None:
    page = client.get("/history/").text

    assert "Nothing has been judged yet." in page
    assert 'class="narrowing"' not in page  # no filters over nothing


@pytest.mark.usefixtures("judged")
def test_every_change_stands_there_with_old_and_new(client: FlaskClient) -> None:
    page = client.get("/history/").text

    assert "3 changes" in page
    assert page.count('class="event"') == 3
    assert "=cmd &lt;script&gt;" in page
    assert '<span class="hint">Unjudged</span>' in page


@pytest.mark.usefixtures("judged")
def test_a_device_stands_only_where_it_is_known(client: FlaskClient, run_id: str) -> None:
    without = client.get("/history/").text
    sent = {"relevance": "0", "device": "phone", "sequence": "2"}
    client.post(f"/runs/{run_id}/queries/1/results/1/judgment", data=sent)

    assert "device " not in re.sub(r"<head>.*</head>", "", without, flags=re.DOTALL)
    assert client.get("/history/").text.count("device phone, no. 2") == 1


@pytest.mark.usefixtures("judged")
def test_the_filter_narrows_and_stays_in_sight(client: FlaskClient) -> None:
    page = client.get("/history/?change=notes").text

    assert page.count('class="event"') == 1
    assert '<option value="notes" selected>' in page
    assert "No change fits." in client.get("/history/?change=quality").text
    assert client.get("/history/?change=x&rater=y&question=z&before=w").status_code == 200


@pytest.mark.usefixtures("judged")
def test_undo_takes_back_the_latest_change_once(client: FlaskClient) -> None:
    form = undo_form(client.get("/history/").text)
    first = client.post("/history/undo", data=form)
    again = client.post("/history/undo", data=form)
    stale = client.post("/history/undo", data={"latest": form["latest"]})
    page = client.get("/history/").text

    assert (first.status_code, again.status_code, stale.status_code) == (303, 303, 409)
    assert "This is no longer your latest change" in stale.text
    assert page.count('<li class="event') == 4
    assert "undone" in page


@pytest.mark.usefixtures("judged")
def test_undo_needs_to_know_what(client: FlaskClient) -> None:
    assert client.post("/history/undo").status_code == 400


@pytest.mark.usefixtures("judged")
def test_the_log_goes_along_as_csv_and_json_lines(client: FlaskClient) -> None:
    as_csv, as_lines = client.get("/history/events.csv"), client.get("/history/events.jsonl")

    assert "attachment" in as_csv.headers["Content-Disposition"]
    assert "'=cmd <script>" in as_csv.text
    lines = [json.loads(line) for line in as_lines.text.splitlines()]
    assert [line["new"] for line in lines] == ["1", "0", "=cmd <script>"]
