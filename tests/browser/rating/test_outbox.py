"""Clicks outlive the page: each is kept with its rater and sent once, in order."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

from tests.browser.blind import invite, join
from tests.browser.plans import stored
from tests.browser.rating_page import SAVED, UNSAVED, RatingPage, wait_until
from tests.browser.server import Server

pytestmark = pytest.mark.browser

NewContext = Callable[..., BrowserContext]
WAITING = """() => new Promise((resolve) => {
  indexedDB.open("relevansi").onsuccess = ({ target: { result } }) => {
    const all = result.transaction("events").objectStore("events").getAll();
    all.onsuccess = () => {
      result.close();
      resolve(all.result.filter(({ state }) => state === "waiting").length);
    };
  };
})"""


def expect_bar(page: Page, text: str) -> None:
    expect(page.locator("#outbox p")).to_contain_text(text, use_inner_text=True)


def expect_waiting(page: Page, events: int) -> None:
    """Wait until the browser keeps so many events that wait."""
    wait_until(page, lambda: page.evaluate(WAITING) == events)


def test_a_killed_tab_s_clicks_go(own_server: Server, run_id: str, context_of: NewContext) -> None:
    """Three clicks without a network, the tab gone; any page sends them, once, in order."""
    context = context_of()
    rating = RatingPage(context.new_page(), own_server.url, run_id)
    rating.open(1)
    context.set_offline(True)
    rating.press("y", "t", "r")
    rating.expect_state(3, "unsaved")
    expect_bar(rating.page, "3 menunggu")
    expect_waiting(rating.page, 3)
    rating.page.close()
    assert own_server.events() == []

    context.set_offline(False)
    page = context.new_page()
    page.goto(f"{own_server.url}/history/")
    expect_waiting(page, 0)
    events = own_server.events()
    assert [event["new"] for event in events] == ["1", "0", "unsure"]
    assert [event["sequence"] for event in events] == [1, 2, 3]
    assert stored(own_server, run_id)[0].relevance[:3] == (1, 0, "unsure")


@pytest.mark.parametrize("can_agree", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_of_two_tabs_one_sends(
    own_server: Server, run_id: str, context_of: NewContext, *, can_agree: bool
) -> None:
    """Clicks in both tabs without a network: numbered as one device's, each stored once."""
    context = context_of()
    if not can_agree:
        context.add_init_script("delete Navigator.prototype.locks; delete window.BroadcastChannel;")
    bodies: list[str] = []
    context.on(
        "request",
        lambda request: (
            bodies.append(request.post_data or "") if request.url.endswith("/judgment") else None
        ),
    )
    tabs = [RatingPage(context.new_page(), own_server.url, run_id) for _ in range(2)]
    for tab in tabs:
        tab.open(1)
    context.set_offline(True)
    tabs[0].press("y")
    tabs[0].expect_state(1, "unsaved")
    tabs[1].page.locator("#rank-2").focus()
    tabs[1].press("t")
    tabs[1].expect_state(2, "unsaved")
    tabs[0].press("r")
    expect_waiting(tabs[0].page, 3)
    bodies.clear()
    context.set_offline(False)

    tabs[0].expect_state(1, "saved")
    tabs[1].expect_state(2, "saved")
    expect_waiting(tabs[0].page, 0)
    events = own_server.events()
    assert [(event["new"], event["sequence"]) for event in events] == [
        ("1", 1), ("0", 2), ("unsure", 3),
    ]  # fmt: skip
    assert len({event["device"] for event in events}) == 1
    numbers = [re.search(r"sequence=(\d+)", body) for body in bodies]
    assert {int(number[1]) for number in numbers if number} == {1, 2, 3}


