"""Planted faults of a page, which axe must find in the look that alone shows each."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.axe import faults

pytestmark = pytest.mark.browser

SOUND = """<!doctype html><html lang="en"><title>T</title><style>
  :root {{ color-scheme: light dark }} body {{ background: white; color: black }}
  @media (prefers-color-scheme: dark) {{ body {{ background: black; color: white }} {dark} }}
  {rules}</style><main><h1>H</h1><ul>{items}</ul></main></html>"""
ITEMS = "".join(f"<li><p>Line {number}</p></li>" for number in range(9))


@pytest.mark.parametrize(
    ("dark", "rules", "items", "found"),
    [
        ("", "", ITEMS, []),
        ("", "", ITEMS + "<li><img src='data:,'></li>", ["image-alt"]),
        ("", "li:last-child { color: #bbb }", ITEMS, ["color-contrast"]),
        ("li:last-child p { background: #eee }", "", ITEMS, ["color-contrast"]),
        ("", "li { background: #eee } @media (width < 500px) { p { color: #ccc } }", ITEMS,
         ["color-contrast"]),
        ("", "@media (width < 350px) { p { width: 400px } }", ITEMS, ["P.# stands out at 320"]),
    ],
    ids=["nothing", "structure", "faint in light", "faint in dark", "faint on a phone", "wide"],
)  # fmt: skip
def test_what_is_wrong_in_either_look_is_found(
    page: Page, dark: str, rules: str, items: str, found: list[str]
) -> None:
    """The last of many lines that are otherwise of one kind, and what one width or theme shows."""
    page.set_content(SOUND.format(dark=dark, rules=rules, items=items))
    assert {fault.partition(":")[0] for fault in faults(page)} == set(found)
