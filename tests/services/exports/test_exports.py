from __future__ import annotations

import csv
import io
import json

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.importers.runs import csv_ratings, json_runs
from relevansi.metrics.judging.figures import figures, totals
from relevansi.services.exports import exports, rated_runs, trees
from relevansi.services.exports.tool_files import TOOLS
from relevansi.services.judging import judgments
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import NO, YES, card, click, query, run, store


def test_every_export_has_the_same_counts(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    rule = reports.of_rater(rater)
    report = reports.report(session, study, rated_run, rule)
    document = json.loads(exports.export(session, study, rated_run, rule, "json").data)
    rated = exports.export(session, study, rated_run, rule, "csv").data
    again = csv_ratings.read("rated.csv", rated)

    relevance = [
        [result["relevance"] for result in entry["results"]] for entry in document["queries"]
    ]
    assert relevance == [[0, 1, "unsure"], [1, 1], [], [None]]
    assert [row["relevant_count"] for row in csv.DictReader(io.StringIO(rated.decode()))] == [
        "1", "2", "0", "",
    ]  # fmt: skip
    assert again.problems == ()
    for name, figure in figures(totals(report)).items():
        read = figures(totals(again.report))[name]
        assert read.value == pytest.approx(figure.value, abs=5e-5), name
        assert read.n == figure.n, name
    exported = {
        name: exports.export(session, study, rated_run, rule, name)
        for name in exports.FORMATS.keys() - TOOLS.keys()
    }
    assert all(file.data for file in exported.values())
    assert "2 0 slug:d/1 1" in exported["qrels"].data.decode().splitlines()
    assert (
        len(exported["qrels"].notes) == 3
    )  # one cannot tell, one unjudged, and what tools make of it


def test_the_wide_csv_has_each_rater_s_columns_beside_the_merged_ones(
    session: Session, study: Study, rated_run: str
) -> None:
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    judgments.judge(session, second_rater, rated_run, 2, 1, YES, click("b1"))
    judgments.judge(session, second_rater, rated_run, 2, 2, NO, click("b2"))
    wide = exports.export(session, study, rated_run, Rule("majority"), "wide-csv").data

    row = list(csv.DictReader(io.StringIO(wide.decode())))[1]
    assert row["relevant_count"] == ""  # the second card is a tie
    assert row["relevant_count (Budi)"] == "1"
    assert row["precision_at_5 (Budi)"] == "0.5000"
    again = csv_ratings.read("wide.csv", wide)
    assert again.problems == ()
    assert len(again.report.rows) == 4


def files(session: Session, study: Study, rater: Rater) -> dict[str, bytes]:
    return trees.tree(session, study, reports.of_rater(rater), lambda *_: b"<html>")[0]


def test_an_unrated_run_has_a_template_and_no_report(
    session: Session, study: Study, rater: Rater
) -> None:
    store(session, study, run(query(1, card("a")), query(2)))

    assert sorted(files(session, study, rater)) == [
        "hybrid/evaluation_template_undated.csv",
        "hybrid/evaluation_undated.html",
        "hybrid/full_responses_undated.txt",
        "hybrid/test_results_latest.json",
        "hybrid/test_results_undated.json",
    ]


def test_a_rated_run_has_its_rated_csv_beside_an_empty_template(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    exported = files(session, study, rater)

    template = csv_ratings.read("t.csv", exported["hybrid/evaluation_template_undated.csv"]).report
    rated = csv_ratings.read("r.csv", exported["hybrid/evaluation_rated_undated.csv"]).report
    assert not rated_runs.is_rated(template)
    assert rated_runs.is_rated(rated)
    assert [row.summary.results_count for row in template.rows] == [3, 2, 0, 1]
    assert "evaluation_report_undated.md" in exported
    assert (
        exported["hybrid/test_results_latest.json"] == exported["hybrid/test_results_undated.json"]
    )
    again = json_runs.read("again.json", exported["hybrid/test_results_latest.json"])
    assert [answer.question for answer in again.queries] == [f"Question {n}" for n in (1, 2, 3, 4)]
    assert rated_run not in repr(sorted(exported))  # names follow from the run alone


@pytest.mark.usefixtures("rated_run")
def test_a_page_to_rate_on_lies_beside_each_run(
    session: Session, study: Study, rater: Rater
) -> None:
    exported, _ = trees.tree(session, study, reports.of_rater(rater), lambda *_run: b"<html>")

    pages = {path: data for path, data in exported.items() if path.endswith(".html")}
    assert pages == {"hybrid/evaluation_undated.html": b"<html>"}


@pytest.mark.usefixtures("rated_run")
def test_cards_that_the_answer_does_not_give_again_are_named(
    session: Session, study: Study, rater: Rater
) -> None:
    """The fixture's cards were stored as such: its answers hold none to read."""
    _, notes = trees.tree(session, study, reports.of_rater(rater), lambda *_: b"<html>")

    # Questions 1, 2 and 4 show cards; question 3 is empty here and in the file.
    assert [int(note.split(":")[0].split()[-1]) for note in notes] == [1, 2, 4]
    assert all(note.startswith("hybrid/test_results_undated.json") for note in notes)
