from __future__ import annotations

from pathlib import Path

import pytest

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.runs import Run
from relevansi.services.study import studies
from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW
from tests.services.planning.helped import (
    BY_MACHINE,
    BY_PEOPLE,
    drawn,
    judge,
    machine,
    study_of_two_runs,
)
from tests.stored_studies import open_study

OTHER = {1: "10", 2: "11", 3: "00", 4: "10"}
JSON = ("--format", "json")


@pytest.fixture(name="planned")
def _planned(tmp_path: Path, sqlite_template: Path) -> tuple[Database, str, str]:
    path = tmp_path / "relevansi.sqlite"
    path.write_bytes(sqlite_template.read_bytes())
    database = Database(sqlite_url(path))
    with database.writing() as session:
        first, second = study_of_two_runs(session, studies.open_or_make(session, NOW))
        ids = first.id, second.id
        session.commit()
    return database, *ids


@pytest.fixture(name="rated")
def _rated(planned: tuple[Database, str, str]) -> tuple[str, str]:
    database, *_ = planned
    with open_study(database) as (session, study):
        owner, mesin = studies.raters(session, study)[0], machine(session, study)
        first, second = (session.get_one(Run, run_id) for run_id in planned[1:])
        drawn(session, owner, first)
        for run, verdicts in ((first, BY_PEOPLE), (second, OTHER)):
            judge(session, mesin, run, BY_MACHINE)
            judge(session, owner, run, verdicts)
    database.close()
    return planned[1:]


def test_a_plan_says_the_questions_that_a_difference_takes(
    tmp_path: Path, planned: tuple[Database, str, str]
) -> None:
    assert planned
    command = ("plan", "--figure", "mrr", "--difference", "0.15", "--sd", "0.28")
    stdout = relevansi(tmp_path, *command).stdout
    assert "A difference of 0.15 takes 30 questions at a power of 80%, tested at 5%." in stdout

    printed = document(relevansi(tmp_path, *command, *JSON))
    assert (printed["questions"], printed["mixture"]) == (30, None)
    assert (printed["judgments"], printed["hours"], printed["set_questions"]) == (120, None, 8)
    assert [point["questions"] for point in printed["curve"]][:3] == [8, 10, 20]

    # (z0.975 + z0.8)^2 x 0.3^2 / 0.1^2 = 70.6; with the t distribution 73 (G*Power). No run yet.
    command = ("plan", "--sd", "0.3", "--difference", "0.1", *JSON)
    printed = document(relevansi(tmp_path / "empty", *command))
    assert (printed["questions"], printed["judgments"], printed["effort"]) == (73, None, None)


def test_a_sample_is_drawn_and_closed(tmp_path: Path, planned: tuple[Database, str, str]) -> None:
    database, *ids = planned
    assert "No sample is drawn" in relevansi(tmp_path, "sample").stdout
    assert document(relevansi(tmp_path, "sample", *JSON))["rule"] is None

    command = ("sample", "--questions", "4", "--seed", "7")
    rule = document(relevansi(tmp_path, *command, *JSON))["rule"]
    assert (rule["seed"], rule["n"], rule["of"]) == (7, 4, 8)
    waiting = document(relevansi(tmp_path, "estimate", "--run", ids[0], "--against", ids[1], *JSON))
    assert (waiting["value"], waiting["n"], waiting["of"], waiting["waiting"]) == (None, 0, 8, 4)

    with open_study(database) as (session, study):
        owner = studies.raters(session, study)[0]
        for run_id in ids:
            verdicts = dict.fromkeys(rule["sample"], "10")
            judge(session, owner, session.get_one(Run, run_id), verdicts)
    database.close()

    progress = " ".join(relevansi(tmp_path, "sample").stdout.split())
    assert "4 of 4 questions drawn are rated" in progress
    assert "Over all 8 questions, from the sample" in progress
    closed = document(relevansi(tmp_path, "sample", "--close", *JSON))
    assert closed["rule"]["outcome"] == "reached"
    late = relevansi(tmp_path, "sample", "--questions", "2")
    assert (late.returncode, "can no longer be chosen" in late.stderr) == (1, True)


def test_an_estimate_with_a_machine_and_without(tmp_path: Path, rated: tuple[str, str]) -> None:
    run, baseline = rated
    helped = document(relevansi(tmp_path, "estimate", "--run", run, "--machine", "Mesin", *JSON))
    alone = document(relevansi(tmp_path, "estimate", "--run", run, *JSON))

    assert (helped["n"], helped["of"], helped["valid"]) == (4, 8, True)
    assert helped["low"] < helped["value"] < helped["high"]
    assert helped["interval"]["method"].startswith("PPI++")
    assert (alone["machine"], alone["value"], alone["n"]) == (None, 0.75, 4)
    assert alone["rule"] == helped["rule"]

    command = ("estimate", "--run", run, "--against", baseline, "--figure", "mrr")
    for further in ((), ("--machine", "Mesin")):
        text = " ".join(relevansi(tmp_path, *command, *further).stdout.split())
        assert "seed 1936. It drew 4 of 8 questions at random. It was chosen before the" in text


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (("plan", "--runs", "a", "b"), 1, "A plan takes two runs"),
        (("plan", "--question-set", "2"), 2, "The study has 1 question set"),
        (("sample", "--seed", "7"), 2, "--seed goes with --questions"),
        (("sample", "--questions", "2", "--close"), 2, "Say either --questions or --close"),
        (("sample", "--questions", "2", "--kind", "sequence"), 2, "sequence"),
        (("sample", "--questions", "9"), 1, "at least 2 questions, and at most all"),
        (("sample", "--close"), 1, "No rule is in force"),
        (("plan", "--difference", "0.1", "--sd", "nan"), 2, "nan is no finite number"),
        (("estimate", "--run", "none"), 1, "none"),
        (("estimate", "--machine", "Owner", "--run"), 1, "Owner"),
    ],
)
def test_what_cannot_be_done_is_named(
    tmp_path: Path,
    planned: tuple[Database, str, str],
    command: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    process = relevansi(tmp_path, *command, *([planned[1]] if command[-1] == "--run" else []))

    assert (process.returncode, words in process.stderr) == (code, True)


def test_without_questions_there_is_no_sample_and_no_question_set(tmp_path: Path) -> None:
    assert "Nothing is known yet" in relevansi(tmp_path, "plan").stdout
    for command in (("plan", "--question-set", "1"), ("sample",)):
        assert "There are no questions yet" in relevansi(tmp_path, *command).stderr
