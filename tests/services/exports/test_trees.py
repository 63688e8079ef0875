"""The study as folders has a folder per method, and reports once something is rated."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.services.runs.runs import card, query, run, store
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.runs import csv_ratings, json_runs
from webapp.services.exports import trees
from webapp.services.runs import reports

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def files(session: Session, study: Study, rater: Rater) -> dict[str, bytes]:
    """Return the tree's files by path, made without pages to rate on."""
    return trees.tree(session, study, reports.of_rater(rater), None)[0]


def test_a_study_without_a_run_has_no_file(session: Session, study: Study, rater: Rater) -> None:
    assert files(session, study, rater) == {}


def test_an_unrated_run_has_a_template_and_no_report(
    session: Session, study: Study, rater: Rater
) -> None:
    store(session, study, run(query(1, card("a")), query(2)))

    assert sorted(files(session, study, rater)) == [
        "hybrid/evaluation_template_undated.csv",
        "hybrid/full_responses_undated.txt",
        "hybrid/test_results_latest.json",
        "hybrid/test_results_undated.json",
    ]


def test_a_rated_run_has_its_rated_csv_beside_an_empty_template(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    made = files(session, study, rater)

    template = csv_ratings.read("t.csv", made["hybrid/evaluation_template_undated.csv"]).report
    rated = csv_ratings.read("r.csv", made["hybrid/evaluation_rated_undated.csv"]).report
    assert not trees.is_rated(template)
    assert trees.is_rated(rated)
    assert [row.summary.results_count for row in template.rows] == [3, 2, 0, 1]
    assert "evaluation_report_undated.md" in made
    assert made["hybrid/test_results_latest.json"] == made["hybrid/test_results_undated.json"]
    again = json_runs.read("again.json", made["hybrid/test_results_latest.json"])
    assert [asked.question for asked in again.queries] == [f"Question {n}" for n in (1, 2, 3, 4)]
    assert rated_run not in repr(sorted(made))  # names follow from the run alone


@pytest.mark.usefixtures("rated_run")
def test_a_page_to_rate_on_lies_beside_each_run(
    session: Session, study: Study, rater: Rater
) -> None:
    made, _ = trees.tree(session, study, reports.of_rater(rater), lambda *_asked: b"<html>")

    pages = {path: data for path, data in made.items() if path.endswith(".html")}
    assert pages == {"hybrid/evaluation_undated.html": b"<html>"}


@pytest.mark.usefixtures("rated_run")
def test_cards_that_the_answer_does_not_give_again_are_named(
    session: Session, study: Study, rater: Rater
) -> None:
    """The fixture's cards were stored as such: its answers hold none to read."""
    _, notes = trees.tree(session, study, reports.of_rater(rater), None)

    # Questions 1, 2 and 4 show cards; question 3 is empty here and in the file.
    assert [int(note.split(":")[0].split()[-1]) for note in notes] == [1, 2, 4]
    assert all(note.startswith("hybrid/test_results_undated.json") for note in notes)
