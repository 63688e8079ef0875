"""What holds of the texts of all pages of both demos: said once, whole, and in one state."""

from __future__ import annotations

import re

import pytest

from relevansi.app import create_app
from relevansi.cli.frame.demo import prepared_demo
from tests.page import Page
from tests.web.conftest import in_english
from tests.web.reached import opened

SHORT = 20
CUT = re.compile(r"\w…$")
BAND = re.compile(r"(\d+(?:[.,]\d+)?)%?–(\d+(?:[.,]\d+)?)%?")
STATES = {"en": ("Complete", "(provisional)"), "id": ("Lengkap", "(sementara)")}


@pytest.fixture(name="pages", scope="module", params=[("properties", "id"), ("documents", "en")])
def _pages(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, Page]]:
    """A language, and the main part of every page of a demo in it by its address."""
    kind, language = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEVANSI_INSTANCE", str(tmp_path_factory.mktemp("texts")))
        settings = prepared_demo(documents=kind == "documents")
    app = create_app(settings)
    client = in_english(app)
    client.post("/language", data={"to": language})
    pages = {address: page for _, address, page in opened(client, "/") if page is not None}
    for run in dict.fromkeys(pages["/runs/"].links("tbody th a")):
        for query in ("part=questions", "part=categories", "part=exports", "rule=adjudicated"):
            pages[f"{run}?{query}"] = Page(client.get(f"{run}?{query}", follow_redirects=True))
    app.extensions["database"].close()
    assert len(pages) > 40
    return language, {address: page.one("main") for address, page in pages.items()}


def test_no_line_stands_twice_and_none_ends_inside_a_word(
    pages: tuple[str, dict[str, Page]],
) -> None:
    for address, page in pages[1].items():
        twice = [
            line.text
            for line in page.all("p, h2, h3, dt")
            if len(line.text) > SHORT and line.text == line.before
        ]
        assert not twice, (address, twice[:1])
        cut = [text for text in page.texts("p, li, td, th, summary, dd") if CUT.search(text)]
        assert not cut, (address, cut[:1])


def test_an_open_figure_is_a_band_and_a_complete_page_has_none(
    pages: tuple[str, dict[str, Page]],
) -> None:
    """Whoever looks reads a value only where nothing can move it any more."""
    language, by_address = pages
    complete, provisional = STATES[language]

    for address, page in by_address.items():
        for text in page.texts(".value.open"):
            band = BAND.match(text)
            assert band, (address, text)
            low, high = (float(end.replace(",", ".")) for end in band.groups())
            assert low < high, (address, text)
        for text in page.texts(".value:not(.open)"):
            assert not BAND.match(text), (address, text)
        states = page.texts("#state, #finished")
        assert len(states) < 2, address
        if states == [complete]:
            assert not page.has(".value.open"), address
            assert provisional not in page.text, address
