"""The map of a gold question: its point is where it was clicked, on the narrowest phone too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import serving
from tests.services.gold.gold_files import stored_run
from tests.stored_studies import study_in
from webapp.services.study import studies

pytestmark = pytest.mark.browser

EDGES = """(map) => {
  const box = map.getBoundingClientRect();
  return [map.scrollWidth - map.clientWidth, map.scrollHeight - map.clientHeight,
    document.documentElement.scrollWidth, box.left >= 0 && box.right <= innerWidth];
}"""


def test_the_map_is_whole_on_a_phone_and_never_widens_its_page(
    tmp_path: Path, open_tab: Callable[..., Page]
) -> None:
    with study_in(tmp_path) as (session, study):
        stored_run(session, study, studies.raters(session, study)[0])
    with serving(tmp_path) as server:
        page = open_tab()
        page.goto(f"{server.url}/gold/1/questions/1")
        for width in (360, 390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.locator(".map").evaluate(EDGES) == [0, 0, width, True]
        page.set_viewport_size({"width": 320, "height": 800})
        assert page.locator(".map").evaluate(EDGES)[2:] == [320, True]
