"""The guides as pages: in the reader's language, with links that lead somewhere, for everybody."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from webapp.config import resource

DOCS = resource("docs")
GUIDES = sorted(path.stem for path in (DOCS / "en").glob("*.md"))
REFERENCES = sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "figures")


def text_of(client: FlaskClient, address: str, language: str = "en") -> str:
    answer = client.get(address, headers={"Accept-Language": language})
    assert answer.status_code == 200, address
    return answer.get_data(as_text=True)


def test_a_guide_is_shown_in_the_reader_s_language_with_its_parts_and_pictures(
    client: FlaskClient,
) -> None:
    page = text_of(client, "/help/raters")

    assert '<article class="guide leaf" lang="en">' in page
    assert page.count("<img") == 3
    assert re.search(r'src="[^"]+rating-phone-en\.png"[^>]* width="243" height="448"', page)
    assert '<article class="guide leaf" lang="id">' in text_of(client, "/help/raters", "id")
    assert '<article class="guide" lang="en">' in text_of(client, "/help/chatbots", "id")
    assert '<a href="#10-hand-it-in">' in text_of(client, "/help/thesis")
    assert client.get("/help/figures").location == "/measures/"
    for nowhere in ("nothing", "Raters", "..%2Fen%2Fraters", "%2e%2e", "site"):
        assert client.get(f"/help/{nowhere}").status_code == 404


@pytest.mark.parametrize("name", REFERENCES)
def test_tables_are_reached_by_keys_and_have_no_style_that_the_policy_forbids(
    client: FlaskClient, name: str
) -> None:
    text = text_of(client, f"/help/{name}")

    assert " style=" not in text
    assert text.count("<table") == text.count('<table tabindex="0"')
    assert ('<td class="n"' in text) == ("-:" in (DOCS / f"{name}.md").read_text("utf-8"))


def test_the_cells_of_a_wide_table_are_named_for_phones(client: FlaskClient) -> None:
    wide, narrow = (text_of(client, f"/help/{name}") for name in ("faults", "operations"))

    assert '<table tabindex="0" class="blocks">' in wide
    row = re.search(r"<tr>\s*<td.*?</tr>", wide, re.DOTALL)
    heads = re.search(r"<tr>\s*<th.*?</tr>", wide, re.DOTALL)
    assert row
    assert heads
    assert re.findall('data-label="([^"]*)"', row[0]) == re.findall(">([^<\n]+)</th>", heads[0])
    assert "data-label" not in narrow


@pytest.mark.parametrize("language", ["en", "id"])
@pytest.mark.parametrize("name", [*GUIDES, *REFERENCES])
def test_links_and_pictures_of_a_guide_lead_somewhere(
    client: FlaskClient, name: str, language: str
) -> None:
    page = text_of(client, f"/help/{name}", language)
    article = page[page.index("<article") : page.index("</article>")]

    spoken = {"Accept-Language": language}
    for target in re.findall(r'(?:href|src)="([^"]+)"', article):
        address, _, anchor = target.partition("#")
        if "://" in target:
            continue
        assert address == "" or address.startswith("/help/"), target
        with client.get(address or f"/help/{name}", headers=spoken, follow_redirects=True) as led:
            assert led.status_code == 200, target
            assert not anchor or f'id="{anchor}"' in led.get_data(as_text=True), target