def test_a_click_is_never_sent_as_somebody_else(own_server: Server, context_of: NewContext) -> None:
    """Ani's click waits while Budi is at work on the same laptop, and goes out as hers."""
    _add_raters(own_server, "Ani", "Budi")
    context = context_of()
    page = context.new_page()
    _be(page, own_server, "Ani")
    _open_task(page, own_server)
    page.route("**/judgment", lambda route: route.abort())
    page.keyboard.press("y")
    expect(page.locator("#card-1 .state")).to_have_attribute("data-state", UNSAVED)

    second_tab = context.new_page()
    messages: list[str] = []

    def leave(dialog: Dialog) -> None:
        messages.append(dialog.message)
        dialog.accept()

    second_tab.on("dialog", leave)
    second_tab.route("**/judgment", lambda route: route.abort())
    _be(second_tab, own_server, "Budi")
    assert "Belum terkirim: 1" in messages[0]
    second_tab.unroute("**/judgment")
    _open_task(second_tab, own_server)
    expect_bar(second_tab, "1 milik penilai lain")
    second_tab.keyboard.press("t")
    expect(second_tab.locator("#card-1 .state")).to_have_attribute("data-state", SAVED)
    page.unroute("**/judgment")
    page.bring_to_front()
    expect(page.locator("#outbox")).to_contain_text("dipakai orang lain")
    assert [_name(own_server, event) for event in own_server.events()] == ["Budi"]

    _be(second_tab, own_server, "Ani")
    expect_waiting(second_tab, 0)
    assert [_name(own_server, event) for event in own_server.events()] == ["Budi", "Ani"]


def _add_raters(server: Server, *names: str) -> None:
    """Add people who rate on this computer, without signing in."""
    for name in names:
        server.post("/raters/", {"name": name})


def _be(page: Page, server: Server, name: str) -> None:
    """Say on the page of raters who is at work."""
    page.goto(f"{server.url}/sign-in")
    with page.expect_navigation(url=re.compile(r"/(rate/.*)?$")):
        page.get_by_role("button", name=name).click()


def _open_task(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/rate/")
    expect(page.locator("html")).to_have_class("scripted")


def _name(server: Server, event: sqlite3.Row) -> str:
    with closing(server.database()) as connection:
        expected = "SELECT name FROM raters WHERE id = ?"
        return str(connection.execute(expected, [event["rater_id"]]).fetchone()[0])


def test_the_later_device_stands(own_server: Server, run_id: str, context_of: NewContext) -> None:
    """A telephone without a network, an hour behind, sends what a laptop was later than."""
    pocket = context_of()
    pocket.add_init_script("const now = Date.now; Date.now = () => now() - 3_600_000;")
    telephone = RatingPage(pocket.new_page(), own_server.url, run_id)
    telephone.open(1)
    pocket.set_offline(True)
    telephone.press("y", "y")
    telephone.expect_state(2, "unsaved")
    own_server.post(f"/runs/{run_id}/queries/1/results/1/judgment", {"relevance": "0"})
    pocket.set_offline(False)

    telephone.expect_state(2, "saved")
    telephone.expect_state(1, "saved")
    telephone.expect_pressed(1, "0")  # the laptop's
    telephone.expect_pressed(2, "1")
    assert stored(own_server, run_id)[0].relevance[:3] == (0, 1, None)
    assert [event["new"] for event in own_server.events()] == ["0", "1", "1"]


def test_a_signed_out_rater_loses_nothing(blind_server: Server, page: Page) -> None:
    """The card is not called saved; the bar says why and what to do."""
    link = invite(blind_server, "Ani")
    join(page, link)
    page.context.clear_cookies()
    page.keyboard.press("y")
    expect(page.locator("#card-1 .state")).to_have_attribute("data-state", UNSAVED)
    expect_bar(page, "1 menunggu Anda sudah keluar")
    expect(page.locator("#outbox a")).to_be_visible()
    expect_waiting(page, 1)

    page.on("dialog", lambda dialog: dialog.accept())
    join(page, link)
    expect_waiting(page, 0)
    assert [_name(blind_server, event) for event in blind_server.events()] == ["Ani"]


def test_a_refused_click_is_shown_till_given_up(
    own_server: Server, run_id: str, page: Page
) -> None:
    """It holds nothing up, outlives a reload, and goes when its rater says so."""
    rating = RatingPage(page, own_server.url, run_id)
    page.route("**/results/1/judgment", lambda route: route.continue_(post_data="relevance=no"))
    rating.open(1)
    rating.press("y", "t")
    rating.expect_state(1, "refused")
    expect(page.locator("#notices [role=alert]")).to_be_visible()
    rating.expect_state(2, "saved")
    rating.open(1)
    rating.expect_state(1, "refused")
    expect_bar(page, "1 tidak diterima")
    page.locator("#outbox summary").click()
    line = page.locator("#outbox li")
    expect(line).to_contain_text("Carikan rumah dijual di daerah cemara")
    expect(line).to_contain_text("Nilai ini tidak dapat dipakai")
    line.get_by_role("button", name="Buang").click()
    rating.expect_state(1, "")
    expect(page.locator("#outbox")).to_be_hidden()


def test_a_browser_that_keeps_nothing_rates(own_server: Server, run_id: str, page: Page) -> None:
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    rating.press("y")
    rating.expect_state(1, "saved")
    page.context.set_offline(True)
    rating.press("t")
    rating.expect_state(2, "unsaved")
    expect_bar(page, "Peramban ini tidak menyimpan apa pun")
    assert "disimpan di sini" not in page.locator("#outbox p").inner_text()
    page.context.set_offline(False)
    rating.expect_state(2, "saved")
    assert [event["sequence"] for event in own_server.events()] == [1, 2]


def test_sync_needs_no_open_page(own_server: Server, run_id: str, context_of: NewContext) -> None:
    """The tab is gone; the network's return wakes the worker, which sends."""
    context = context_of()
    rating = RatingPage(context.new_page(), own_server.url, run_id)
    rating.open(1)
    rating.page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    context.set_offline(True)
    rating.press("y", "t")
    rating.expect_state(2, "unsaved")
    expect_waiting(rating.page, 2)
    registrations: list[str] = []
    bare = context.new_page()
    tools = context.new_cdp_session(bare)
    tools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda update: registrations.extend(
            registration["registrationId"] for registration in update["registrations"]
        ),
    )
    tools.send("ServiceWorker.enable")
    rating.page.close()
    wait_until(bare, lambda: bool(registrations))
    context.set_offline(False)
    target = {"origin": own_server.url, "registrationId": registrations[-1]}
    tools.send("ServiceWorker.dispatchSyncEvent", {**target, "tag": "outbox", "lastChance": True})
    wait_until(bare, lambda: len(own_server.events()) == 2)
    assert [event["new"] for event in own_server.events()] == ["1", "0"]


