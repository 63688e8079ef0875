"""``relevansi plan``: the page's plan in a terminal, and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW
from tests.services.runs.runs import card, query, run
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    """One run of one question."""
    database = Database(sqlite_url(tmp_path / "relevansi.sqlite"))
    database.prepare()
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        imports.store(session, study, run(query(1, card("a"))), Labels(), NOW)
        session.commit()
    database.close()
    return tmp_path


def test_a_plan_says_the_questions_that_a_difference_takes(instance: Path) -> None:
    asked = ("plan", "--figure", "mrr", "--difference", "0.15", "--sd", "0.28")
    said = relevansi(instance, *asked).stdout
    assert "A difference of 0.15 takes 30 questions at a power of 80%, tested at 5%." in said

    found = document(relevansi(instance, *asked, "--format", "json"))
    assert (found["questions"], found["pair"], found["simulated"]) == (30, None, None)
    assert (found["judgments"], found["hours"], found["set_questions"]) == (30, None, 1)
    assert found["smallest_difference"] is None
    assert found["effort"]["things"] == 1.0
    assert [point["questions"] for point in found["curve"]][:2] == [5, 10]


def test_a_plan_with_a_deviation_needs_no_run(tmp_path: Path) -> None:
    """(z0.975 + z0.8)^2 x 0.3^2 / 0.1^2 = 70.6; with the t distribution 73 (G*Power)."""
    asked = ("plan", "--sd", "0.3", "--difference", "0.1")
    said = relevansi(tmp_path, *asked).stdout
    assert "A difference of 0.10 takes 73 questions at a power of 80%, tested at 5%." in said

    found = document(relevansi(tmp_path, *asked, "--format", "json"))
    assert (found["questions"], found["judgments"], found["effort"]) == (73, None, None)
    assert "A plan takes two runs" in relevansi(tmp_path, *asked, "--runs", "a", "b").stderr


def test_what_cannot_be_planned_is_said_in_one_line(instance: Path, tmp_path: Path) -> None:
    assert "Nothing is known yet" in relevansi(instance, "plan").stdout
    assert "A plan takes two runs" in relevansi(instance, "plan", "--runs", "a", "b").stderr
    assert (
        "The study has 1 question set" in relevansi(instance, "plan", "--question-set", "2").stderr
    )
    assert "enter a standard deviation" in relevansi(tmp_path / "empty", "plan").stdout
    empty = relevansi(tmp_path / "empty", "plan", "--question-set", "1")
    assert "There are no questions yet" in empty.stderr
