"""What holds on every page: its requests, its policy, its title and its first heading."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.pages import PAGES, Study, visit

pytestmark = pytest.mark.browser


@dataclass(slots=True)
class Seen:
    """What one page was made of."""

    title: str = ""
    headings: int = 0
    requests: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)


@pytest.fixture(name="seen", scope="module")
def _seen(study: Study, browser: Browser) -> dict[str, Seen]:
    """Every page, opened once, by its name."""
    pages = {}
    for name in PAGES:
        pages[name] = one = Seen()
        context = browser.new_context(locale="id-ID")
        page = context.new_page()
        _watch(page, one)
        visit(page, study, name)
        one.title, one.headings = page.title(), page.locator("h1:visible").count()
        context.close()
    return pages


def test_no_request_leaves_the_server_s_origin(study: Study, seen: dict[str, Seen]) -> None:
    """No picture, font, script or ping from elsewhere, whatever page is opened."""
    own = (study.server.url, study.served.server.url, "data:", "about:blank")
    asked = [url for page in seen.values() for url in page.requests]
    assert asked
    assert [url for url in asked if not url.startswith(own)] == []


def test_the_content_policy_allows_nothing_inline(seen: dict[str, Seen]) -> None:
    """Every answer comes with a policy, without unsafe-inline and unsafe-eval."""
    for name, page in seen.items():
        assert page.policies, name
        assert all("default-src 'self'" in policy for policy in page.policies), name
        assert not any("unsafe" in policy for policy in page.policies), name


def test_every_page_has_a_title_and_one_first_heading(seen: dict[str, Seen]) -> None:
    """What a screen reader says first, and where it starts to read."""
    for name, page in seen.items():
        assert page.title.endswith(" · Relevansi"), name
        assert page.title != " · Relevansi", name
        assert page.headings == 1, name


def _watch(page: Page, seen: Seen) -> None:
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on(
        "response",
        lambda answer: seen.policies.append(answer.headers.get("content-security-policy", "")),
    )
