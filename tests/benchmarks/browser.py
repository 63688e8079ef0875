"""(h) A click as a person sees it: in Chromium, until it shows, and until it is called saved."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, Request, sync_playwright

from tests.benchmarks.clicking import BLIND, OPEN
from tests.benchmarks.effort import Effort
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target, Times
from tests.benchmarks.serving import relevansi
from tests.benchmarks.studies import OWNER, Size, card_keys, let_owner_judge, made_up

CHROMIUM = "/usr/bin/chromium"
SHOWN, SAVED = 20, 60
REQUESTS = 7
HOW = """\
Chromium on this machine, a tab of 1280 x 800, real mouse clicks on the verdicts of one card after
the other; each waits until the one before is saved. The clock is the page's own: it starts with
the time of the click event, "shown" ends with the frame after the button is pressed, "saved" with
the frame after the card's line says so. It is the time of the whole machine: browser, script,
server and disk share its processors. Requests are those of a rating page until the network is
idle, the one for the next question included, in a browser that has nothing of the app yet."""
WATCH = """() => {
  const watch = (window.bench = { started: 0 });
  const line = () => document.querySelector(`[data-state-of="${watch.place}"]`);
  const painted = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => then(performance.now());
    port2.postMessage(0);
  });
  addEventListener("click", (event) => {
    const button = event.target.closest("button[name=relevance]");
    if (!button) return;
    const place = button.closest(".card");
    Object.assign(watch, { shown: 0, saved: 0, changed: false, left: false });
    watch.started = event.timeStamp;
    watch.place = place.dataset.rank ?? place.dataset.position;
    watch.value = button.value;
  }, true);
  new MutationObserver(() => {
    if (!watch.started) return;
    const at = line();
    const card = at?.closest(".card");
    const button = card?.querySelector(`button[value="${watch.value}"][aria-pressed]`);
    const words = document.querySelector("#rating").dataset;
    if (!watch.changed && button?.getAttribute("aria-pressed") === "true") {
      watch.changed = true;
      painted((now) => (watch.shown = now - watch.started));
    }
    const saved = at?.textContent.trim() === words.saved;
    if (!saved) watch.left = true;
    else if (watch.left) {
      watch.left = false;
      painted((now) => (watch.saved = now - watch.started));
    }
  }).observe(document.body, {
    subtree: true, childList: true, attributes: true, characterData: true,
  });
}"""
DONE = "() => window.bench.shown && window.bench.saved"


def browser(effort: Effort, folder: Path) -> Section:
    """Return how long clicks take to show and to be saved, on both pages."""
    rows: list[Measurement] = []
    targets: list[Target] = []
    with sync_playwright() as playwright:
        as_root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        chromium = playwright.chromium.launch(executable_path=_chromium(), args=as_root)
        for page, blind in ((OPEN, False), (BLIND, True)):
            size = Size(effort.questions, runs=3 if blind else 1)
            home = folder / str(size.runs)
            paths = _paths(home, size, blind=blind)
            with relevansi(home) as server:
                tab = chromium.new_page(viewport={"width": 1280, "height": 800})
                asked = _requests(tab, server.url + paths[0])
                shown, saved = _clicked(tab, server.url, paths, effort.browser_clicks)
                tab.close()
            for name, times, most in (("shown", shown, SHOWN), ("saved", saved, SAVED)):
                rows.append(Measurement(f"click until {name}, {page}", times))
                targets.append(
                    Target(
                        f"click until {name} under {most} ms at the 95th percentile, {page}",
                        f"{number(times.p95)} ms",
                        times.p95 < most,
                    )
                )
            targets.append(
                Target(
                    f"requests of the first visit at most {REQUESTS}, {page}",
                    number(asked),
                    asked <= REQUESTS,
                )
            )
        chromium.close()
    return Section("h. A click in the browser", HOW, rows, targets)


def _paths(home: Path, size: Size, *, blind: bool) -> list[str]:
    """Return the addresses of the questions to click on, in a new database."""
    database = made_up(home, size, blind=blind)
    let_owner_judge(database, given=size.questions)
    keys = card_keys(database, OWNER, range(1, size.questions + 1))
    database.close()
    if blind:
        return [f"/rate/{task}" for task, _ in keys]
    return [f"/runs/{size.run_ids[0]}/queries/{number}" for number in range(1, size.questions + 1)]


def _requests(tab: Page, address: str) -> int:
    """Return how many requests the tab makes for a page."""
    made: list[Request] = []

    def note(request: Request) -> None:
        made.append(request)

    tab.on("request", note)
    tab.goto(address, wait_until="networkidle")
    tab.remove_listener("request", note)
    return len(made)


def _clicked(tab: Page, url: str, paths: list[str], most: int) -> tuple[Times, Times]:
    """Return the times of so many clicks until they showed, and until they were saved."""
    shown: list[float] = []
    saved: list[float] = []
    for one, two in _each(tab, url, paths):
        shown.append(one)
        saved.append(two)
        if len(shown) == most:
            break
    return Times.of(shown), Times.of(saved)


def _each(tab: Page, url: str, paths: list[str]) -> Iterator[tuple[float, float]]:
    """Yield the times of one click after the other; the last card of a question stays open."""
    for path in paths:
        tab.goto(url + path)
        tab.locator("html.scripted").wait_for()
        tab.evaluate(WATCH)
        for number_ in range(1, tab.locator(".card").count()):
            value = number_ % 2
            tab.locator(f'#question .card >> nth={number_ - 1} >> button[value="{value}"]').click()
            tab.wait_for_function(DONE)
            yield tab.evaluate("() => [window.bench.shown, window.bench.saved]")


def _chromium() -> str | None:
    """Return the named Chromium, else the system's; ``None`` for Playwright's own."""
    named = os.environ.get("RELEVANSI_CHROMIUM")
    return named or (CHROMIUM if Path(CHROMIUM).exists() else None)
