"""A rater's ways through the product in the engines of Firefox and Safari, each started once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.engines.driver import ENGINES, ENTER, ESCAPE, Driver, until
from tests.browser.plans import stored
from tests.browser.rating_page import SAVED, UNSAVED
from tests.browser.server import Server
from tests.cli.relevansi import relevansi

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

STATE = "document.querySelector(`[data-state-of='${arguments[0]}']`)?.dataset.state"
QUESTION = "document.querySelector('#question')?.dataset.query"
SCRIPTED = "document.documentElement.className === 'scripted'"
PRESSED = "document.querySelector(`#rank-${arguments[0]} button[aria-pressed=true]`)?.value"
COPIES = """
const names = (await caches.keys()).filter((name) => name.startsWith("relevansi pages "));
const found = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
return found.flat().length;
"""
IN_SIGHT = """(() => {
  const { top, left, right, width } = document.querySelector(arguments[0]).getBoundingClientRect();
  return width > 100 && top >= 0 && left >= 0 && right <= innerWidth;
})()"""
DEAF = """
for (const kind of ["click", "submit"]) {
  addEventListener(kind, (event) => event.stopImmediatePropagation(), true);
}
"""


@pytest.fixture(name="driver", params=ENGINES)
def _driver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    started, packages, is_there = ENGINES[request.param]
    if not is_there:
        stop = pytest.fail if os.environ.get("RELEVANSI_ALL_ENGINES") else pytest.skip
        stop(f"{request.param} is not installed: apt-get install {packages}")
    folder = tmp_path / "browser"
    folder.mkdir()
    with started(folder) as driver:
        yield driver


def test_a_rater_works_in_another_engine(
    driver: Driver, own_server: Server, run_id: str, tmp_path: Path
) -> None:
    one_file = tmp_path / "rate.html"
    process = relevansi(own_server.instance, "export", run_id, "--format", "html", "-o", one_file)
    assert process.returncode == 0, process.stderr

    run = f"{own_server.url}/runs/{run_id}"
    rates_by_keyboard_and_finger(driver, run)
    rates_without_a_server_and_sends_it_later(driver, own_server, run)
    types_notes_and_reloads(driver, run)
    rates_by_forms_alone(driver, run)
    reads_how_it_was_rated(driver, run)
    rates_on_one_file(driver, one_file)

    result = stored(own_server, run_id)
    assert result[0].relevance[:4] == (1, 0, 1, None)
    assert result[1].relevance[:2] == (1, None)
    assert result[9].relevance[:2] == (0, None)
    clicks = [event["new"] for event in own_server.events() if event["field"] == "verdict"]
    assert clicks == ["1", "0", "1", "1", "0"]


def rates_by_keyboard_and_finger(driver: Driver, run: str) -> None:
    driver.open(f"{run}/queries/1")
    driver.expect(SCRIPTED)
    driver.press("y")
    driver.expect(STATE, "1", equals=SAVED)
    driver.tap('#rank-2 button[value="0"]')
    driver.expect(STATE, "2", equals=SAVED)


def types_notes_and_reloads(driver: Driver, run: str) -> None:
    driver.open(f"{run}/queries/4")
    driver.expect(SCRIPTED)
    driver.press(*"njauh")
    driver.reload()
    driver.expect("document.querySelector('#notes').value", equals="jauh")
    driver.expect(STATE, "notes", equals=SAVED)


def rates_without_a_server_and_sends_it_later(driver: Driver, server: Server, run: str) -> None:
    until(lambda: driver.settled(COPIES) == 4, "the next pages are not kept")
    server.kill()
    driver.tap('#rank-3 button[value="1"]')
    driver.expect(STATE, "3", equals=UNSAVED)
    driver.open(f"{run}/queries/2")
    driver.expect(f"{QUESTION} === '2' && {SCRIPTED}")
    driver.expect("'offline' in document.documentElement.dataset")
    driver.press("y")
    driver.expect(STATE, "1", equals=UNSAVED)
    driver.reload()
    driver.expect(PRESSED, "1", equals="1")
    server.start()
    driver.expect(STATE, "1", equals=SAVED)
    until(lambda: answered(driver, f"{run}/queries/1"), "only a copy of the page comes")
    driver.expect(PRESSED, "3", equals="1")


def answered(driver: Driver, address: str) -> bool:
    driver.open(address)
    driver.expect(SCRIPTED)
    return bool(driver.run("return !('offline' in document.documentElement.dataset)"))


def rates_by_forms_alone(driver: Driver, run: str) -> None:
    driver.open(f"{run}/queries/10")
    driver.expect(SCRIPTED)
    driver.run(DEAF)
    driver.run("globalThis.isOld = true")
    driver.click('#rank-1 button[value="0"]')
    driver.expect("globalThis.isOld === undefined")
    driver.expect(PRESSED, "1", equals="0")


def reads_how_it_was_rated(driver: Driver, run: str) -> None:
    driver.open(run)
    for choose in (driver.click, driver.tap):
        driver.expect("document.querySelector(':popover-open') === null")
        choose('[popovertarget="about-rated"]')
        driver.expect("document.querySelector(':popover-open')?.id", equals="about-rated")
        driver.expect(IN_SIGHT, "#about-rated")
        driver.press(ESCAPE)


def rates_on_one_file(driver: Driver, page: Path) -> None:
    driver.open(page.as_uri())
    driver.expect("document.activeElement.id === 'rater'")
    driver.press(*"Ani", ENTER)
    driver.expect("document.activeElement.closest('.card')?.dataset.rank", equals="1")
    driver.press("y")
    driver.expect(PRESSED, "1", equals="1")
    driver.reload()
    driver.expect(PRESSED, "1", equals="1")
