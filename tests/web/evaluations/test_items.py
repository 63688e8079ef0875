from __future__ import annotations

import re

from flask.testing import FlaskClient

from tests.page import Page
from tests.web.conftest import PART
from tests.web.evaluations.scored import judge, scored


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


def test_a_word_is_stored_shown_and_taken_back_without_a_script(client: FlaskClient) -> None:
    item = scored(client, "answers") + "/items/1"
    answer = judge(client, item, "1", 1)
    page = Page(client.get(item))

    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{item}#part-1"
    assert page.values("[aria-pressed=true]", "id") == ["say-1-1"]
    assert page.one("#say-1-1")["value"] == ""
    assert "The machine says otherwise" in page
    judge(client, item, "1", "")
    part = Page(judge(client, item, "0", 0, **PART))
    assert part.is_part
    assert part.has("#item")
    judge(client, item, "0", "")
    assert not Page(client.get(item)).has("[aria-pressed=true]")
    judge(client, item, "grade", 4)
    pressed = Page(client.get(item)).one("[aria-pressed=true]")
    assert (pressed["id"], pressed["value"]) == ("grade-4", "")
    undone = client.post(f"{item}/undo")
    assert undone.headers["Location"] == item
    assert not Page(client.get(item)).has("[aria-pressed=true]")


def test_items_can_be_narrowed_to_those_that_failed_or_divide(client: FlaskClient) -> None:
    base = scored(client, "answers")
    judge(client, f"{base}/items/3", "0", 0)  # the machine says supported

    failed = client.get(f"{base}/items?show=failed").text
    divided = client.get(f"{base}/items?show=disagreements").text

    assert [f"/items/{n}" in failed for n in (1, 2, 3)] == [True, True, False]
    assert [f"/items/{n}" in divided for n in (1, 2, 3)] == [False, False, True]
    assert "1 differs" in divided
    assert client.get(f"{base}/items?show=judged&page=9").status_code == 200


def test_people_are_put_beside_the_machine(client: FlaskClient) -> None:
    base = scored(client, "answers")
    assert client.get(f"{base}/people").status_code == 200
    for position, part, value in [(1, "0", 1), (1, "1", 1), (2, "0", 0), (3, "0", 0)]:
        judge(client, f"{base}/items/{position}", part, value)
    for position, grade in [(1, 3), (2, 0), (3, 5)]:
        judge(client, f"{base}/items/{position}", "grade", grade)

    page = Page(client.get(f"{base}/people"))

    # machine ✓ ✗ ✗ ✓ against people ✓ ✓ ✗ ✗: agreed 2 of 4, kappa 0
    assert "Machine ✓ 1 1 Machine ✗ 1 1" in page
    assert re.search(r"All 4 0\.50 0\.00 .*?0\.50 0\.50", page.text)
    # overlap 0.5, 0, 1 against 3, 0, 5; fewer than 5 have no interval
    assert re.search(r"Supported claims \(overlap\) 3 1\.00 .*? 1\.00", page.text)
    assert "1 of 2 parts differ · grade 3 of 5, Supported claims (overlap) 0.50" in page
    assert "✓ 2 ✗ 0 grade 3 " in Page(client.get(f"{base}/items"))
