"""HTML prints every cell, needs no other file and asks for nothing."""

from __future__ import annotations

import re

import pytest

from tests.exporters.comparisons.comparisons import (
    three_runs,
)
from tests.exporters.comparisons.read_files import (
    HOSTILE,
    all_tables,
    hostile,
    html,
    rendered,
    shown,
)
from webapp.config import resource


@pytest.mark.usefixtures("language")
def test_html_prints_every_cell() -> None:
    assert html(rendered(three_runs(), "html")).tables == shown(all_tables(three_runs()))


def test_hostile_names_are_text_in_html() -> None:
    page = html(rendered(hostile(), "html"))

    assert "script" not in page.tags
    assert page.tables[0][1][1] == HOSTILE[0]


def test_the_html_file_asks_nothing_of_any_network() -> None:
    page = html(rendered(three_runs(), "html"))

    assert {"script", "link", "img", "iframe", "image", "use"} & set(page.tags) == set()
    assert {"src", "href"} & {name for name, _ in page.attributes} == set()
    assert "url(" not in rendered(three_runs(), "html")


def test_ids_of_the_html_file_are_unique() -> None:
    ids = [value for name, value in html(rendered(three_runs(), "html")).attributes if name == "id"]

    assert len(ids) == len(set(ids))


def test_the_style_of_the_html_file_is_that_of_its_file() -> None:
    """A browser reads no entities in a style: ``>`` stays as it is."""
    style = resource("static").joinpath("comparisons", "report.css").read_text("utf-8")

    assert f"<style>{style}</style>" in rendered(three_runs(), "html")


def test_each_row_of_the_html_file_is_named_by_its_first_words() -> None:
    page = rendered(three_runs(), "html")
    bodies = [part.partition("</tbody>")[0] for part in page.split("<tbody>")[1:]]
    rows = [row for body in bodies for row in body.split("<tr>")[1:]]
    of_questions = page.partition('<table id="table-questions"')[2].partition("<tbody>")[2]

    assert all(row.count('<th scope="row">') == 1 for row in rows)
    assert re.match(r'\s*<tr><td class="number"[^>]*>\d+</td><th scope="row">', of_questions)


def test_no_sentence_of_the_html_file_tears_a_value_from_its_name() -> None:
    page = rendered(three_runs(), "html")
    sentences = re.findall(r"<li>(.*?)</li>", page)

    assert any("[" in sentence and "p\N{NBSP}=" in sentence for sentence in sentences)
    assert not any(re.search(r"; [^\[]*\]|\b[np] =", sentence) for sentence in sentences)
