from __future__ import annotations

from pathlib import Path

import pytest

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.runs import Run
from relevansi.metrics.planning.assisted import assisted_mean
from relevansi.metrics.planning.sampling import sampled_mean
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


@pytest.fixture(name="made")
def _made(tmp_path: Path, sqlite_template: Path) -> tuple[Database, str, str]:
    path = tmp_path / "relevansi.sqlite"
    path.write_bytes(sqlite_template.read_bytes())
    database = Database(sqlite_url(path))
    with database.writing() as session:
        first, second = study_of_two_runs(session, studies.open_or_make(session, NOW))
        ids = first.id, second.id
        session.commit()
    return database, *ids


@pytest.fixture(name="rated")
def _rated(made: tuple[Database, str, str]) -> tuple[str, str]:
    database, *_ = made
    with open_study(database) as (session, study):
        owner, mesin = studies.raters(session, study)[0], machine(session, study)
        first, second = (session.get_one(Run, run_id) for run_id in made[1:])
        drawn(session, owner, first)
        for run, said in ((first, BY_PEOPLE), (second, OTHER)):
            judge(session, mesin, run, BY_MACHINE)
            judge(session, owner, run, said)
    database.close()
    return made[1:]


def test_a_plan_says_the_questions_that_a_difference_takes(
    tmp_path: Path, made: tuple[Database, str, str]
) -> None:
    assert made
    asked = ("plan", "--figure", "mrr", "--difference", "0.15", "--sd", "0.28")
    stdout = relevansi(tmp_path, *asked).stdout
    assert "A difference of 0.15 takes 30 questions at a power of 80%, tested at 5%." in stdout

    printed = document(relevansi(tmp_path, *asked, *JSON))
    assert (printed["questions"], printed["mixture"]) == (30, None)
    assert (printed["judgments"], printed["hours"], printed["set_questions"]) == (120, None, 8)
    assert [point["questions"] for point in printed["curve"]][:3] == [8, 10, 20]

    # (z0.975 + z0.8)^2 x 0.3^2 / 0.1^2 = 70.6; with the t distribution 73 (G*Power). No run yet.
    asked = ("plan", "--sd", "0.3", "--difference", "0.1", *JSON)
    printed = document(relevansi(tmp_path / "empty", *asked))
    assert (printed["questions"], printed["judgments"], printed["effort"]) == (73, None, None)


def test_a_sample_is_drawn_and_closed(tmp_path: Path, made: tuple[Database, str, str]) -> None:
    database, *ids = made
    assert "No sample is drawn" in relevansi(tmp_path, "sample").stdout
    assert document(relevansi(tmp_path, "sample", *JSON))["rule"] is None

    asked = ("sample", "--questions", "4", "--seed", "7")
    rule = document(relevansi(tmp_path, *asked, *JSON))["rule"]
    assert (rule["seed"], rule["n"], rule["of"]) == (7, 4, 8)
    waiting = document(relevansi(tmp_path, "estimate", "--run", ids[0], "--against", ids[1], *JSON))
    assert (waiting["value"], waiting["n"], waiting["of"], waiting["waiting"]) == (None, 0, 8, 4)

    with open_study(database) as (session, study):
        owner = studies.raters(session, study)[0]
        for run_id in ids:
            said = dict.fromkeys(rule["sample"], "10")
            judge(session, owner, session.get_one(Run, run_id), said)
    database.close()

    shown = " ".join(relevansi(tmp_path, "sample").stdout.split())
    assert "4 of 4 questions drawn are rated" in shown
    assert "Over all 8 questions, from the sample" in shown
    closed = document(relevansi(tmp_path, "sample", "--close", *JSON))
    assert closed["rule"]["outcome"] == "reached"
    late = relevansi(tmp_path, "sample", "--questions", "2")
    assert (late.returncode, "can no longer be chosen" in late.stderr) == (1, True)


def test_an_estimate_with_a_machine_and_without(tmp_path: Path, rated: tuple[str, str]) -> None:
    run, other = rated
    expected = assisted_mean([1, 0.5, 0.5, 1], [1, 0.5, 0, 1], [0.5, 1, 0, 0.5])
    assert expected.assisted is not None

    helped = document(relevansi(tmp_path, "estimate", "--run", run, "--machine", "Mesin", *JSON))
    alone = document(relevansi(tmp_path, "estimate", "--run", run, *JSON))

    assert helped["value"] == pytest.approx(expected.assisted.value)
    assert helped["low"] == pytest.approx(expected.assisted.interval.lower)
    assert helped["machine"]["weight"] == pytest.approx(expected.weight)
    assert (helped["n"], helped["of"], helped["valid"]) == (4, 8, True)
    assert helped["interval"]["method"].startswith("PPI++")
    assert (alone["machine"], alone["value"], alone["n"]) == (None, 0.75, 4)
    assert alone["rule"] == helped["rule"]
    by_sample = sampled_mean((0.5, 1, 1, 0.5), 8).interval
    assert (alone["low"], alone["high"]) == pytest.approx((by_sample.lower, by_sample.upper))

    asked = ("estimate", "--run", run, "--against", other, "--figure", "mrr")
    for further in ((), ("--machine", "Mesin")):
        said = " ".join(relevansi(tmp_path, *asked, *further).stdout.split())
        assert "seed 1936. It drew 4 of 8 questions at random. It was chosen before the" in said


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (("plan", "--runs", "a", "b"), 1, "A plan takes two runs"),
        (("plan", "--question-set", "2"), 2, "The study has 1 question set"),
        (("sample", "--seed", "7"), 2, "--seed goes with --questions"),
        (("sample", "--questions", "2", "--close"), 2, "Say either --questions or --close"),
        (("sample", "--questions", "2", "--kind", "sequence"), 2, "sequence"),
        (("sample", "--questions", "9"), 1, "at least 2 questions, and at most all"),
        (("sample", "--close"), 1, "No rule is in force"),
        (("plan", "--difference", "0.1", "--sd", "nan"), 2, "nan is no finite number"),
        (("plan", "--difference", "nan", "--sd", "1"), 2, "nan is no finite number"),
        (("collect", "--timeout", "inf"), 2, "inf is no finite number"),
        (("estimate", "--run", "none"), 1, "none"),
        (("estimate", "--machine", "Owner", "--run"), 1, "Owner"),
    ],
)
def test_what_cannot_be_done_is_named(
    tmp_path: Path, made: tuple[Database, str, str], asked: tuple[str, ...], code: int, said: str
) -> None:
    process = relevansi(tmp_path, *asked, *([made[1]] if asked[-1] == "--run" else []))

    assert (process.returncode, said in process.stderr) == (code, True)


def test_without_questions_there_is_no_sample_and_no_question_set(tmp_path: Path) -> None:
    assert "Nothing is known yet" in relevansi(tmp_path, "plan").stdout
    for asked in (("plan", "--question-set", "1"), ("sample",)):
        assert "There are no questions yet" in relevansi(tmp_path, *asked).stderr
