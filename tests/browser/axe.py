"""The faults of a page, light on a laptop and dark on a phone: WCAG 2.2 AA.

axe looks at both, HTML_CodeSniffer (``tests.browser.sniffer``) at the first.

The contrast of a text is most of axe's time, so that it looks at the first texts of each kind:
text of the same colour and size, on the same grounds, under the same elements, is of one kind.
"""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Page, ViewportSize

from tests.browser import sniffer

LAPTOP: ViewportSize = {"width": 1280, "height": 800}
PHONES = (320, 390)  # CSS pixels
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.tagName + "." + one.className + "#" + one.id).slice(0, 5)"""

EVERYTHING: dict[str, Any] = {
    "resultTypes": ["violations"],
    "rules": {"target-size": {"enabled": True}},
}
"""Size of targets (WCAG 2.2, 2.5.8) is off in axe unless it is asked for."""
LOOKS: dict[str, Any] = EVERYTHING | {
    "runOnly": [
        "color-contrast",
        "link-in-text-block",
        "scrollable-region-focusable",
        "target-size",
    ]
}
"""The rules whose outcome depends on the theme and on the width of the window."""

FIND = """async (options) => {
  const all = [...document.body.querySelectorAll("*")];
  const styles = new Map(all.map((one) => [one, getComputedStyle(one)]));

  // Sticky bars go where they belong: a target half below one is not small: it scrolls.
  const stuck = all.filter((one) => styles.get(one).position === "sticky");
  for (const one of stuck) Object.assign(one.style, { position: "relative", inset: "auto" });

  const kinds = new Map(); // what is said of an element and of all around it: a number
  const kindOf = new Map([[document.body, 0]]);
  const shown = [];
  for (const one of all) {
    const style = styles.get(one);
    const own = [...one.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const letters = own.map((node) => node.data).join("").trim().length;
    const said = JSON.stringify([
      kindOf.get(one.parentElement), one.tagName, one.getAttribute("class"),
      style.color, style.backgroundColor, style.backgroundImage, style.opacity, style.textShadow,
      style.fontSize, style.fontWeight, one.checkVisibility({ visibilityProperty: true }),
      one.matches(":disabled"), one.control?.disabled, one.ariaDisabled, Math.min(letters, 2),
    ]);
    const kind = kinds.get(said) ?? { number: kinds.size + 1, looked: 0 };
    kinds.set(said, kind);
    kindOf.set(one, kind.number);
    kind.looked += 1;
    if (kind.looked <= 2) shown.push(one);
  }
  for (const one of shown) one.setAttribute("data-of-a-kind", "");
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-of-a-kind]" }] });
  const found = await axe.run(document, options);
  for (const one of shown) one.removeAttribute("data-of-a-kind");
  for (const one of stuck) Object.assign(one.style, { position: "", inset: "" });
  return found.violations.map((one) =>
    `${one.id}: ${one.help}: ${one.nodes.slice(0, 5).map((node) => node.target)}`);
}"""


def violations(page: Page, rules: dict[str, Any] = EVERYTHING) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    result: list[str] = page.evaluate(FIND, rules)
    return result


def faults(page: Page) -> list[str]:
    """Return what is wrong with a page in both looks, which it is left in the second of.

    Everything is looked at in light on a laptop, then what the theme and the width decide: dark
    on a phone, however narrow that is, with text at 130 % too.
    """
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(LAPTOP)
    result = violations(page) + sniffer.errors(page)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 844})
    page.evaluate("document.documentElement.style.fontSize = '130%'")
    result += [
        f"{element} stands out at 360 with larger text" for element in page.evaluate(TOO_WIDE)
    ]
    page.evaluate("document.documentElement.style.fontSize = ''")
    for width in PHONES:
        page.set_viewport_size({"width": width, "height": 844})
        result += [f"{element} stands out at {width}" for element in page.evaluate(TOO_WIDE)]
    return result + violations(page, LOOKS)
