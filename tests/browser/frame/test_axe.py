"""Planted faults of a page, which must be found in the look that alone shows each."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.axe import faults

pytestmark = pytest.mark.browser

SOUND = """<!doctype html><html lang="en"><title>T</title><style>
  :root {{ color-scheme: light dark }} body {{ background: white; color: black }}
  @media (prefers-color-scheme: dark) {{ body {{ background: black; color: white }} {dark} }}
  {rules}</style><main><h1>H</h1><ul>{items}</ul></main></html>"""
AA = "WCAG2AA."
ITEMS = "".join(f"<li><p>Line {number}</p></li>" for number in range(9))


@pytest.mark.parametrize(
    ("dark", "rules", "items", "found"),
    [
        ("", "", ITEMS, []),
        ("", "", ITEMS + "<li><img src='data:,'></li>",
         ["image-alt", f"{AA}Principle1.Guideline1_1.1_1_1.H37"]),
        ("", "", "<li><form><label>Name <input></label></form></li>",
         [f"{AA}Principle3.Guideline3_2.3_2_2.H32.2"]),
        ("", "li:last-child { color: #bbb }", ITEMS,
         ["color-contrast", f"{AA}Principle1.Guideline1_4.1_4_3.G18.Fail"]),
        ("li:last-child p { background: #eee }", "", ITEMS, ["color-contrast"]),
        ("", "li { background: #eee } @media (width < 500px) { p { color: #ccc } }", ITEMS,
         ["color-contrast"]),
        ("", "@media (width < 350px) { p { width: 400px } }", ITEMS, ["P.# stands out at 320"]),
    ],
    ids=[
        *("nothing", "structure", "no button"),
        *("faint in light", "faint in dark", "faint on a phone", "wide"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_either_look_is_found(
    page: Page, dark: str, rules: str, items: str, found: list[str]
) -> None:
    """The last of many lines that are otherwise of one kind, and what one width or theme shows."""
    page.set_content(SOUND.format(dark=dark, rules=rules, items=items))
    assert {fault.partition(":")[0] for fault in faults(page)} == set(found)
