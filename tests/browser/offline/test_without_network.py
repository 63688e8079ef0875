from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.blind import invite, join
from tests.browser.plans import stored
from tests.browser.rating.test_outbox import expect_waiting
from tests.browser.rating_page import RatingPage, wait_until
from tests.browser.server import Server

pytestmark = pytest.mark.browser

NewContext = Callable[..., BrowserContext]
FOLLOWED_AS_THE_NETWORK_COMES_AND_GOES = """(link) => {
  link.click();
  dispatchEvent(new Event("online"));
}"""
COPIES = """async () => {
  const names = (await caches.keys()).filter((name) => name.startsWith("relevansi pages "));
  const found = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return found.flat().map(({ url }) => url);
}"""
UNKEPT = """async () => {
  const names = (await caches.keys()).filter((name) => name.startsWith("relevansi pages "));
  await Promise.all(names.map((name) => caches.delete(name)));
}"""
FAILING_ONCE = """
let registrations = 0;
const { serviceWorker } = navigator;
globalThis.isUncontrolled = !serviceWorker.controller;
const register = serviceWorker.register.bind(serviceWorker);
serviceWorker.register = async (...which) => {
  if (!registrations++) throw new TypeError("no worker yet");
  return register(...which);
};
let copies = 0;
const ask = fetch;
globalThis.fetch = async (address, options) => {
  if (options?.headers?.["Relevansi-Keep"] && copies++ === 1) throw new TypeError("no copy yet");
  return ask(address, options);
};
"""
SAVED_AND_KEPT = """() => new Promise((resolve) => {
  indexedDB.open("relevansi").onsuccess = ({ target: { result } }) => {
    const all = result.transaction("events").objectStore("events").count();
    all.onsuccess = () => (result.close(), resolve(all.result));
  };
})"""


def wait_for(page: Page, script: str, holds: Callable[[Any], bool]) -> Any:
    wait_until(page, lambda: holds(page.evaluate(script)))
    return page.evaluate(script)


def test_the_next_questions_are_rated_without_a_network_and_stored_once_on_return(
    own_server: Server, run_id: str, context_of: NewContext
) -> None:
    """Opened, left, reloaded offline: cards say what is true, before and after the return."""
    context = context_of()
    rating = RatingPage(context.new_page(), own_server.url, run_id)
    rating.open(1)
    page = rating.page
    wait_for(page, COPIES, lambda result: len(result) == 4)
    rating.press("y")
    rating.expect_state(1, "saved")
    wait_for(page, SAVED_AND_KEPT, lambda events: events == 0)  # the copy shows it by now
    rating.press("r")
    rating.expect_state(2, "saved")
    context.set_offline(True)
    rating.press("t")
    rating.expect_state(3, "unsaved")
    expect_waiting(page, 1)
    page.close()

    rating = RatingPage(context.new_page(), own_server.url, run_id)
    page = rating.page
    rating.open(1)
    rating.expect_state(1, "saved")
    rating.expect_state(2, "saved")  # saved after the copy was made
    rating.expect_state(3, "unsaved")
    rating.expect_pressed(1, "1")
    rating.expect_pressed(2, "unsure")
    rating.expect_pressed(3, "0")
    expect(page.locator("#outbox")).to_contain_text("1 menunggu Luring")
    page.locator('a[rel="next"]').click()
    rating.expect_question(2)
    rating.press("y")
    rating.expect_state(1, "unsaved")
    page.goto(f"{own_server.url}/runs/{run_id}")
    expect(page.locator("h1")).to_have_text("Server tidak dapat dihubungi")
    page.get_by_role("link", name="3. ").evaluate(FOLLOWED_AS_THE_NETWORK_COMES_AND_GOES)
    rating.expect_question(3)
    expect(page.locator("#outbox")).to_contain_text("2 menunggu Luring")

    context.set_offline(False)
    expect_waiting(page, 0)
    expect(page.locator("#outbox")).to_be_hidden()
    result = stored(own_server, run_id)
    assert result[0].relevance[:4] == (1, "unsure", 0, None)
    assert result[1].relevance[:2] == (1, None)
    assert [event["sequence"] for event in own_server.events()] == [1, 2, 3, 4]


def test_a_blind_rater_goes_on_offline_and_leaves_nothing_behind_on_signing_out(
    blind_server: Server, context_of: NewContext
) -> None:
    """Three questions are at hand; after the sign-out no copy is, and the next rater sees none."""
    context = context_of()
    page = context.new_page()
    join(page, invite(blind_server, "Ani"))
    first = page.url
    copies = wait_for(page, COPIES, lambda urls: len(urls) == 3)
    context.set_offline(True)
    page.keyboard.type("yyyyy")
    expect(page).not_to_have_url(first)  # whole answers come with the network
    expect(page.locator("#card-1")).to_be_focused()
    page.keyboard.press("t")
    expect(page.locator("#card-1 .state")).to_have_attribute("data-state", "unsaved")
    expect_waiting(page, 6)
    context.set_offline(False)
    expect_waiting(page, 0)
    assert [event["new"] for event in blind_server.events()] == [*"111110"]

    page.locator("#menu > summary").click()
    page.get_by_role("button", name="Keluar").click()
    expect(page.locator("html")).to_have_attribute("data-rater", "")
    wait_for(page, COPIES, lambda urls: urls == [])
    context.set_offline(True)
    page.goto(copies[0])
    expect(page.locator("h1")).to_have_text("Server tidak dapat dihubungi")
    expect(page.locator("#kept li")).to_have_count(0)


@pytest.mark.thorough
def test_the_next_questions_are_kept_after_attempts_that_failed(
    server: Server, run_id: str, context_of: NewContext
) -> None:
    """The worker or a copy fails at first; the page is there before the worker or without it."""
    context = context_of()
    page = context.new_page()
    page.add_init_script(FAILING_ONCE)
    RatingPage(page, server.url, run_id).open(1)
    wait_for(page, COPIES, lambda urls: len(urls) == 4)
    page.evaluate(UNKEPT)
    with page.expect_navigation():
        context.new_cdp_session(page).send("Page.reload", {"ignoreCache": True})
    assert page.evaluate("isUncontrolled")
    wait_for(page, COPIES, lambda urls: len(urls) == 4)


def test_pages_of_the_owner_are_not_kept(
    server: Server, run_id: str, context_of: NewContext
) -> None:
    """Studies and their figures are there with the server, and only with it."""
    page = context_of().new_page()
    for path in ("/", f"/runs/{run_id}", f"/runs/{run_id}/queries/1"):
        page.goto(server.url + path)
    result = wait_for(page, COPIES, lambda urls: len(urls) == 4)
    assert {path.rpartition("/")[0] for path in result} == {f"{server.url}/runs/{run_id}/queries"}
