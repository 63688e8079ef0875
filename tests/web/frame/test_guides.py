"""The guides as pages: in the reader's language, with links that lead somewhere, for everybody."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from relevansi.config import resource
from tests.page import Page

DOCS = resource("docs")
GUIDES = sorted(path.stem for path in (DOCS / "en").glob("*.md"))
REFERENCES = sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "figures")


def guide(client: FlaskClient, name: str, language: str = "en") -> Page:
    answer = client.get(f"/help/{name}", headers={"Accept-Language": language})
    assert answer.status_code == 200, name
    return Page(answer).one("article.guide")


def test_a_guide_is_shown_in_the_reader_s_language_with_its_parts_and_pictures(
    client: FlaskClient,
) -> None:
    page = guide(client, "raters")

    assert page.count("img") == 3
    assert page.has("img[src*='rating-phone-en.png'][width='243'][height='448']")
    pages = [page, guide(client, "raters", "id"), guide(client, "chatbots", "id")]
    assert [(text["class"], text["lang"]) for text in pages] == [
        ("text guide leaf", "en"),
        ("text guide leaf", "id"),
        ("text guide", "en"),
    ]
    assert "#10-hand-it-in" in guide(client, "thesis").links()
    assert client.get("/help/figures").location == "/measures/"
    for nowhere in ("nothing", "Raters", "..%2Fen%2Fraters", "%2e%2e", "site"):
        assert client.get(f"/help/{nowhere}").status_code == 404


@pytest.mark.parametrize("name", REFERENCES)
def test_tables_are_reached_by_keys_and_have_no_style_that_the_policy_forbids(
    client: FlaskClient, name: str
) -> None:
    page = guide(client, name)

    assert not page.has("[style]")
    assert not page.has("table:not([tabindex='0'])")
    assert page.has("td.n") == ("-:" in (DOCS / f"{name}.md").read_text("utf-8"))


@pytest.mark.parametrize("language", ["en", "id"])
def test_links_and_pictures_of_guides_lead_somewhere(client: FlaskClient, language: str) -> None:
    anchors: dict[str, set[str]] = {}
    for name in (*GUIDES, *REFERENCES):
        page = guide(client, name, language)
        for target in page.values("[href]", "href") + page.values("[src]", "src"):
            address, _, anchor = target.partition("#")
            if "://" not in target:
                anchors.setdefault(address or f"/help/{name}", set()).add(anchor)

    for address, names in anchors.items():
        assert address.startswith("/help/"), address
        spoken = {"Accept-Language": language}
        with client.get(address, headers=spoken, follow_redirects=True) as led:
            assert led.status_code == 200, address
            if names != {""}:
                ids = Page(led.get_data(as_text=True)).values("[id]", "id")
                assert names - {"", *ids} == set(), address
