"""Under one rule, the page, the report and every export say the same."""

from __future__ import annotations

import csv
import io
import json

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import card, click, query, run
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.runs import csv_ratings
from webapp.metrics.judging.summaries import figures, totals
from webapp.records import EmptyOutcome, Relevance
from webapp.services.exports import exports
from webapp.services.judging import judgments, live_metrics
from webapp.services.judging.judgments import AnswerRating
from webapp.services.judging.live_metrics import Standing
from webapp.services.runs import imports, reports
from webapp.services.runs.imports import Labels
from webapp.services.runs.reports import Rule, UnknownRater, UnknownRule
from webapp.services.study import studies

YES, NO, UNSURE = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study, rater: Rater) -> str:
    """A run rated so that every state occurs: the figures are worked out in the tests."""
    read = run(
        query(1, card("a"), card("b"), card("c"), category="x"),
        query(2, card("d"), card("e"), category="x"),
        query(3, category="y"),
        query(4, card("f"), category="y"),
    )
    run_id = imports.store(session, study, read, Labels(), NOW).id
    said = [(1, 1, NO), (1, 2, YES), (1, 3, UNSURE), (2, 1, YES), (2, 2, YES)]
    for number, (query_id, rank, verdict) in enumerate(said):
        judgments.judge(session, rater, run_id, query_id, rank, verdict, click(f"e{number}"))
    rating = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    judgments.rate(session, rater, run_id, 3, rating, click("e10"))
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=3, notes="=1+1"), click("e11"))
    return run_id


def test_the_report_is_what_the_live_sums_say(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    report = reports.report(session, study, run_id, reports.of_rater(rater))
    categories = live_metrics.by_category(session, rater.id, run_id)
    live = Standing.together(categories.values()).totals

    expected = figures(totals(report))
    for name, figure in figures(live).items():
        assert figure.value == pytest.approx(expected[name].value, abs=1e-12), name
        assert figure.lower == pytest.approx(expected[name].lower, abs=1e-12), name
        assert figure.upper == pytest.approx(expected[name].upper, abs=1e-12), name
        assert figure.n == expected[name].n


def test_figures_of_a_rated_run_worked_by_hand(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    found = figures(totals(reports.report(session, study, run_id, reports.of_rater(rater))))

    # P@5: 1/2 (cannot tell left out) and 2/2; RR: 1/2 and 1; false negative 0 beside them.
    assert found["mean_precision_at_5"].value == pytest.approx(0.75)
    assert found["mrr"].value == pytest.approx(0.75)
    assert found["mrr_answerable"].value == pytest.approx(0.5)
    assert found["success_rate"].value == pytest.approx(2 / 3)
    assert found["coverage"].value == pytest.approx(0.75)
    assert found["mean_response_quality"].value == 3
    # With question 4 open: (0.5 + 1 + 0) / 3 and (0.5 + 1 + 1) / 3.
    assert found["mean_precision_at_5"].lower == pytest.approx(0.5)
    assert found["mean_precision_at_5"].upper == pytest.approx(2.5 / 3)


def test_every_export_tells_the_same_counts(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    rule = reports.of_rater(rater)
    report = reports.report(session, study, run_id, rule)
    document = json.loads(exports.export(session, study, run_id, rule, "json").data)
    rated = exports.export(session, study, run_id, rule, "csv").data
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
        assert exports.export(session, study, run_id, rule, name).data


def test_a_cell_that_a_spreadsheet_would_run_is_neutralised(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    rated = exports.export(session, study, run_id, reports.of_rater(rater), "csv").data.decode()

    assert ",=1+1" not in rated
    assert csv_ratings.read("r.csv", rated.encode()).report.rows[0].notes.startswith("=1+1")


def test_documents_of_the_trec_files_carry_identity_and_content(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    file = exports.export(session, study, run_id, reports.of_rater(rater), "qrels")

    assert "2 0 slug:d/1 1" in file.data.decode().splitlines()
    assert file.notes[0].startswith("1 ")  # one cannot tell
    assert file.notes[1].startswith("1 ")  # one unjudged


def test_the_wide_csv_has_each_rater_s_columns_beside_the_merged_ones(
    session: Session, study: Study, run_id: str
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    judgments.judge(session, other, run_id, 2, 1, YES, click("b1"))
    judgments.judge(session, other, run_id, 2, 2, NO, click("b2"))
    wide = exports.export(session, study, run_id, Rule("majority"), "wide-csv").data

    row = list(csv.DictReader(io.StringIO(wide.decode())))[1]
    assert row["relevant_count"] == ""  # the second card is a tie
    assert row["relevant_count (Budi)"] == "1"
    assert row["precision_at_5 (Budi)"] == "0.5000"
    again = csv_ratings.read("wide.csv", wide)
    assert again.problems == ()
    assert len(again.report.rows) == 4


def test_majority_takes_the_median_quality_and_names_the_notes(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    judgments.rate(session, other, run_id, 1, AnswerRating(quality=4, notes="fine"), click("b1"))
    judgments.judge(session, other, run_id, 2, 1, NO, click("b2"))

    row, second, *_ = reports.report(session, study, run_id, Rule("majority")).rows
    assert row.summary.quality == 3.5
    assert row.notes == f"{rater.name}: =1+1 | Budi: fine"
    assert not second.summary.complete  # one relevant, one not: a tie


def test_unnamed_the_only_rater_counts_then_the_majority(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    assert reports.rule_of(session, study).name == f"rater {rater.name}"
    judgments.judge(session, other, run_id, 2, 1, NO, click("b2"))

    assert reports.rule_of(session, study).name == "majority"
    assert reports.rule_of(session, study, "rater Budi").rater is other
    with pytest.raises(UnknownRater):
        reports.rule_of(session, study, "rater Nobody")
    with pytest.raises(UnknownRule):
        reports.rule_of(session, study, "best of three")


def test_how_far_a_run_is_rated_follows_the_rule(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    own = reports.standing(session, study, run_id, reports.of_rater(rater))
    whole = Standing.together(live_metrics.by_category(session, rater.id, run_id).values())
    assert (own.open_judgments, own.open_queries) == (whole.open_judgments, whole.open_queries)

    second = studies.add_rater(session, study, "Second", NOW)
    judgments.judge(session, second, run_id, 4, 1, YES, click("second"))
    merged = reports.standing(session, study, run_id, Rule("majority"))

    # The first rater left the card of question 4 open; the second one's vote decides it.
    assert own.totals.n_complete == 3
    assert (merged.totals.n_complete, merged.open_judgments) == (4, 0)
