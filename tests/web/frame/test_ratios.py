"""Pages write ratios as their reader chose in this browser; files and reports keep decimals."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database


@pytest.fixture(name="pair")
def _pair(client: FlaskClient, web_database: Database) -> tuple[str, str]:
    """One run with one of two cards relevant and quality 4, and one with both relevant and 5."""
    found = []
    for method, verdicts, quality in (("api", "10", "4"), ("hybrid", "11", "5")):
        cards = [card(f"{method}-{rank}") for rank in (1, 2)]
        run_id = stored(web_database, [query(1, *cards)], method=method)
        address = f"/runs/{run_id}/queries/1"
        for rank, verdict in enumerate(verdicts, start=1):
            client.post(f"{address}/results/{rank}/judgment", data={"relevance": verdict})
        client.post(f"{address}/rating", data={"quality": quality})
        found.append(run_id)
    return found[0], found[1]


def test_ratios_are_written_as_the_reader_chose(client: FlaskClient, pair: tuple[str, str]) -> None:
    first, second = pair
    run = f"/runs/{first}"
    comparison = f"/comparisons/?runs={first}&runs={second}&part=differences"
    files = [f"{run}/export.csv", f"{run}/report.md", f"{run}/metrics.json"]
    files += [
        f"/comparisons/{name}?runs={first}&runs={second}"
        for name in ("report.markdown", "report.html", "intervals.svg")
    ]
    before = {address: client.get(address).data for address in files}
    assert "0.50" in client.get(run).text

    answer = client.post(
        "/ratios", data={"to": "percent"}, headers={"Referer": f"http://localhost{run}"}
    )

    assert (answer.status_code, answer.location) == (303, run)
    page = client.get(run).text
    assert 'value="percent" class="quiet" aria-current="true">94%<' in page
    assert "50%" in page
    assert "4.00" in page
    assert "0.50" not in page
    compared = client.get(comparison).text
    assert "−50 points" in compared  # precision 1/2 and 2/2
    assert "−1.00" in compared
    assert "−100" not in compared
    assert "−0.50" not in compared
    assert ">0.5<" not in compared
    client.post("/language", data={"to": "id"})
    assert "50%" in client.get(run).text
    assert "−50 poin" in client.get(comparison).text
    client.post("/language", data={"to": "en"})
    assert {address: client.get(address).data for address in files} == before

    client.post("/ratios", data={"to": "decimals"})
    assert "0.50" in client.get(run).text


def test_no_link_changes_how_ratios_are_written(client: FlaskClient) -> None:
    assert client.get("/ratios?to=percent").status_code == 405
    assert client.post("/ratios", data={"to": "words"}).status_code == 400
