"""Takes the pictures of README and guides, of the sample study: ``nox -s screenshots``.

Starts the product on a folder of its own, so nobody's ratings are touched. The guides use
rating-blind-phone.png (raters), import-report.png, rating-desktop.png and
comparison-desktop.png (thesis).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "seeds" / "runs" / "hybrid" / "test_results.json"
CHROMIUM = os.environ.get("RELEVANSI_CHROMIUM")
LAPTOP, PHONE = (1440, 900), (390, 844)
NAME_NO_FOLDER = r"""for (const part of document.querySelectorAll("footer > span"))
  part.textContent = part.textContent.replace(/\S+[/\\](?=demo\.sqlite)/, "instance/");"""


@dataclass(frozen=True)
class Picture:
    """One picture: its file, the page, and who looks at it on what."""

    name: str
    page: str
    size: tuple[int, int]
    scheme: str = "light"
    language: str = "id-ID"
    rater: str = ""


def main() -> None:
    """Take every picture anew."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address:
        run = begun_run(address)
        pictures = (
            Picture("rating-desktop.png", f"{run}/queries/13", LAPTOP),
            Picture("run-desktop.png", run, LAPTOP, language="en-GB"),
            Picture("rating-phone-dark.png", f"{run}/queries/13", PHONE, "dark"),
            Picture("comparison-desktop.png", "/comparisons/#summary", LAPTOP, language="en-GB"),
            Picture("import-report.png", "/runs/import", LAPTOP),
        )
        with sync_playwright() as playwright:
            arguments = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
            for picture in pictures:
                take(browser, address, picture)
            rate_blind(browser, address)
            take(browser, address, Picture("rating-blind-phone.png", "/rate/", PHONE, rater="Budi"))
            browser.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yield the address of the sample study, served from `folder`."""
    command = [sys.executable, "-m", "webapp", "demo", "--no-browser"]
    settings = {**os.environ, "RELEVANSI_INSTANCE": str(folder), "RELEVANSI_LANGUAGE": "en"}
    server = subprocess.Popen(
        [*command, "--port", "0"], env=settings, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None, "the server did not start"
        yield found[0].rstrip("/")
    finally:
        server.terminate()
        server.wait()


def begun_run(address: str) -> str:
    """Return the path of the demo's run that is rated in part."""
    with sync_playwright() as playwright:
        page = playwright.request.new_context(base_url=address).get("/runs/").text()
    found = re.search(r'href="(/runs/\w+)"[^>]*>\s*Vector Only[^<]*gemini', page)
    assert found is not None, "the demo has no run called Vector Only · gemini"
    return found[1]


def take(browser: Browser, address: str, picture: Picture) -> None:
    """Take one picture."""
    width, height = picture.size
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": height},
        color_scheme="dark" if picture.scheme == "dark" else "light",
        locale=picture.language,
    )
    page = context.new_page()
    if picture.rater:
        page.goto("/sign-in")
        page.get_by_role("button", name=picture.rater).click()
    page.goto(picture.page)
    if picture.page.endswith("/import"):
        show_report(page)
    page.wait_for_load_state("networkidle")
    if "#" not in picture.page:
        page.evaluate("scrollTo(0, 0)")
    page.evaluate(NAME_NO_FOLDER)
    page.screenshot(path=HERE / "screenshots" / picture.name)
    context.close()


def rate_blind(browser: Browser, address: str) -> None:
    """Let the study be rated blind, as most studies are."""
    page = browser.new_page(base_url=address)
    page.goto("/study/")
    page.check("input[name=blind][value=yes]")
    page.locator("form.setup button.button").first.click()
    page.wait_for_load_state("networkidle")
    page.close()


def show_report(page: Page) -> None:
    """Let the page look at a file with a wrong label and without two of its questions."""
    sample = json.loads(SAMPLE.read_text("utf-8"))
    odd = {**sample, "search_method": "vector_only", "results": sample["results"][2:]}
    file = {
        "name": "test_results_hybrid.json",
        "mimeType": "application/json",
        "buffer": json.dumps(odd).encode(),
    }
    page.set_input_files("input[type=file]", file)
    page.locator("form.drop button").click()
    page.wait_for_selector(".reports")


if __name__ == "__main__":
    main()
