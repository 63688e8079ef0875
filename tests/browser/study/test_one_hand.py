"""A whole study, from its first file to the figures taken away: by keys alone, by a thumb alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.blind import study_files
from tests.browser.hands import PHONE_OPTIONS, Hand, Keys, Thumb, choose_files, take_away
from tests.browser.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

RELEVANT = ("Kenanga", "Dahlia", "Jaya", "Tulip")
PRECISION = {"hybrid": 0.7778, "api_only": 0.75, "vector_only": 0.3333}
"""The means of 1/3, 1 and 1; of 1/2 and 1, beside an empty list; of 0, 1/2 and 1/2."""


@pytest.mark.parametrize(("hand_of", "options"), [(Keys, {}), (Thumb, PHONE_OPTIONS)])
def test_a_whole_study_is_done(
    empty_server: Server,
    open_tab: Callable[..., Page],
    tmp_path: Path,
    hand_of: Callable[[Page], Hand],
    options: dict[str, Any],
) -> None:
    """Three runs, two people on one computer who are of two minds on one card, and its decision."""
    page = open_tab(**options)
    hand, go = hand_of(page), page.locator("main .btn.go")
    page.goto(empty_server.url)
    choose_files(hand, page.locator("#files"), study_files(tmp_path))
    hand.press(page.locator("button[value=store]"))
    hand.rate(_says, "correct_empty", "4")

    hand.press(page.locator("a.brand"))
    hand.press(page.locator(".people a[href$='/raters/']"))
    hand.write(page.locator("[aria-labelledby=add] input[name=name]"), "Budi")
    hand.press(go)
    _become(hand, "Budi")
    hand.press(go)
    hand.rate(lambda title: "0" if "Dahlia" in title else _says(title), "correct_empty", "4")
    _become(hand, "Pemilik")

    hand.press(go)
    expect(page.locator("#dispute")).to_contain_text("Dahlia")
    hand.settle("0")
    expect(page.locator(".finished")).to_be_visible()
    hand.press(go)
    expect(page.locator(".side .status:not(.open)")).to_be_visible()
    hand.press(page.locator(".formats summary"))
    file = take_away(hand, page.locator(".formats a[download][href*=json]")).path()
    report = json.loads(file.read_text("utf-8"))
    precision = {
        run["search_method"]: run["figures"]["mean_precision_at_5"]["value"]
        for run in report["runs"]
    }
    assert precision == pytest.approx(PRECISION, abs=1e-4)


def _says(title: str) -> str:
    return str(int(any(name in title for name in RELEVANT)))


def _become(hand: Hand, name: str) -> None:
    hand.press(hand.page.locator("#account summary"))
    hand.press(hand.page.locator("#account a[href*='/sign-in']"))
    hand.press(hand.page.locator("button.choice", has_text=name))
