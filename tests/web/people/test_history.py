"""The log as a page: filtered, paged, with undo and files to take away."""

from __future__ import annotations

import json
import re

from flask.testing import FlaskClient


def test_changes_are_listed_filtered_and_undone(client: FlaskClient, run_id: str) -> None:
    """Two clicks on cards, one by a device that says so, and a note that a sheet would run."""
    assert 'class="narrowing"' not in client.get("/history/").text  # no filters over nothing
    for rank, sent in ((1, {}), (2, {"device": "phone", "sequence": "2"})):
        address = f"/runs/{run_id}/queries/1/results/{rank}/judgment"
        client.post(address, data={"relevance": str(2 - rank)} | sent)
    client.post(f"/runs/{run_id}/queries/1/rating", data={"notes": "=cmd <script>"})

    page = client.get("/history/").text
    assert page.count('class="event"') == 3
    assert "=cmd &lt;script&gt;" in page
    assert page.count("device phone, no. 2") == 1
    notes = client.get("/history/?change=notes").text
    assert notes.count('class="event"') == 1
    assert '<option value="notes" selected>' in notes
    assert 'class="event' not in client.get("/history/?change=quality").text
    assert client.get("/history/?change=x&rater=y&question=z&before=w").status_code == 200
    as_csv, as_lines = client.get("/history/events.csv"), client.get("/history/events.jsonl")
    assert "attachment" in as_csv.headers["Content-Disposition"]
    assert "'=cmd <script>" in as_csv.text
    lines = [json.loads(line) for line in as_lines.text.splitlines()]
    assert [line["new"] for line in lines] == ["1", "0", "=cmd <script>"]

    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', page))
    assert client.post("/history/undo").status_code == 400
    for _again in range(2):
        assert client.post("/history/undo", data=form).status_code == 303
    assert client.post("/history/undo", data={"latest": form["latest"]}).status_code == 409
    assert client.get("/history/").text.count('<li class="event') == 4
