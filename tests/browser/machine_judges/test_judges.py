from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults
from tests.browser.forked import ForkedServer
from tests.browser.server import copied
from tests.chatbot import bots
from tests.chatbot.bots import Bot
from tests.services.machine_judges import machines

pytestmark = pytest.mark.browser

HERE = "/study/machine-judges"
TERMS = "prompt_price=0.15&completion_price=0.6&currency=USD&most_calls=30&at_once=2"


class Judged(ForkedServer):
    """A server that knows an endpoint to judge through."""

    def __init__(self, instance: Path, bot: Bot) -> None:
        super().__init__(instance)
        self.bot = bot

    def environment(self) -> dict[str, str]:
        at = machines.endpoint(self.bot)
        variables = {"RELEVANSI_JUDGE_URL": at.url, "RELEVANSI_JUDGE_MODEL": at.model}
        return super().environment() | variables


@pytest.fixture(name="bot")
def _bot() -> Iterator[Bot]:
    """Finds half of everything relevant; its first answer cannot be read."""

    def decide(prompt: str) -> str:
        return "relevant" if len(prompt) % 2 else "not_relevant"

    with bots.serving(machines.text("Yes!"), machines.saying(decide)) as bot:
        yield bot


@pytest.fixture(name="judged")
def _judged(sample: tuple[Path, str], tmp_path: Path, bot: Bot) -> Iterator[Judged]:
    """The sample's hybrid run, 20 questions of it called relevant by the owner."""
    server = Judged(copied(sample[0], tmp_path / "instance"), bot)
    server.start()
    with closing(sqlite3.connect(server.instance / "relevansi.sqlite")) as connection:
        cards = connection.execute(
            "SELECT query_id, rank FROM results JOIN queries ON queries.id = query_key "
            "ORDER BY query_key, rank LIMIT 40"
        ).fetchall()
    for query_id, rank in cards:
        address = f"/runs/{sample[1]}/queries/{query_id}/results/{rank}/judgment"
        server.post(address, {"relevance": "1"})
    yield server
    server.stop()
    assert server.faults() == ""


@pytest.mark.thorough
def test_a_judge_is_made_priced_watched_and_put_in_use(
    judged: Judged, bot: Bot, open_tab: Callable[..., Page]
) -> None:
    """By mouse on a laptop; each state is looked at as a laptop and as a phone has it."""
    page = open_tab(locale="en-GB", reduced_motion="reduce")
    page.goto(f"{judged.url}{HERE}/")
    page.get_by_role("link", name="Make a machine judge").click()
    page.wait_for_url("**/new")
    _look(open_tab(reduced_motion="reduce"), page.url)
    page.get_by_label("Name").fill("Mesin")
    page.get_by_role("button", name="Make it").click()
    page.wait_for_url(lambda here: here.rpartition("/")[2].isdecimal())
    address = page.url
    page.goto(f"{address}?{TERMS}")
    _look(open_tab(reduced_motion="reduce"), page.url)
    bot.waiting.clear()
    behaviours, bot.behaviours = bot.behaviours, (*bot.behaviours[:1], bots.silent)
    page.get_by_role("button", name="Start: judge").click()
    expect(page.locator("#work strong")).to_have_text("At work now.")
    _look(open_tab(reduced_motion="reduce"), address)
    bot.behaviours = behaviours
    bot.released.set()

    # Nobody reloads: the page asks after the session, and shows what comes next once it is over.
    expect(page.locator("#work strong")).to_have_count(0)
    assert len(bot.asked) == 30
    expect(page.get_by_role("button", name="Show the cost")).to_be_visible()
    expect(page.locator("#earlier + ul h3")).to_contain_text("the limit was reached")
    expect(page.locator("#failed ~ ul li")).to_have_count(1)
    _look(open_tab(reduced_motion="reduce"), address)
    page.goto(f"{address}/agreement")
    _look(open_tab(reduced_motion="reduce"), page.url)
    page.get_by_role("button", name="Use this judge's figures").click()
    expect(page.locator(".release.open")).to_contain_text("Its figures are in use since")
    for address in (page.url, f"{judged.url}{HERE}/", f"{judged.url}/raters/"):
        _look(open_tab(reduced_motion="reduce"), address)


def _look(tab: Page, address: str) -> None:
    """Nothing is wrong with a page in either look."""
    tab.goto(address)
    assert faults(tab) == [], address
    tab.close()
