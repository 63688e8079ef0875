"""Runs compared under V2: the constraints of gold questions in a comparison."""

from __future__ import annotations

import json
import re

import pytest
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.gold.gold_files import gold_bytes, listing, v2_file
from tests.web.comparisons.test_comparisons import address
from webapp.db.engine import Database
from webapp.db.tables.runs import Run
from webapp.importers.runs import json_runs
from webapp.services.gold import gold
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies


@pytest.fixture(name="checked")
def _checked(web_database: Database) -> tuple[str, str]:
    """Two V2 runs: CPRs 1, 3/4, 1/2, 0, 0 (two cards wait) against one card of 3/4."""
    other = json.loads(v2_file({1: [listing("b", price=2_000_000_000)], 2: [], 3: []}))
    with web_database.writing() as session:
        study = studies.open_or_make(session, NOW)
        found = [
            imports.store(session, study, json_runs.read("results.json", data), Labels(), NOW).id
            for data in (v2_file(), json.dumps(other | {"method": "api_only"}).encode())
        ]
        session.commit()
    return found[0], found[1]


def give_gold(database: Database, run_id: str) -> None:
    """Give the question set of a run the made-up gold questions."""
    with database.writing() as session:
        study = studies.current(session)
        assert study is not None
        owner, run = studies.raters(session, study)[0], session.get_one(Run, run_id)
        gold.import_file(session, owner, run.question_set_id, "gold.json", gold_bytes(), NOW)
        session.commit()


def test_without_gold_questions_the_comparison_says_how_to_add_them(
    client: FlaskClient, checked: tuple[str, str]
) -> None:
    page = client.get(f"/comparisons/{address(checked, part='constraints')}").text

    assert "No gold questions say yet what each question asks" in page
    assert f'href="/constraints/{checked[0]}"' in page
    document = json.loads(client.get(f"/comparisons/report.json{address(checked)}").data)
    assert document["constraints"] is None


def test_the_runs_of_a_phase_are_compared_under_v2(
    client: FlaskClient, web_database: Database, checked: tuple[str, str]
) -> None:
    """Mean CPR 2.25 / 5 = 0.45 against 0.75; both meet question 1 (3/4 each: no difference).

    Question 2 has data: both miss it (FN); question 3 has none: TN for both.
    """
    give_gold(web_database, checked[0])
    page = client.get(f"/comparisons/{address(checked, part='constraints')}").text
    shown = " ".join(re.sub(r"<[^>]+>", " ", page).split())

    assert "Mean CPR 0.4500 n = 5 0.7500 n = 1" in shown
    assert "Strict success ratio 0.2000 n = 5 0.0000 n = 1" in shown
    assert "Query success rate 0.6667 n = 3 0.6667 n = 3" in shown
    assert "Per-constraint accuracy (PCA): Price 0.6667 n = 3 0.0000 n = 1" in shown
    assert "Hybrid waits for decisions by hand on the cards of question 2: until" in shown
    assert "Hybrid and API Only are equal" in shown
    assert "TP: has data, met 1" in shown
    assert f'href="/constraints/{checked[1]}"' in page
    document = json.loads(client.get(f"/comparisons/report.json{address(checked)}").data)
    first, second = document["constraints"]["runs"]
    assert (first["mean_cpr"], second["mean_cpr"]) == (0.45, 0.75)
    assert first["pending"] == {"2": 2}
    assert (
        "## Constraints (V2)" in client.get(f"/comparisons/report.markdown{address(checked)}").text
    )
    alone = client.get(f"/constraints/{checked[0]}").text
    assert "Compare the runs of this question set under V2" in alone


def test_v2_figures_have_the_reader_s_decimals(
    client: FlaskClient, web_database: Database, checked: tuple[str, str]
) -> None:
    give_gold(web_database, checked[0])
    for language, shown in (("id", "0,4500"), ("en", "0.4500"), ("id", "0,4500")):
        client.set_cookie("language", language)
        assert shown in client.get(f"/comparisons/{address(checked, part='constraints')}").text
