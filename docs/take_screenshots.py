"""Takes the pictures of README and guides, of the sample studies: ``nox -s screenshots``.

Starts the product on a folder of its own, so nobody's ratings are touched. Each picture is taken
in both languages, as NAME-id.png and NAME-en.png, and has few colours, so that it stays small. The
raters' guide uses rating-card, rating-empty and rating-phone, that of a thesis import-report,
rating-desktop and comparison-desktop, that of own results passage-desktop, the README all the
others too.
"""

from __future__ import annotations

import io
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

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "seeds" / "runs" / "hybrid" / "test_results.json"
CHROMIUM = os.environ.get("RELEVANSI_CHROMIUM")
LAPTOP, PHONE, NARROW = (1280, 800), (390, 720), (560, 900)
LANGUAGES = {"id": "id-ID", "en": "en-GB"}
COLOURS = 64
HALLS = "apakah ada gudang yang dijual"  # its first answer lists nothing


@dataclass(frozen=True)
class Picture:
    """One picture: its file, the page, and who looks at it on what.

    ``question`` is the beginning of the question that a rater goes on to. ``parts`` are the first
    and the last part of the page that it shows, where it is not the page as it is opened. ``keys``
    are pressed on it.
    """

    name: str
    page: str
    size: tuple[int, int]
    scheme: str = "light"
    rater: str = ""
    question: str = ""
    parts: tuple[str, ...] = ()
    keys: str = ""


PASSAGE = Picture("passage-desktop", "/rate/", (1280, 484), keys="30")


def main() -> None:
    """Take every picture anew."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address:
        run = begun_run(address)
        pictures = (
            Picture("rating-desktop", f"{run}/queries/13", LAPTOP),
            Picture("run-desktop", run, LAPTOP),
            Picture("rating-phone-dark", f"{run}/queries/13", PHONE, "dark"),
            Picture("comparison-desktop", "/comparisons/", LAPTOP),
            Picture("import-report", "/runs/import", LAPTOP),
            Picture("rating-phone", f"{run}/queries/16", PHONE),
            Picture("rating-card", f"{run}/queries/13", NARROW, parts=("#rank-1",)),
        )
        empty = Picture(
            "rating-empty", "/rate/", NARROW, rater="Budi", question=HALLS, parts=("#outcome",)
        )
        with opened_browser() as browser:
            take_all(browser, address, pictures)
            rate_blind(browser, address)
            take_all(browser, address, (empty,))
    for language in LANGUAGES:
        with (
            tempfile.TemporaryDirectory() as folder,
            served(Path(folder), "--documents", language=language) as address,
            opened_browser() as browser,
        ):
            take(browser, address, PASSAGE, language)


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """Yield a browser."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@contextmanager
def served(folder: Path, *options: str, language: str = "en") -> Iterator[str]:
    """Yield the address of a demo, served from `folder`."""
    command = [sys.executable, "-m", "relevansi", "demo", "--no-browser", *options]
    settings = {**os.environ, "RELEVANSI_INSTANCE": str(folder), "RELEVANSI_LANGUAGE": language}
    server = subprocess.Popen(
        [*command, "--port", "0"], env=settings, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        assert server.stdout is not None
        addresses = (re.search(r"^Relevansi .*?(http://\S+)/", line) for line in server.stdout)
        address = next(filter(None, addresses), None)
        assert address is not None, "the server did not start"
        yield address[1]
    finally:
        server.terminate()
        server.wait()


def begun_run(address: str) -> str:
    """Return the path of the demo's run that is rated in part."""
    with sync_playwright() as playwright:
        page = playwright.request.new_context(base_url=address).get("/runs/").text()
    rated_next = re.search(r'class="btn small"\s+href="(/runs/\w+)/queries/', page)
    assert rated_next is not None, "the demo has no run that is rated in part"
    return rated_next[1]


def take_all(browser: Browser, address: str, pictures: tuple[Picture, ...]) -> None:
    """Take each of `pictures` in each language."""
    for picture in pictures:
        for language in LANGUAGES:
            take(browser, address, picture, language)


def take(browser: Browser, address: str, picture: Picture, language: str) -> None:
    """Take one picture."""
    width, height = picture.size
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": height},
        color_scheme="dark" if picture.scheme == "dark" else "light",
        locale=LANGUAGES[language],
        has_touch=picture.size == PHONE,
        is_mobile=picture.size == PHONE,
    )
    page = context.new_page()
    if picture.rater:
        page.goto("/sign-in")
        page.get_by_role("button", name=picture.rater).click()
    page.goto(picture.page)
    if picture.page.endswith("/import"):
        show_report(page)
    while picture.question not in page.inner_text("body"):
        page.goto(page.get_attribute("a[rel=next]", "href") or "")
    if picture.question:
        page.locator("[data-step=empty]").first.click()
    page.wait_for_load_state("networkidle")
    for key in picture.keys:
        page.keyboard.press(key)
        page.wait_for_timeout(2000)  # until it is saved
    page.evaluate("scrollTo(0, 0)")
    if picture.parts:
        taken = page.screenshot(full_page=True, clip=around(page, picture.parts))
    else:
        taken = page.screenshot()
    keep(taken, HERE / "screenshots" / f"{picture.name}-{language}.png")
    context.close()


def around(page: Page, parts: tuple[str, ...]) -> FloatRect:
    """Return the place on the page from the first of `parts` to the last."""
    boxes = [box for part in parts if (box := page.locator(part).first.bounding_box())]
    left, top = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
    right = max(box["x"] + box["width"] for box in boxes)
    bottom = max(box["y"] + box["height"] for box in boxes)
    return {"x": left - 8, "y": top, "width": right - left + 16, "height": bottom - top}


def keep(taken: bytes, path: Path) -> None:
    """Store a picture in few colours: a third of its size, and nobody sees the difference."""
    image = Image.open(io.BytesIO(taken)).convert("RGB")
    few = image.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def rate_blind(browser: Browser, address: str) -> None:
    """Let the study be rated blind, as most studies are."""
    page = browser.new_page(base_url=address)
    page.goto("/study/?part=blind")
    page.check("input[name=blind][value=yes]")
    page.locator("button[name=confirmed]").click()
    page.locator("button[name=confirmed]").wait_for(state="detached")
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
    page.wait_for_selector(".reports")


if __name__ == "__main__":
    main()
