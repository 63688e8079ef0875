"""A rated run is taken away in every format with the same figures."""

from __future__ import annotations

import csv
import io
import json

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import NO, YES, click
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.runs import csv_ratings
from webapp.metrics.judging.figures import figures, totals
from webapp.services.exports import exports
from webapp.services.judging import events
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


def test_every_export_tells_the_same_counts(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    rule = reports.of_rater(rater)
    report = reports.report(session, study, rated_run, rule)
    document = json.loads(exports.export(session, study, rated_run, rule, "json").data)
    rated = exports.export(session, study, rated_run, rule, "csv").data
    again = csv_ratings.read("rated.csv", rated)

    relevance = [
        [shown["relevance"] for shown in entry["results"]] for entry in document["queries"]
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
    for name in exports.FORMATS:
        assert exports.export(session, study, rated_run, rule, name).data


def test_a_cell_that_a_spreadsheet_would_run_is_neutralised(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    rated = exports.export(session, study, rated_run, reports.of_rater(rater), "csv").data.decode()

    assert ",=1+1" not in rated
    assert csv_ratings.read("r.csv", rated.encode()).report.rows[0].notes.startswith("=1+1")


def test_documents_of_the_trec_files_carry_identity_and_content(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    file = exports.export(session, study, rated_run, reports.of_rater(rater), "qrels")

    assert "2 0 slug:d/1 1" in file.data.decode().splitlines()
    assert file.notes[0].startswith("1 ")  # one cannot tell
    assert file.notes[1].startswith("1 ")  # one unjudged


def test_the_wide_csv_has_each_rater_s_columns_beside_the_merged_ones(
    session: Session, study: Study, rated_run: str
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    events.judge(session, other, rated_run, 2, 1, YES, click("b1"))
    events.judge(session, other, rated_run, 2, 2, NO, click("b2"))
    wide = exports.export(session, study, rated_run, Rule("majority"), "wide-csv").data

    row = list(csv.DictReader(io.StringIO(wide.decode())))[1]
    assert row["relevant_count"] == ""  # the second card is a tie
    assert row["relevant_count (Budi)"] == "1"
    assert row["precision_at_5 (Budi)"] == "0.5000"
    again = csv_ratings.read("wide.csv", wide)
    assert again.problems == ()
    assert len(again.report.rows) == 4
