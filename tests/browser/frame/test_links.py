"""Claims about a link that is shown once: a button copies it, another shares it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Study, visit

pytestmark = pytest.mark.browser


def test_a_new_link_is_copied_and_shared_by_a_button(
    study: Study, open_tab: Callable[..., Page]
) -> None:
    """The device gets exactly the address that is shown."""
    page = open_tab()
    page.add_init_script("""
      Object.defineProperty(navigator, "clipboard", {
        value: { writeText: async (text) => { window.copied = text; } },
      });
      navigator.share = async ({ url }) => { window.shared = url; };
    """)
    visit(page, study, "raters with a new link")
    address = page.locator(".address").inner_text()
    page.get_by_role("button", name="Salin tautan").click()
    expect(page.locator("[data-handing] [role=status]")).to_have_text("Tersalin")
    page.get_by_role("button", name="Bagikan").click()

    assert page.evaluate("[window.copied, window.shared]") == [address, address]
