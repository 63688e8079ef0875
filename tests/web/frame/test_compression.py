"""Text is sent compressed to those who take it."""

from __future__ import annotations

from flask.testing import FlaskClient


def test_text_is_compressed_for_those_who_take_it(client: FlaskClient) -> None:
    sizes = {}
    for taken in ("gzip", "identity"):
        with client.get("/static/frame/app.css", headers={"Accept-Encoding": taken}) as answer:
            sizes[taken] = len(answer.data)
            assert answer.headers.get("Content-Encoding", "identity") == taken

    assert sizes["gzip"] < sizes["identity"] / 2


def test_a_part_of_a_file_is_sent_as_the_file_has_it(client: FlaskClient) -> None:
    """A browser that resumes a download joins the part to bytes that are not compressed."""
    address, headers = "/static/frame/app.css", {"Accept-Encoding": "gzip"}
    with client.get(address, headers={**headers, "Range": "bytes=1000-3999"}) as part:
        assert (part.status_code, len(part.data)) == (206, 3000)
        assert "Content-Encoding" not in part.headers


def test_a_short_answer_and_one_without_a_text_are_sent_as_they_are(client: FlaskClient) -> None:
    headers = {"Accept-Encoding": "gzip"}
    with (
        client.get("/healthz", headers=headers) as short,
        client.get("/static/frame/icon.svg", headers=headers) as picture,
    ):
        assert "Content-Encoding" not in short.headers
        assert "Content-Encoding" not in picture.headers


def test_caches_are_told_that_the_answer_depends_on_what_is_taken(client: FlaskClient) -> None:
    for taken in ("gzip", "identity"):
        answer = client.get("/", headers={"Accept-Encoding": taken})
        assert "Accept-Encoding" in answer.vary
        assert ("Content-Encoding" in answer.headers) == (taken == "gzip")
