"""Claims about every page: axe finds nothing, it fits a phone, its requests, policy and title.

Each page is opened once and seen as a laptop has it, light, then as a phone has it, dark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page

from tests.browser.axe import faults
from tests.browser.pages import PAGES, Study, visit

pytestmark = pytest.mark.browser

EACH_TIME = {
    *("home", "run", "comparison", "agreement", "sign-in"),
    *("rating: cards", "rating: empty list", "blind rating: answers"),
}
"""The pages that the test command looks at; `nox -s thorough` looks at all."""


@dataclass(slots=True)
class Seen:
    """The requests of one page: every address asked for, and the policy of every answer."""

    requests: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """See what `page` asks for from now on."""
        page.on("request", lambda request: self.requests.append(request.url))
        page.on(
            "response",
            lambda one: self.policies.append(one.headers.get("content-security-policy", "")),
        )


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
    seen = Seen()
    seen.watch(page)
    visit(page, study, name)
    own = (study.server.url, study.served.server.url, "data:", "about:blank")
    assert seen.requests
    assert [url for url in seen.requests if not url.startswith(own)] == []
    assert seen.policies
    assert all("default-src 'self'" in policy for policy in seen.policies)
    assert not any("unsafe" in policy for policy in seen.policies)
    assert page.title().endswith(" · Relevansi")
    assert page.title() != " · Relevansi"
    assert page.locator("h1:visible").count() == 1

    assert faults(page) == []
