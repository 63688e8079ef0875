"""The rating page's own outbox, in a real Chromium, behind the proxy that spoils requests.

Somebody rates by keyboard without looking; the page alone has to bring everything through.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from urllib.parse import parse_qs

from playwright.sync_api import Page, Response, sync_playwright

from tests.browser import plans
from tests.browser.plans import Planned
from tests.browser.rating_page import RatingPage
from tests.browser.server import HYBRID
from tests.cli.relevansi import document
from tests.faults import stored
from tests.faults.load import FaultyServer
from tests.faults.network import FAULT, happened
from tests.faults.proxy import Proxy
from tests.faults.rows import CannotBeMade, Row
from webapp.config import sqlite_url

NAME = f"{FAULT}: the page's outbox"
PATIENCE_MS = 120_000
VIEWPORT = (1280, 800)


class Typist:
    """A tab that is typed into, and the events that the server called saved to it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.acknowledged: list[str] = []
        page.on("response", self._hear)

    def _hear(self, answer: Response) -> None:
        if answer.request.method == "POST" and answer.ok:
            said = parse_qs(answer.request.post_data or "")
            self.acknowledged += said.get("event_id", [])

    def await_acknowledged(self, keys: int) -> None:
        """Wait until so many were, a while at most; the page goes on ahead of its outbox."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while len(set(self.acknowledged)) < keys and time.monotonic() < deadline:
            self.page.wait_for_timeout(50)

    def rate(self, planned: list[Planned], rating: RatingPage) -> None:
        """Type everything that is planned; each question comes when the last one is stored."""
        for question in planned:
            rating.expect_question(question.query_id, timeout=PATIENCE_MS)
            rating.press(*(key for key, _ in question.keys))


def rate_behind_proxy(folder: Path, questions: int, seed: int) -> Row:
    """Return what came of so many questions that were rated over such a network."""
    chromium = os.environ.get("RELEVANSI_CHROMIUM")
    if not chromium:
        raise CannotBeMade("RELEVANSI_CHROMIUM names no Chromium")
    server = FaultyServer(folder / "instance", {})
    run_id = document(server.command("import", HYBRID, "--json"))["runs"][0]["id"]
    planned = plans.plan(server, run_id)[: questions + 1]
    server.start()
    proxy = Proxy(server.port, seed=seed)
    with sync_playwright() as playwright, proxy.serving():
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        width, height = VIEWPORT
        size = {"width": width, "height": height}
        page = browser.new_page(locale="id-ID", viewport=size)  # type: ignore[arg-type]
        typist = Typist(page)
        rating = RatingPage(page, f"http://127.0.0.1:{proxy.port}", run_id)
        rating.open(planned[0].query_id)
        typist.rate(planned[:-1], rating)
        typist.await_acknowledged(sum(len(question.keys) for question in planned[:-1]))
        browser.close()
    server.stop()
    return _counted(server, run_id, typist, planned[:-1], proxy)


def _counted(
    server: FaultyServer, run_id: str, typist: Typist, planned: list[Planned], proxy: Proxy
) -> Row:
    events = stored.found(sqlite_url(server.instance / "relevansi.sqlite"))
    acknowledged = set(typist.acknowledged)
    damage = []
    for wanted, found in zip(planned, plans.stored(server, run_id), strict=False):
        said = (wanted.relevance, wanted.quality, wanted.empty_outcome)
        if said != (found.relevance, found.quality, found.empty_outcome):
            damage.append(f"question {wanted.query_id}: {said} was typed, {found} is stored")
    if typed := sum(len(question.keys) for question in planned) - len(acknowledged):
        damage.append(f"{typed} keys have no acknowledgement of their own")
    if "Traceback" in server.faults():
        damage.append(server.faults()[-300:])
    return Row(
        fault=NAME,
        database="SQLite",
        made=f"{len(planned)} questions rated by keyboard in Chromium: {happened(proxy)}",
        acknowledged=len(acknowledged),
        found=len(acknowledged & set(events.events)),
        doubled=events.doubled + len(set(events.events) - acknowledged),
        missing=len(acknowledged - set(events.events)),
        damage=tuple(damage),
    )
