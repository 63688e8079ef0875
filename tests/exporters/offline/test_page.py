from __future__ import annotations

from collections.abc import Iterator

import pytest
from jinja2 import Environment

from relevansi import labels
from relevansi.app import create_app
from relevansi.config import Settings, resource
from relevansi.exporters.frame.scripts import imported
from relevansi.exporters.offline import page as offline_page
from relevansi.exporters.offline.page import OfflineCard, OfflineQuestion, OfflineRun, OfflineTurn
from relevansi.importers.runs import ratings as offline_ratings
from relevansi.kinds.property import Card, CardParticulars, Particulars
from relevansi.records import QueryState
from tests.exporters.one_language import foreign
from tests.page import Page


def _offline_run(*, blind: bool) -> OfflineRun:
    fields = {
        "url": "https://x.id/a", "price": 1_670_000_000, "price_max": 2_000_000_000,
        "price_note": "nego", "location": "Medan", "bedrooms": 3, "bathrooms": 2,
        "land_area": 102.5, "building_area": 90.0, "floors": 2, "certificate": "SHM",
        "listing_type": "sale", "source": "listing",
    }  # fmt: skip
    rent = {"price": 650_000_000, "price_period": "year", "listing_type": "rent"}
    particulars = Particulars("x", ("x",), (("address", "x"), ("furnished", True)), 3.58, 98.67)
    particulars_of_a = CardParticulars(
        headings=("x",), lines=("x" * 200,), listed=particulars, recorded=particulars,
        record=Card("b", price=5), place="USU", listed_km=1.25, recorded_km=0.75,
    )  # fmt: skip
    cards = (
        OfflineCard(1, Card("a", **fields), 0, "slug:a", (3,), particulars_of_a),  # type: ignore[arg-type]
        OfflineCard(2, Card("b", **rent), 1, "slug:b"),  # type: ignore[arg-type]
        OfflineCard(3, Card("a", source="project"), 0, "slug:a", (1,)),
    )
    turn = OfflineTurn(1, "cari rumah")
    questions = [
        OfflineQuestion(
            *(number, "cari rumah", category, number > 1, state, "x" if cards else ""),
            error="timeout" if state is QueryState.FAILED else None,
            note="x",
            turns=(turn,) if number > 1 else (),
            cards=cards if state is QueryState.RESULTS else (),
        )
        for number, (category, state) in enumerate(
            zip([*labels.CATEGORIES], QueryState, strict=False), start=1
        )
    ]
    return OfflineRun("ab", "x", tuple(questions), blind, "not_relevant", "hybrid", "openai", "1")


@pytest.fixture(name="templates", scope="module")
def _templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    folder = tmp_path_factory.mktemp("templates")
    app = create_app(Settings.from_environment({"RELEVANSI_INSTANCE": str(folder)}))
    yield app.jinja_env
    app.extensions["database"].close()


@pytest.mark.parametrize("blind", [True, False])
def test_each_language_of_the_page_without_a_server_is_one_language(
    templates: Environment, blind: bool
) -> None:
    page = Page(offline_page.page(templates, _offline_run(blind=blind)).decode())
    for button in page.all("button[lang]"):  # a language's own name
        button.element.drop_tree()

    for language in ("id", "en"):
        assert foreign(page.one(f"template[lang={language}]").markup, language) == []


def test_the_page_and_the_reader_mean_the_same_format() -> None:
    assert offline_page.FORMAT == offline_ratings.FORMAT
    assert offline_page.VERSION == offline_ratings.VERSION


def test_every_script_comes_after_those_that_it_imports() -> None:
    before: set[str] = set()
    for name, file in offline_page.SCRIPTS.items():
        needed = imported((resource("static") / file).read_text("utf-8"))
        assert {script.rpartition("/")[2] for script in needed} <= before, name
        before.add(name)
