"""A further language is one catalogue: the pages take longer words, and lines from right to left.

The languages are invented (``tests.further_languages``), and the product is not told of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, ViewportSize

from tests import further_languages
from tests.browser import demo_server
from tests.browser.axe import LAPTOP, TOO_WIDE
from tests.browser.server import ROOT, Server
from tests.further_languages import LONG, RIGHT_TO_LEFT
from tests.web.conftest import in_english
from tests.web.reached import reached
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.metrics.judging.registry import MEASURES

pytestmark = pytest.mark.browser

PHONE: ViewportSize = {"width": 390, "height": 844}
OF_NAMES = {
    *("measures.show", "guides.figures", "participants.consent"),
    *("findings.show", "constraints.show", "constraints.question"),
    *("machine_judges.index", "machine_judges.show"),
}
"""Pages full of sources, names of files and of models: only their lines are looked at."""
NAMES = """Relevansi Eval SHA RR TP FP FN TN SHM HGB SVG PNG PDF Markdown LaTeX HTML XLSX JSON
Feb פבר שנ Bahasa Indonesia English API Only Vector Hybrid openai gemini llama Mesin
Fleiss Cohen Hayes Krippendorff Gwet Psychological Bulletin Educational and Measurement
Communication Methods Measures British Journal of Mathematical Statistical Psychology"""
"""Names of formats, people and works, of times as Babel writes them, and labels of runs."""

WORD = re.compile(r"\b[^\W\d_]{2,}\b")
DIRECTIONS = {LONG: "ltr", RIGHT_TO_LEFT: "rtl"}

OUTSIDE = """() => {
  // What people and files say has a direction of its own; code and names of keys have no language.
  const own = "script, style, template, code, kbd, pre, svg, time, textarea, [dir=auto], [lang]";
  const found = [];
  const look = (text, depth = 0) => {
    let outside = "";
    for (const letter of text) {
      if (letter === "⟧") depth -= 1;
      if (!depth && letter !== "⟧" && letter !== "⟦") outside += letter;
      if (letter === "⟦") depth += 1;
    }
    if (/\\p{L}{2}/u.test(outside)) found.push(outside.trim().replace(/\\s+/g, " "));
    return depth;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let depth = 0;
  while (texts.nextNode()) {
    if (!texts.currentNode.parentElement.closest(`:is(${own}):not(html)`)) {
      depth = look(texts.currentNode.data, depth);
    }
  }
  for (const name of ["title", "aria-label", "placeholder", "alt"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) {
      if (!one.closest(`:is(${own}):not(html)`)) look(one.getAttribute(name));
    }
  }
  return [...new Set(found)];
}"""
"""The words of a page, to be seen or heard, that are in no catalogue."""


class TranslatedServer(Server):
    """The server of the product with two more catalogues."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "instance")
        self.package = further_languages.package(folder)

    def environment(self) -> dict[str, str]:
        """Return all that it knows of its surroundings."""
        found = {"PYTHONPATH": str(self.package), "PYTHONSAFEPATH": "1"}  # not from where we are
        return super().environment() | found | demo_server.names_file(self)


@pytest.fixture(name="translated")
def _translated(demo_file: Path, tmp_path: Path) -> Iterator[TranslatedServer]:
    """A server of the demo's study."""
    server = TranslatedServer(tmp_path)
    with demo_server.serving(server, demo_file):
        yield server


@pytest.mark.thorough
def test_a_further_language_needs_its_catalogue_alone(
    translated: TranslatedServer, open_tab: Callable[..., Page]
) -> None:
    """Each word of a page is in it, and nothing is wider than a phone."""
    faults: list[str] = []
    paths = _paths(demo_server.file_of(translated))
    tabs = {
        code: open_tab(locale=code, service_workers="block", reduced_motion="reduce")
        for code in DIRECTIONS
    }
    for code, page in tabs.items():
        page.goto(translated.url)
        html = page.locator("html")
        assert (html.get_attribute("lang"), html.get_attribute("dir")) == (code, DIRECTIONS[code])
        assert page.locator(".languages button").count() == 4
        for name, path in paths.items():
            faults += looked_at(page, translated.url + path, has_names=name in OF_NAMES)
    translated.post("/study/", {"name": "Studi", "blind": "yes", "repeat_percent": "0"})
    for page in tabs.values():
        faults += looked_at(page, translated.url + "/rate/")
        assert page.locator("[data-position]").count()

    assert faults == []


def looked_at(page: Page, address: str, *, has_names: bool = False) -> list[str]:
    """Return the faults of a page on a laptop and on a phone; names are in no catalogue."""
    page.set_viewport_size(LAPTOP)
    page.goto(address)
    known = known_words()
    found = [
        f"not translated: {text}"
        for text in page.evaluate(OUTSIDE)
        if not has_names and not known.issuperset(WORD.findall(text))
    ]
    page.set_viewport_size(PHONE)
    found += page.evaluate(TOO_WIDE)
    return [f"{address} {page.locator('html').get_attribute('lang')}: {one}" for one in found]


@cache
def known_words() -> frozenset[str]:
    """Return the words that are the same in every language: of the data, of sources, and names."""
    data = [path.read_text("utf-8") for path in (ROOT / "seeds").rglob("*.json")]
    sources = [measure.source for measure in MEASURES.values()]
    return frozenset(WORD.findall(" ".join([*data, *sources, NAMES])))


def _paths(file: Path) -> dict[str, str]:
    """Return the address of one page of each kind that the owner of the demo reaches."""
    app = create_app(Settings(sqlite_url(file), file.parent, is_demo=True))
    found = reached(in_english(app), "/")
    app.extensions["database"].close()
    return {name: one for name, one in found.items() if "." not in urlsplit(one).path}
