"""A study of documents shows its headline figures on every page and in every file."""

from __future__ import annotations

import csv
import io
import json

import pytest
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.services.judging import judgments
from relevansi.services.study import studies
from tests.page import Page
from tests.services.judging.ranked_studies import make_graded, store_lists, store_qrels
from tests.services.runs.runs import click
from tests.stored_studies import open_study
from tests.web.conftest import PART
from tests.web.rating.blind_study import begin, keys, set_study

LISTS = {"h1": ["a", "b", "c"], "h2": ["d", "e"], "h3": []}
OTHERS = {"h1": ["c", "x", "a"], "h2": ["e", "d"], "h3": ["f"]}


@pytest.fixture(name="pair")
def _pair(web_database: Database) -> tuple[str, str]:
    """Two runs: of h1 the second is graded, and a document that nobody lists; h2 is whole."""
    with open_study(web_database) as (session, study):
        owner = studies.raters(session, study)[0]
        make_graded(session, study)
        study.blind = False
        first = store_lists(session, study, "bm25", LISTS)
        second = store_lists(session, study, "dense", OTHERS)
        store_qrels(session, study, owner, {"h1": {"b": "2", "z": "3"}})
        for rank, grade in ((1, "1"), (2, "3")):
            judgments.judge(session, owner, first, 2, rank, grade, click(f"e{rank}"))
    return first, second


def test_pages_and_files_show_the_same_figures(client: FlaskClient, pair: tuple[str, str]) -> None:
    run = pair[0]
    decoded = json.loads(client.get(f"/runs/{run}/metrics.json").text)
    names = {"nDCG@10", "P@5", "RR@10", "success@10", "Judged@10"}
    assert set(decoded["figures"]) == names
    assert decoded["scale"] == {"top": 3, "from": 2}
    assert decoded["to_judge"] == 2
    of_h1 = decoded["queries"][0]
    assert of_h1["external_id"] == "h1"
    # 2 / log2(3) over 3 + 2 / log2(3): z has 3 and is in no list
    assert of_h1["figures"]["nDCG@10"]["value"] == pytest.approx(0.2961, abs=5e-5)
    assert of_h1["figures"]["P@5"] == {"value": 1 / 3, "lower": 1 / 3, "upper": 1.0}
    assert of_h1["figures"]["Judged@10"]["value"] == 1 / 3

    report = client.get(f"/runs/{run}/report.md").text
    assert "nDCG@10" in report
    assert "Composite" not in report
    page = client.get(f"/runs/{run}").text
    assert "P@5 (from grade 2)" in page
    assert "nDCG@10 (from" not in page
    rating = client.get(f"/runs/{run}/queries/1").text
    for name in ("nDCG@10", "P@5 (from grade 2)", "judged 0.33"):
        assert name in rating

    rows = list(csv.reader(io.StringIO(client.get(f"/runs/{run}/export.csv").text)))
    assert rows[0] == [
        *("query_id", "question", "category", "results_count", "relevant_count"),
        *("first_relevant_rank", "nDCG@10", "P@5", "RR@10", "success@10", "Judged@10", "notes"),
    ]
    assert rows[1][0] == "h1"
    assert rows[1][6:11] == ["0.2961", "0.3333", "0.5000", "1.0000", "0.3333"]
    assert rows[3][6:11] == ["", "", "0.0000", "0.0000", ""]  # an empty list, nothing judged


def test_a_page_shows_no_value_while_nothing_is_judged_and_files_follow_the_formula(
    client: FlaskClient, web_database: Database
) -> None:
    """An unjudged result has no gain: P@5 is 0 by its formula, and can still be all there is."""
    with open_study(web_database) as (session, study):
        make_graded(session, study)
        study.blind = False
        run = store_lists(session, study, "bm25", {"h1": ["a", "b"], "h2": ["c"]})
        store_lists(session, study, "dense", {"h1": ["b", "a"], "h2": ["c"]})

    figures = json.loads(client.get(f"/runs/{run}/metrics.json").text)["figures"]
    assert figures["P@5"] == {"value": 0.0, "n": 2, "lower": 0.0, "upper": 1.0}
    for path in ("/", "/runs/", f"/runs/{run}", "/comparisons/"):
        values = Page(client.get(path)).texts(".value, .val, .strip-cell .num")
        assert not any(value.startswith("0.00") for value in values), path
        assert any(value.startswith("–") for value in values), path
    numbers = Page(client.get(f"/runs/{run}/queries/1")).texts("#numbers b")
    assert numbers == ["–", "–", "0.00"]  # of RR and P@5; Judged@10 is no figure of the ranking


def test_a_click_answers_with_the_figures_it_moved(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    """A document of both runs is graded in one: the other run has its figures at once."""
    before = json.loads(client.get(f"/runs/{pair[1]}/metrics.json").text)["queries"][0]["figures"]
    address = f"/runs/{pair[0]}/queries/1/results/1/judgment"
    assert "judged 0.67" in client.post(address, data={"relevance": "3"}, headers=PART).text
    after = json.loads(client.get(f"/runs/{pair[1]}/metrics.json").text)["queries"][0]["figures"]
    assert after["Judged@10"]["value"] > before["Judged@10"]["value"]
    assert after["nDCG@10"]["value"] > (before["nDCG@10"]["value"] or 0)


def test_a_comparison_is_by_the_headline(client: FlaskClient, pair: tuple[str, str]) -> None:
    address = f"runs={pair[0]}&runs={pair[1]}"

    comparison = json.loads(client.get(f"/comparisons/report.json?{address}").data)
    assert comparison["headline"] == ["nDCG@10", "P@5", "RR@10", "success@10", "Judged@10"]
    assert "composite" not in comparison
    paired = dict.fromkeys(difference["figure"] for difference in comparison["differences"])
    assert list(paired) == ["nDCG@10", "P@5", "RR@10", "success@10"]
    assert list(comparison["stability"]["orders"]) == list(paired)
    (first, _) = comparison["runs"]
    assert first["figures"]["nDCG@10"]["n"] == 2
    assert set(first["categories"]) == {"category 0", "category 1", "category 2"}
    answer = comparison["questions"][0]["answers"][pair[0]]
    assert answer["figures"]["P@5"]["value"] == 1 / 3
    report = client.get(f"/comparisons/report.markdown?{address}").text
    assert "P@5 (from grade 2)" in report
    assert "omposite" not in report


def test_blind_raters_see_those_of_the_answers(
    client: FlaskClient, web_database: Database, pair: tuple[str, str]
) -> None:
    set_study(web_database, blind=True, figures="all", repeat_percent=0)
    address = begin(client)
    page = client.get(address).text

    assert pair
    assert "P@5 (from grade 2)" in page
    assert "nDCG@10" in page
    assert "Precision@5" not in page
    (key, *_) = keys(client.get(address))
    grade = {"card": key, "relevance": "2"}
    assert "judged " in client.post(f"{address}/judgment", data=grade, headers=PART).text
