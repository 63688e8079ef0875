"""What holds of the texts of all pages of both demos: said once, whole, and in one state."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from relevansi.app import create_app
from relevansi.cli.frame.demo import prepared_demo
from relevansi.web.comparisons.comparisons import PARTS
from tests.page import Page
from tests.web.conftest import in_english
from tests.web.reached import reached

SHORT = 20
CUT = re.compile(r"\w…$")
BAND = re.compile(r"(\d+(?:[.,]\d+)?)%?–(\d+(?:[.,]\d+)?)%?")
LANGUAGES = ("en", "id")
KINDS = ("properties", "documents")


@pytest.fixture(name="pages", scope="module", params=KINDS)
def _pages(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FlaskClient, list[str]]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEVANSI_INSTANCE", str(tmp_path_factory.mktemp("texts")))
        settings = prepared_demo(documents=request.param == "documents")
    app = create_app(settings)
    client = in_english(app)
    yield client, [*_addresses(client)]
    app.extensions["database"].close()


def _addresses(client: FlaskClient) -> Iterator[str]:
    """Yield an address of every page that leads from the first one, and of every part."""
    found = reached(client, "/")
    yield from (address for address in found.values() if "." not in address.partition("?")[0])
    yield from (f"/comparisons/?part={part}" for part in PARTS)
    for run in dict.fromkeys(Page(client.get("/runs/")).links("tbody th a")):
        yield from (f"{run}?part={part}" for part in ("questions", "categories", "exports"))
        yield f"{run}?rule=adjudicated"


def _read(client: FlaskClient, address: str, language: str) -> Page:
    client.post("/language", data={"to": language})
    answer = client.get(address, follow_redirects=True)
    assert answer.status_code == 200, address
    return Page(answer).one("main")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_line_stands_twice_and_none_ends_inside_a_word(
    pages: tuple[FlaskClient, list[str]], language: str
) -> None:
    client, addresses = pages
    assert len(addresses) > 30

    for address in addresses:
        page = _read(client, address, language)
        twice = [
            one.text
            for one in page.all("p, h2, h3, dt")
            if len(one.text) > SHORT and one.text == one.before
        ]
        assert not twice, (address, twice[:1])
        cut = [one for one in page.texts("p, li, td, th, summary, dd") if CUT.search(one)]
        assert not cut, (address, cut[:1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_open_figure_is_a_band_and_a_complete_page_has_none(
    pages: tuple[FlaskClient, list[str]], language: str
) -> None:
    """Whoever looks reads a value only where nothing can move it any more."""
    client, addresses = pages
    complete, provisional = {"en": ("Complete", "(provisional)"), "id": ("Lengkap", "(sementara)")}[
        language
    ]

    for address in addresses:
        page = _read(client, address, language)
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
