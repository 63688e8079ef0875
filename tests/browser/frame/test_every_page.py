"""Claims about every page: axe finds nothing, it fits a phone, its requests, policy and title.

Each page is opened once and seen as a laptop has it, light, then as a phone has it, dark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, Request

from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url
from tests.browser import demo_server
from tests.browser.axe import faults
from tests.browser.pages import PAGES, Study, visit
from tests.browser.server import ROOT, Server
from tests.web.conftest import in_english
from tests.web.phase_3.participants import as_participant, personal_link
from tests.web.reached import as_rater, reached

pytestmark = pytest.mark.browser

EACH_TIME = {"home", "run", "comparison", "rating: cards", "blind rating: cards"}
"""The pages that the test command looks at; `nox -s thorough` looks at all.

They share their styles and most parts of their templates with the others.
"""

WORDS = """() => {
  const whole = document.querySelector("dialog:modal") ?? document.body;
  const texts = document.createTreeWalker(whole, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let words = 0;
  while (texts.nextNode()) {
    const around = texts.currentNode.parentElement;
    range.selectNodeContents(texts.currentNode);
    const { width, top, bottom } = range.getBoundingClientRect();
    if (!width || top >= innerHeight || bottom <= 0 || !around.checkVisibility()) continue;
    if (around.closest(".vh, svg, code, kbd, pre, .facts, [dir=auto]")) continue;
    words += (texts.currentNode.data.match(/\\p{L}{2,}/gu) ?? []).length;
  }
  return words;
}"""
"""How many words of ours the first screen has: what people and files say is not counted."""
MOST_WORDS = 150
OURS = ("http://127.0.0.1:", "data:", "about:blank")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in EACH_TIME else pytest.mark.thorough) for name in PAGES],
)
def test_a_page_is_for_everybody_fits_a_phone_and_asks_nobody_else(
    study: Study, open_tab: Callable[..., Page], name: str
) -> None:
    """Each page in each state: light on a laptop, then dark on a phone, however narrow that is.

    No picture, font, script or ping comes from elsewhere, no policy allows anything inline, and
    a screen reader has a title to say first and one heading to start from.
    """
    page = open_tab(reduced_motion="reduce", service_workers="block")
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright marks it
    visit(page, study, name)
    assert requests
    assert [each.url for each in requests if not each.url.startswith(OURS)] == []
    answers = [answer for each in requests if (answer := each.existing_response)]
    policies = {answer.headers.get("content-security-policy", "") for answer in answers}
    assert policies
    assert all("default-src 'self'" in policy and "unsafe" not in policy for policy in policies)
    assert page.title().endswith(" · Relevansi")
    assert page.title() != " · Relevansi"
    assert page.locator("h1:visible").count() == 1
    page.set_viewport_size({"width": 1366, "height": 768})
    assert page.evaluate(WORDS) <= MOST_WORDS

    assert faults(page) == []


@pytest.fixture(name="server_of_demo")
def _server_of_demo(demo_file: Path, tmp_path: Path) -> Iterator[Server]:
    server = demo_server.DemoServer(tmp_path / "instance")
    with demo_server.serving(server, demo_file):
        yield server


@pytest.fixture(name="demo")
def _demo(server_of_demo: Server) -> Iterator[Flask]:
    file = demo_server.file_of(server_of_demo)
    app = create_app(Settings(sqlite_url(file), file.parent, is_demo=True))
    yield app
    app.extensions["database"].close()


@pytest.mark.thorough
def test_every_page_of_the_demo_is_for_everybody_with_all_of_it_unfolded(
    demo: Flask, server_of_demo: Server, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(reduced_motion="reduce", service_workers="block")
    guides = {f"/help/{file.stem}" for file in (ROOT / "docs" / "id").glob("*.md")}
    guides |= {f"/help/{file.stem}" for file in (ROOT / "docs").glob("*.md")}
    of_owner = _pages(reached(in_english(demo), "/"))
    result = _looked_at(page, server_of_demo, sorted(of_owner | guides))

    page.goto(f"{server_of_demo.url}/sign-in")
    page.locator("button[name=rater][value='2']").click()
    of_rater = _pages(reached(as_rater(demo), "/")) - of_owner | {"/"}
    result += _looked_at(page, server_of_demo, sorted(of_rater))

    page.goto(server_of_demo.url + personal_link(demo))
    page.locator("button[value=yes]").click()
    of_participant = _pages(reached(as_participant(demo), "/ask/"))
    result += _looked_at(page, server_of_demo, sorted(of_participant - of_owner))

    assert len(of_owner) > 40
    assert result == []


def _pages(addresses: Mapping[str, str]) -> set[str]:
    return {address for address in addresses.values() if "." not in address.partition("?")[0]}


def _looked_at(page: Page, server: Server, addresses: Iterable[str]) -> list[str]:
    faulty = []
    for address in addresses:
        answer = page.goto(server.url + address)
        assert answer is not None
        assert answer.ok, address
        assert page.locator("h1:visible").count() == 1, address
        page.locator("details:not(.menu) > summary").evaluate_all(
            "all => all.forEach((one) => one.parentElement.open = true)"
        )
        faulty += [f"{address}: {fault}" for fault in faults(page)]
    return faulty