def cleared(page: Page, server: Server) -> None:
    """Delete what the browser keeps of the site, as in its settings."""
    tools = page.context.new_cdp_session(page)
    tools.send("Storage.clearDataForOrigin", {"origin": server.url, "storageTypes": "indexeddb"})


def deleted(page: Page, _server: Server) -> None:
    """Delete the database alone, which closes it for the page."""
    page.evaluate(
        "new Promise((done) => { indexedDB.deleteDatabase('relevansi').onsuccess = () => done(); })"
    )


@pytest.mark.parametrize("forget", [cleared, pytest.param(deleted, marks=pytest.mark.thorough)])
def test_a_browser_whose_memory_is_cleared_meanwhile_sends_what_its_page_still_has(
    own_server: Server, run_id: str, page: Page, forget: Callable[[Page, Server], None]
) -> None:
    """Offline, one click kept; then the memory is gone: what waits is said, and arrives."""
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    page.context.set_offline(True)
    rating.press("y")
    rating.expect_state(1, "unsaved")
    expect_waiting(page, 1)
    forget(page, own_server)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("#outbox p")).to_contain_text("1 menunggu")
    rating.press("t")
    rating.expect_state(2, "unsaved")
    expect(page.locator("#outbox p")).to_contain_text("2 menunggu")
    expect(page.locator("#outbox p")).to_contain_text("Peramban ini tidak menyimpan apa pun")
    page.context.set_offline(False)
    rating.expect_state(1, "saved")
    rating.expect_state(2, "saved")
    assert [event["new"] for event in own_server.events()] == ["1", "0"]


BOTH = "Sementara itu diubah di tempat lain: kedua teks disimpan"
TEXT = "yang ke-3 jauh dari Cemara"
DRAFTS = "() => Object.keys(localStorage).filter((name) => name.startsWith('draft ')).length"


def type_notes(rating: RatingPage) -> None:
    """Type while the page's time stands still: a slow machine would make two notes of one."""
    rating.page.clock.install(time=0)
    rating.open(1)
    rating.page.clock.pause_at(3_600)
    rating.press("n")
    rating.page.keyboard.type(TEXT)


