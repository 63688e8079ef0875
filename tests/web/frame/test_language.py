"""The reader's language and notation: chosen by the browser or the reader, the same for prices."""

from __future__ import annotations

from datetime import datetime

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given

from relevansi.db.engine import Database
from relevansi.i18n import language
from relevansi.importers.runs.prices import Price, read_price
from relevansi.kinds.property import Card
from relevansi.notation import full_price, period, price
from tests.importers.runs.cards import cards
from tests.page import Page
from tests.services.runs.runs import card, query
from tests.web.conftest import judge, stored


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("id", "id"),
        ("en", "en"),
        ("en-GB,en;q=0.9,id;q=0.8", "en"),
        ("fr", "id"),
        ("", "id"),
        ("en," * 5_000, "id"),
    ],
)
def test_the_browser_chooses(app: Flask, accepted: str, expected: str) -> None:
    answer = app.test_client().get("/", headers={"Accept-Language": accepted})

    assert Page(answer)["lang"] == expected


def test_the_readers_choice_outlasts_the_browsers_and_ends_with_its_request(
    client: FlaskClient,
) -> None:
    assert Page(client.get("/"))["lang"] == "en"
    assert language() == "id"
    client.post("/language", data={"to": "id"})

    assert Page(client.get("/"))["lang"] == "id"


@pytest.mark.parametrize(
    ("came_from", "goes_to"),
    [
        ("http://localhost/study/", "/study/"),
        ("http://localhost/runs/?a=1", "/runs/?a=1"),
        ("http://localhost//evil.example/", "/evil.example/"),
        ("http://localhost/\\evil.example", "/evil.example"),
        ("http://evil.example/study/", "/"),
        ("javascript:alert(1)", "/"),
        ("http://[", "/"),
        ("", "/"),
    ],
)
def test_switching_goes_back_and_never_away(
    client: FlaskClient, came_from: str, goes_to: str
) -> None:
    answer = client.get("/language?to=en", headers={"Referer": came_from})

    assert answer.status_code == 303
    assert answer.location == goes_to


@pytest.mark.parametrize("language", ["", "xx", "en" * 20])
def test_a_language_that_is_not_there_is_refused(client: FlaskClient, language: str) -> None:
    assert client.post("/language", data={"to": language}).status_code == 400
    assert client.get(f"/language?to={language}").status_code == 400


def test_ratios_are_written_as_the_reader_chose_and_files_keep_decimals(
    client: FlaskClient, web_database: Database
) -> None:
    runs = []
    for method, verdicts in (("api", "10"), ("hybrid", "11")):
        cards = [card(f"{method}-{rank}") for rank in (1, 2)]
        runs.append(stored(web_database, [query(1, *cards)], method=method))
        for rank, verdict in enumerate(verdicts, start=1):
            judge(client, runs[-1], 1, rank, verdict)
    run, pair = f"/runs/{runs[0]}", "&".join(f"runs={run_id}" for run_id in runs)
    files = [f"{run}/export.csv", f"{run}/report.md", f"/comparisons/report.html?{pair}"]
    before = {address: client.get(address).data for address in files}
    assert "0.50" in client.get(run).text

    referer = {"Referer": f"http://localhost{run}"}
    answer = client.post("/ratios", data={"to": "percent"}, headers=referer)

    assert (answer.status_code, answer.location) == (303, run)
    page = client.get(run).text
    assert "50%" in page
    assert "0.50" not in page
    compared = Page(client.get(f"/comparisons/?{pair}&part=differences"))
    assert "[−50; −50] points" in compared  # precision 1/2 and 2/2
    assert "−0.50" not in compared
    assert {address: client.get(address).data for address in files} == before
    client.post("/ratios", data={"to": "decimals"})
    assert "0.50" in client.get(run).text


def test_no_link_changes_how_ratios_are_written(client: FlaskClient) -> None:
    assert client.get("/ratios?to=percent").status_code == 405
    assert client.post("/ratios", data={"to": "words"}).status_code == 400


@pytest.mark.parametrize(
    ("low", "high", "printed"),
    [
        (800_000_000, 1_200_000_000, "Rp 800 jt – Rp 1,2 M"),
        (1_200_000_000, 1_500_000_000, "Rp 1,2 M – Rp 1,5 M"),
        (10_000, 312_500_000_000, "Rp 10.000 – Rp 312,5 M"),
        (1, 312_500_000_000, "Rp 1 – Rp 312.500.000.000"),  # "1 – 312,5 M" would be 1 M up
        (1_670_000_000, 1_671_000_000, "Rp 1,67 M – Rp 1,671 M"),
        (1_670_000_000, None, "Rp 1,67 M"),
        (1_115_000_000, None, "Rp 1,115 M"),
        (1_125_500_000, None, "Rp 1.125.500.000"),
        (999_999_999, None, "Rp 999.999.999"),  # below a limit of 1 M
        (312_125_000, None, "Rp 312.125.000"),  # "312,125 jt" could be 312.125 juta
        (10_000, 1_250_000_000_000, "Rp 10.000 – Rp 1,25 T"),
    ],
)
def test_a_range_is_printed_as_it_is_meant(low: int, high: int | None, printed: str) -> None:
    unbroken = (amount.replace(" ", "\xa0") for amount in printed.split(" – "))

    assert price(Card(title="Rumah", price=low, price_max=high)) == " – ".join(unbroken)


def test_a_period_names_its_day_once() -> None:
    first = datetime(2026, 8, 12, 9, 5, 10).astimezone()
    for day, hour, minute, expected in (
        (12, 9, 5, "12 Agu 2026, 09:05"),
        (12, 10, 40, "12 Agu 2026, 09:05 – 10:40"),
        (13, 9, 5, "12 Agu 2026, 09:05 – 13 Agu 2026, 09:05"),
    ):
        last = datetime(2026, 8, day, hour, minute, 50).astimezone()
        assert period(first, last).replace("\xa0", " ") == expected


@given(cards().filter(lambda card: card.price))
def test_what_a_page_prints_is_read_as_the_price_of_the_card(card: Card) -> None:
    note = "rent" if card.price_period else None
    full, short = (
        read_price(wording(card).replace("\xa0", " ")) for wording in (full_price, price)
    )

    assert full == Price(card.price, card.price_max, note, card.price_period)
    assert short == full
