from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.page import Page
from tests.services.evaluations.scored_files import ANSWERS, CHUNKS, lines
from tests.web.evaluations.scored import scored


def test_sentences_are_told_apart_by_word_and_sign_beside_their_context(
    client: FlaskClient,
) -> None:
    base = scored(client, "answers")
    item, second = (Page(client.get(f"{base}/items/{n}")) for n in (1, 2))

    assert "✓ Supported cosine 0.80 Ada tiga kamar [CIT:d1]. d1 Rumah tiga kamar di" in item
    assert "✗ No citation cosine 0.10 Harganya murah." in item
    assert "– Says “I don't know” Tidak tahu." in item
    assert "✗ Cites what is not among the contexts" in second


def test_words_in_common_and_missed_are_marked_and_surplus_is_listed(client: FlaskClient) -> None:
    page = Page(client.get(scored(client, "chunks") + "/items/1"))

    assert page.texts("mark.common").count("rumah") == 2  # expected and the chunk
    assert "cemara" in page.texts("mark.missed")
    assert "besar · kolam · renang" in page


def test_fields_stand_side_by_side_with_their_points_and_why(client: FlaskClient) -> None:
    page = Page(client.get(scored(client, "json-v2") + "/items/1"))

    assert "✓ Target audience 10 of 10 points One text contains the other." in page
    assert "✗ Main topic 0 of 10 points Jaccard of character pairs 0.00, below 0.72." in page
    assert "1 pair; 1 expected, 1 given and looked at, 0 beyond the limit." in page
    assert "2 pairs; 2 expected, 2 given and looked at, 0 beyond the limit." in page
    assert "1 of 1 references lead back to the contexts. Contexts a.md References a.md" in page


def test_a_failed_output_says_why_and_is_shown_as_it_came(client: FlaskClient) -> None:
    page = client.get(scored(client, "json-v2") + "/items/2").text

    assert "This output failed: 0 points." in page
    assert "The object is inside a code fence." in page
    assert "```json" in page


def test_items_can_be_narrowed_to_those_that_failed(client: FlaskClient) -> None:
    base = scored(client, "answers")

    failed = client.get(f"{base}/items?show=failed").text

    assert [f"/items/{n}" in failed for n in (1, 2, 3)] == [True, True, False]
    assert client.get(f"{base}/items?show=failed&page=9").status_code == 200


WORDS = "kolam " * 60_000
SENTENCES = {"answer": "Ada kamar [CIT:d1]. " * 5_000, "claim_similarities": [0.5] * 5_000}


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("chunks", {**CHUNKS[0], "retrieved_chunks": [WORDS, "rumah"], "expected_answer": WORDS}),
        ("answers", {**ANSWERS[0], **SENTENCES, "contexts": [{"id": "d1", "text": WORDS}]}),
        ("answers", {**ANSWERS[0], "question": WORDS}),
    ],
)
def test_a_row_that_is_too_long_makes_a_page_that_says_so(
    client: FlaskClient, kind: str, row: dict[str, Any]
) -> None:
    base = scored(client, kind, lines(row))
    page = client.get(f"{base}/items/1").text

    assert len(page) < 700_000
    assert len(client.get(f"{base}/items").text) < 50_000
    assert ("too long for a page" in page) == (row["question"] != WORDS)


def test_what_a_page_has_room_for_is_not_cut(client: FlaskClient) -> None:
    row = {**CHUNKS[0], "retrieved_chunks": ["kolam " * 1_000, *("rumah" for _ in range(99))]}
    page = client.get(scored(client, "chunks", lines(row)) + "/items/1").text

    assert page.count("kolam") > 1_000
    assert "too long for a page" not in page