def expect_no_draft(page: Page) -> None:
    """Wait until the browser keeps nothing typed that is not stored."""
    page.wait_for_function(f"(n) => ({DRAFTS})() === n", arg=0)


def test_notes_are_saved_while_typed(own_server: Server, run_id: str, page: Page) -> None:
    """A second after the last key, with focus still in the field; the page says so truly."""
    rating = RatingPage(page, own_server.url, run_id)
    type_notes(rating)
    page.clock.run_for(900)
    rating.expect_state("notes", "typed")
    page.clock.run_for(100)
    rating.expect_state("notes", "saved")
    assert rating.focus == "notes"
    assert [(event["field"], event["new"]) for event in own_server.events()] == [("notes", TEXT)]
    expect_no_draft(page)


def test_a_reload_loses_nothing_typed(own_server: Server, run_id: str, page: Page) -> None:
    rating = RatingPage(page, own_server.url, run_id)
    type_notes(rating)
    page.reload()
    expect(page.locator("#notes")).to_have_value(TEXT)
    rating.expect_state("notes", "saved")
    expect_no_draft(page)
    assert {event["new"] for event in own_server.events()} == {TEXT}


def test_offline_notes_arrive(own_server: Server, run_id: str, context_of: NewContext) -> None:
    """Even where nothing but the draft was kept: the tab went without a word to the page."""
    context = context_of()
    rating = RatingPage(context.new_page(), own_server.url, run_id)
    rating.open(1)
    rating.page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    rating.press("y")
    rating.expect_state(1, "saved")
    expect(rating.page.locator("#rating[data-ahead]")).to_be_attached()  # pages are kept
    context.set_offline(True)
    rating.press("n")
    rating.page.keyboard.type(TEXT)
    rating.expect_state("notes", "unsaved")
    rating.page.reload()
    expect(rating.page.locator("#notes")).to_have_value(TEXT)
    rating.expect_state("notes", "unsaved")
    rating.page.close()

    again = RatingPage(context.new_page(), own_server.url, run_id)
    context.set_offline(False)
    again.open(1)
    expect(again.page.locator("#notes")).to_have_value(TEXT)
    again.expect_state("notes", "saved")
    expect_no_draft(again.page)
    assert own_server.events()[-1]["new"] == TEXT


def test_notes_of_two_devices_are_both_kept_and_it_is_said(
    own_server: Server, run_id: str, context_of: NewContext
) -> None:
    """The telephone has no network while the laptop writes; then it writes on."""
    pocket = context_of()
    telephone = RatingPage(pocket.new_page(), own_server.url, run_id)
    telephone.open(1)
    pocket.set_offline(True)
    telephone.press("n")
    telephone.page.keyboard.type("harganya salah")
    telephone.expect_state("notes", "unsaved")
    own_server.post(f"/runs/{run_id}/queries/1/rating", {"notes": "jauh"})
    pocket.set_offline(False)

    expect(telephone.page.locator("#notes")).to_have_value("jauh\nharganya salah")
    expect(telephone.page.locator('[data-state-of="notes"]')).to_have_text(BOTH)
    telephone.page.keyboard.type(" sekali")
    telephone.expect_state("notes", "saved")
    expect_no_draft(telephone.page)
    assert own_server.events()[-1]["new"] == "jauh\nharganya salah sekali"


def test_an_old_draft_is_kept_beside_newer_words(
    own_server: Server, run_id: str, context_of: NewContext
) -> None:
    """The telephone's tab was ended in mid-sentence; the laptop's words are newer."""
    pocket = context_of()
    telephone = RatingPage(pocket.new_page(), own_server.url, run_id)
    telephone.open(1)
    telephone.page.route("**/rating", lambda route: route.abort())
    telephone.page.locator("#notes").fill("setengah kal")
    telephone.page.close()
    own_server.post(f"/runs/{run_id}/queries/1/rating", {"notes": TEXT})

    again = RatingPage(pocket.new_page(), own_server.url, run_id)
    again.open(1)
    expect_no_draft(again.page)
    expect(again.page.locator("#notes")).to_have_value(f"{TEXT}\nsetengah kal")
    result = [event["new"] for event in own_server.events() if event["field"] == "notes"]
    assert result == [TEXT, f"{TEXT}\nsetengah kal"]
