"""What holds of all pages of both demos: within reach, each text once, whole and in one state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.routing import Rule

from relevansi.app import create_app
from relevansi.cli.frame.demo import prepared_demo
from relevansi.config import JudgeEndpoint
from tests.page import Page
from tests.web.conftest import in_english
from tests.web.phase_3.participants import as_participant
from tests.web.reached import as_rater, opened, reached
from tests.web.roles import is_for_programs

SHORT = 20
CUT = re.compile(r"\w…$")
BAND = re.compile(r"(\d+(?:[.,]\d+)?)%?–(\d+(?:[.,]\d+)?)%?")
STATES = {"en": ("Complete", "(provisional)"), "id": ("Lengkap", "(sementara)")}


ELSEWHERE = {
    "health.healthz": "asked by programs",
    "shell.worker": "asked by browsers",
    "shell.offline": "kept by browsers for a time without a network",
    "sign_in.check_cookie": "asks once whether the browser keeps cookies",
    "sign_in.greet": "opened by the link of an invitation",
    "long_work.show": "shown while a long work goes on",
    "long_work.take_away": "offered where a long work has ended",
    "study.ask_to_ask_again": "offered where a blind study has verdicts that were given openly",
    "participants.declined": "the answer to a button",
    "participants.link": "the answer to a button",
    "own_questions.look": "offered where the owner lets participants look things up",
    "telemetry.metrics": "asked by programs",
    "judgments.constraints": "a part that a judged card asks for",
    "judgments.live_figures": "a part that the panel of figures asks for",
    "rate.constraints": "a part that a judged card asks for",
    "rated_comparisons.report": "the print of files that were chosen",
}
"""Pages that no link of the demo leads to, and why."""


DEMOS = [
    ("properties", "id"),
    pytest.param(("documents", "en"), marks=pytest.mark.thorough),
]


@pytest.fixture(name="demo", scope="module", params=DEMOS)
def _demo(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Flask, str]]:
    """A demo, and the language in which it is read."""
    kind, language = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEVANSI_INSTANCE", str(tmp_path_factory.mktemp("texts")))
        settings = prepared_demo(documents=kind == "documents")
    app = create_app(replace(settings, judge=JudgeEndpoint("http://127.0.0.1:9/v1", "model")))
    yield app, language
    app.extensions["database"].close()


@pytest.fixture(name="by_address", scope="module")
def _by_address(demo: tuple[Flask, str]) -> dict[str, tuple[str, Page | None]]:
    """The endpoint of everything that clicks of the owner lead to, and its page, if it has one."""
    app, language = demo
    client = in_english(app)
    client.post("/language", data={"to": language})
    clicked = {address: (endpoint, page) for endpoint, address, page in opened(client, "/")}
    runs = clicked["/runs/"][1]
    assert runs is not None
    first, *_, last = dict.fromkeys(runs.links("tbody th a"))
    for run in (first, last):  # those between have the same parts
        for query in ("part=questions", "part=categories", "part=exports", "rule=adjudicated"):
            address = f"{run}?{query}"
            clicked[address] = "runs.show", Page(client.get(address, follow_redirects=True))
    return clicked


@pytest.fixture(name="pages", scope="module")
def _pages(
    demo: tuple[Flask, str], by_address: Mapping[str, tuple[str, Page | None]]
) -> tuple[str, dict[str, Page]]:
    """A language, and the main part of every page of a demo in it by its address."""
    pages = {
        address: page.one("main") for address, (_, page) in by_address.items() if page is not None
    }
    assert len(pages) > 40
    return demo[1], pages


@pytest.mark.parametrize("demo", [("properties", "id")], indirect=True)
def test_every_page_is_within_five_clicks(
    demo: tuple[Flask, str], by_address: Mapping[str, tuple[str, Page | None]]
) -> None:
    """Of the first page of those who may open it."""
    app, _ = demo
    result = {endpoint for endpoint, _ in by_address.values()}
    result |= {*reached(as_rater(app), "/"), *reached(as_participant(app), "/ask/")}
    pages = {rule.endpoint for rule in app.url_map.iter_rules() if _is_page(rule)}
    redirects = {name for name in pages if name.partition(".")[2] in {"back", "switch"}}
    redirects |= {name for name in pages if "after_" in name or name == "study.guidelines"}

    assert sorted(pages - redirects - ELSEWHERE.keys() - result) == []
    assert sorted(ELSEWHERE.keys() & result) == []


def _is_page(rule: Rule) -> bool:
    last = rule.rule.rpartition("/")[2]
    is_file = "." in last or last in {"<name>", "<filename>", "<path:filename>", "<path:name>"}
    is_read = "GET" in (rule.methods or ()) and not is_for_programs(rule.endpoint)
    return is_read and (not is_file or rule.endpoint == "guides.show")


def test_no_page_shows_a_value_as_the_program_writes_it(pages: tuple[str, dict[str, Page]]) -> None:
    """Nor has one in an address: what a template names wrongly is printed all the same."""
    for address, page in pages[1].items():
        assert " object at 0x" not in page.source, address


def test_no_line_stands_twice_and_none_ends_inside_a_word(
    pages: tuple[str, dict[str, Page]],
) -> None:
    for address, page in pages[1].items():
        twice = [
            line.text
            for line in page.all("p, h2, h3, dt")
            if len(line.text) > SHORT and line.text == line.before
        ]
        assert not twice, (address, twice[:1])
        cut = [text for text in page.texts("p, li, td, th, summary, dd") if CUT.search(text)]
        assert not cut, (address, cut[:1])


def test_an_open_figure_is_a_band_and_a_complete_page_has_none(
    pages: tuple[str, dict[str, Page]],
) -> None:
    """Whoever looks reads a value only where nothing can move it any more."""
    language, by_address = pages
    complete, provisional = STATES[language]

    for address, page in by_address.items():
        for text in page.texts(".value.open"):
            band = BAND.match(text)
            assert band, (address, text)
            low, high = (float(end.replace(",", ".")) for end in band.groups())
            assert low < high, (address, text)
        for text in page.texts(".value:not(.open)"):
            assert not BAND.match(text), (address, text)
        states = page.texts("#state, #finished")
        assert len(states) < 2, address
        if states == [complete]:
            assert not page.has(".value.open"), address
            assert provisional not in page.text, address
