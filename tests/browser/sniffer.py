"""The errors that HTML_CodeSniffer finds on a page: WCAG 2.1 AA, read otherwise than by axe."""

from __future__ import annotations

from functools import cache

from playwright.sync_api import Page

import hatch_build
from tests.browser.server import ROOT

SNIFF = """() => new Promise((done, fail) => HTMLCS.process("WCAG2AA", document, () => {
  const errors = HTMLCS.getMessages().filter((one) => one.type === HTMLCS.ERROR);
  done(errors.map(({ code, msg, element }) =>
    `${code}: ${msg}: ${element.cloneNode?.().outerHTML ?? "the page"}`));
}, fail))"""


def errors(page: Page) -> list[str]:
    if not page.evaluate("'HTMLCS' in window"):
        page.evaluate(script())
    result: list[str] = page.evaluate(SNIFF)
    return result


@cache
def script() -> str:
    if not hatch_build.is_current(ROOT, hatch_build.TEST_TOOLS):
        hatch_build.vendor(ROOT, hatch_build.TEST_TOOLS)
    return (ROOT / hatch_build.TEST_TOOLS.folder / "HTMLCS.js").read_text("utf-8")
