"""One real Chromium for all browser tests, real servers, and pages that report complaints."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.blind import import_study
from tests.browser.forked import serving
from tests.browser.pages import Study, fill
from tests.browser.server import HYBRID, Server, copied, import_runs

WAIT_MS = 60_000  # a bound for what never comes, on a machine however busy
CHROMIUM = "/usr/bin/chromium"
# A window's address bar is two pages of Chromium's own, and a spare process waits for the next
# page: together they took more of each tab's time than the product's page did. The last list
# that Chromium is given counts, so this one repeats what Playwright's own switches off.
SWITCHED_OFF = (
    "SpareRendererForSitePerProcess",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
FLAGS = (
    "--disable-background-networking",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-extensions",
    f"--disable-features={','.join(SWITCHED_OFF)}",
    "--disable-gpu",  # drawn by the processor either way, and a fifth quicker without its process
    "--disable-quic",
    "--no-first-run",
    "--process-per-site",
)
# What Chromium logs of what a test asked for: an error page, a dead server, no worker.
PROVOKED = (
    "Failed to load resource",
    "net::ERR_",
    "occurred when fetching the script",
    "Service Worker registration blocked",
)

OpenTab = Callable[..., Page]


@pytest.fixture(name="browser", scope="session")
def _browser() -> Iterator[Browser]:
    path = os.environ.get("RELEVANSI_CHROMIUM") or (CHROMIUM if Path(CHROMIUM).exists() else None)
    as_root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *as_root])
        yield browser
        browser.close()


@pytest.fixture(name="context_of")
def _context_of(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        expected = {"locale": "id-ID", "viewport": {"width": 1280, "height": 800}} | options
        context = browser.new_context(**expected)
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(name="open_tab")
def _open_tab(context_of: Callable[..., BrowserContext]) -> Iterator[OpenTab]:
    """Open a tab with options of its own; fails the test if any page had a complaint.

    A complaint is an error in the console (every breach of the content policy is one) or
    an exception in a script.
    """
    complaints: list[str] = []

    def make(**options: Any) -> Page:
        page = context_of(**options).new_page()
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda message: (
                complaints.append(f"{page.url}: {message.text}")
                if message.type in {"error", "warning"}
                and not any(part in message.text for part in PROVOKED)
                else None
            ),
        )
        return page

    yield make
    assert complaints == []


@pytest.fixture(name="page")
def _page(open_tab: OpenTab) -> Page:
    return open_tab()


@pytest.fixture(name="sample", scope="session")
def _sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    instance = tmp_path_factory.mktemp("sample") / "instance"
    (run_id,) = import_runs(instance, HYBRID)
    return instance, run_id


@pytest.fixture(name="run_id", scope="session")
def _run_id(sample: tuple[Path, str]) -> str:
    return sample[1]


@pytest.fixture(name="blind_sample", scope="session")
def _blind_sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("blind")
    return folder / "instance", import_study(folder / "instance", folder)


@pytest.fixture(name="blind_server")
def _blind_server(blind_sample: tuple[Path, list[str]], tmp_path: Path) -> Iterator[Server]:
    with serving(copied(blind_sample[0], tmp_path / "instance")) as server:
        yield server


@pytest.fixture(name="server", scope="module")
def _server(sample: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    instance = copied(sample[0], tmp_path_factory.mktemp("server") / "instance")
    with serving(instance) as server:
        yield server


@pytest.fixture(name="study", scope="session")
def _study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = tmp_path_factory.mktemp("study")
    with ExitStack() as servers:
        yield fill(servers.enter_context(serving(folder / "instance")), folder, servers)


@pytest.fixture(name="own_server")
def _own_server(sample: tuple[Path, str], tmp_path: Path) -> Iterator[Server]:
    with serving(copied(sample[0], tmp_path / "instance")) as server:
        yield server


@pytest.fixture(name="empty_server")
def _empty_server(tmp_path: Path, sqlite_template: Path) -> Iterator[Server]:
    """A server whose tables are made already and empty."""
    instance = tmp_path / "instance"
    instance.mkdir()
    shutil.copy(sqlite_template, instance / "relevansi.sqlite")
    with serving(instance) as server:
        yield server
