"""A chatbot's text is shown and cannot run anything."""

from __future__ import annotations

from time import process_time

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from relevansi.db.engine import Database
from relevansi.web.frame.markdown import MOST_IN_A_LINE, line, link, render
from tests.services.runs.runs import card, query
from tests.web.conftest import stored

SECONDS = 30
"""Far more than it takes on a slow machine; what goes back over a text would take minutes."""


def test_links_open_apart_and_pictures_load_only_where_they_are_wanted() -> None:
    html = render("[Lihat Detail](https://listing.example/a)")
    assert 'target="_blank"' in html
    assert 'rel="noopener noreferrer nofollow ugc"' in html
    text = "![rumah](https://listing.example/a.jpg)"
    assert "<img" not in render(text)
    assert 'referrerpolicy="no-referrer"' in render(text, pictures=True)


def test_an_endless_title_is_cut(client: FlaskClient, web_database: Database) -> None:
    run_id = stored(web_database, [query(1, card("a", title="x" * 1_000_000))])

    page = client.get(f"/runs/{run_id}/queries/1")

    assert len(line("x" * 1_000_000)) == MOST_IN_A_LINE + 1
    assert len(page.data) < 60_000


@pytest.mark.parametrize("text", ["[" * 50_000, "*a " * 50_000, "> " * 20_000, "`" * 50_001])
def test_no_text_takes_long(text: str) -> None:
    start = process_time()
    render(text)

    assert process_time() - start < SECONDS


def test_what_nobody_sees_is_left_out() -> None:
    assert line("rumah\ud800 murah\udc80") == "rumah murah"
    assert str(render("rumah\udc80")) == "<p>rumah</p>\n"
    assert str(render("Rp\u202e000.1\u2066x\u200f")) == "<p>Rp000.1x</p>\n"


def test_all_of_a_text_longer_than_any_answer_is_shown_as_it_was_written() -> None:
    start = process_time()
    html = render("LT 1m² <b> " * 300_000, uncut=True)

    assert html == "<pre>" + "LT 1m² &lt;b&gt; " * 300_000 + "</pre>"
    assert process_time() - start < SECONDS


def test_a_long_answer_is_cut_until_all_of_it_is_asked_for(
    client: FlaskClient, web_database: Database
) -> None:

    long = replace(query(1, card("a")), response="kata " * 6_000 + "akhir")
    run_id = stored(web_database, [long])

    assert "akhir" not in client.get(f"/runs/{run_id}/queries/1").text
    assert "akhir" in client.get(f"/runs/{run_id}/queries/1?whole=1").text


@pytest.mark.parametrize(
    "url", ["", "/a", "ftp://a.example", "https:", "http://[", "//a.example", "mailto:a@b.c"]
)
def test_only_web_addresses_are_links(url: str) -> None:
    assert link(url) is None
