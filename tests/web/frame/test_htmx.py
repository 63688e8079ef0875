"""A request for a part of a page is told from one for the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from msgspec import Struct

from tests.web.conftest import PART
from webapp.web.frame import htmx
from webapp.web.rating import judgments


def test_only_one_module_knows_the_headers_of_htmx() -> None:
    package = Path(judgments.__file__).parents[2]
    found = [path.name for path in package.rglob("*.py") if "HX-" in path.read_text("utf-8")]

    assert found == ["htmx.py"]


class Greeting(Struct, frozen=True):
    """The context of a template of one word."""

    name: str


@pytest.mark.parametrize(
    ("headers", "part"),
    [({}, False), ({"HX-Request-Type": "full"}, False), ({"HX-Request-Type": "partial"}, True)],
)
def test_only_a_request_that_swaps_the_answer_wants_a_part(
    app: Flask, headers: dict[str, str], part: bool
) -> None:
    with app.test_request_context("/", headers=headers):
        assert htmx.wants_part() == part


def test_an_answer_that_differs_by_what_is_wanted_says_so_to_caches(
    client: FlaskClient, run_id: str
) -> None:
    address = f"/runs/{run_id}/queries/1/rating"
    refused = {"event_id": "one", "quality": "9"}
    answers = [client.post(address, data=refused, headers=headers) for headers in ({}, PART)]

    assert ["<html" in answer.text for answer in answers] == [True, False]
    assert all("HX-Request-Type" in str(answer.vary) for answer in answers)


def test_a_page_that_is_to_load_anew_is_told_so_by_one_header() -> None:
    answer = htmx.reload()

    assert (answer.data, answer.headers["HX-Refresh"]) == (b"", "true")


def test_a_template_may_use_the_fields_of_its_context() -> None:
    assert htmx.names(Greeting("Ani")) == {"name": "Ani"}
