"""A filter leads through its questions and stays with every address."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.web.rating.blind_study import begin, keys, ways
from tests.web.rating.open_answers import place


def test_the_filter_stays_with_every_address(client: FlaskClient, run_id: str) -> None:
    page = client.get(f"{place(run_id, 1)}?open=1&category=area").text

    walk = re.findall(r'data-walk[^>]*href="([^"]+)"', page)
    assert walk
    assert all("open=1" in address and "category=area" in address for address in walk)
    answer = client.post(
        f"{place(run_id, 1)}/results/1/judgment?open=1&category=area", data={"relevance": "1"}
    )
    assert answer.location == f"{place(run_id, 1)}?open=1&category=area#rank-1"


def test_choosing_a_category_goes_to_its_first_open_question(
    client: FlaskClient, run_id: str
) -> None:
    answer = client.get(f"{place(run_id, 1)}?category=price")

    assert answer.status_code == 303
    assert answer.location == f"{place(run_id, 3)}?category=price"
    assert client.get(f"{place(run_id, 1)}?category=none").status_code == 200


@pytest.mark.usefixtures("run_ids")
def test_the_filter_stays_with_every_address_of_a_blind_question(client: FlaskClient) -> None:
    """Without one the addresses are as they always were."""
    client.get(begin(client))
    plain = begin(client)
    assert "?" not in re.sub(r"/rate/\?after=|[?]v=|/\?", "", mine(client.get(plain).text))

    answer = client.get(f"{plain}?category=context_followup")
    assert (answer.status_code, answer.location) == (303, "/rate/?category=context_followup")
    address = client.get(answer.location).location
    assert re.fullmatch(r"/rate/[\w-]+\?category=context_followup", address)
    html = client.get(address).text
    assert '<option value="context_followup" selected>' in html
    for part in ("judgment", "later"):
        assert f"/{part}?category=context_followup" in html
    further = ways(html)["l"]
    assert further is not None
    assert further.endswith("&category=context_followup")
    assert client.get(further).location.endswith("?category=context_followup")
    key = keys(html)[0]
    answer = client.post(address.replace("?", "/judgment?"), data={"card": key, "relevance": "1"})
    assert answer.location.startswith(address)
    assert client.get("/rate/?category=nowhere").location == "/rate/"


def mine(html: str) -> str:
    """Return the addresses of blind questions on a page."""
    return " ".join(re.findall(r'"(/rate/[^"]*)"', html))
