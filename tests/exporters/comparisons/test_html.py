"""HTML prints every cell, stands alone and asks for nothing."""

from __future__ import annotations

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
