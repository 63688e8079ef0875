"""``relevansi estimate``: a figure from people's sample, alone or with a machine's help."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW
from tests.services.planning.helped import drawn, judge, machine, study_of_two_runs
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.metrics.planning.assisted import assisted_mean
from webapp.metrics.planning.sampling import Stratum, sampled_mean
from webapp.services.study import studies

BY_MACHINE = {1: "11", 2: "10", 3: "00", 4: "11", 5: "10", 6: "11", 7: "00", 8: "01"}
BY_PEOPLE = {1: "11", 2: "10", 3: "01", 4: "11"}
OTHER = {1: "10", 2: "11", 3: "00", 4: "10"}


@pytest.fixture(name="instance")
def _instance(tmp_path: Path, sqlite_template: Path) -> tuple[Path, str, str]:
    """A study in which people judged the sample and a machine everything, and its two runs."""
    path = tmp_path / "relevansi.sqlite"
    path.write_bytes(sqlite_template.read_bytes())
    database = Database(sqlite_url(path))
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        first, second = study_of_two_runs(session, study)
        drawn(session, owner, first)
        mesin = machine(session, study)
        for run, said in ((first, BY_PEOPLE), (second, OTHER)):
            judge(session, mesin, run, BY_MACHINE)
            judge(session, owner, run, said)
        ids = first.id, second.id
        session.commit()
    database.close()
    return tmp_path, *ids


def test_one_run_with_a_machine_and_without(instance: tuple[Path, str, str]) -> None:
    folder, run, _ = instance
    expected = assisted_mean([1, 0.5, 0.5, 1], [1, 0.5, 0, 1], [0.5, 1, 0, 0.5])
    assert expected.assisted is not None

    asked = ("estimate", "--run", run, "--format", "json")
    helped = document(relevansi(folder, *asked, "--machine", "Mesin"))
    alone = document(relevansi(folder, *asked))

    assert helped["value"] == pytest.approx(expected.assisted.value)
    assert helped["low"] == pytest.approx(expected.assisted.lower)
    assert helped["machine"]["weight"] == pytest.approx(expected.weight)
    assert helped["machine"]["share_saved"] == pytest.approx(expected.share_saved)
    assert (helped["n"], helped["of"], helped["valid"]) == (4, 8, True)
    assert helped["rule"]["kind"] == "machine_help"
    assert alone["machine"] is None
    assert (alone["value"], alone["n"], alone["of"]) == (0.75, 4, 8)
    assert alone["rule"] == helped["rule"]
    assert helped["interval"]["method"] == "PPI++, Student's t, 2 further questions"
    assert alone["interval"] == {
        "method": "bootstrap, Student's t, 2 further questions",
        "resamples": 10_000,
        "seed": 20260301,
        "confidence": 0.95,
    }
    # Without a machine it is the bootstrap of a size fixed beforehand, in the order of drawing.
    by_sample = sampled_mean([Stratum(8, (0.5, 1, 1, 0.5))])
    assert (alone["low"], alone["high"]) == pytest.approx(
        (by_sample.interval.lower, by_sample.interval.upper)
    )


def test_a_difference_is_printed_with_its_rule(instance: tuple[Path, str, str]) -> None:
    folder, first, second = instance
    asked = ("estimate", "--run", first, "--against", second, "--machine", "Mesin")

    said = relevansi(folder, *asked, "--figure", "mrr")

    assert said.returncode == 0, said.stderr
    assert "MRR, Hybrid − vector" in said.stdout
    assert "seed 1936. It drew 4 of 8 questions at random." in said.stdout
    assert "It was chosen before the first verdict." in said.stdout
    assert "Method: PPI++" in said.stdout


def test_a_figure_of_people_is_printed_with_its_rule_and_its_bootstrap(
    instance: tuple[Path, str, str],
) -> None:
    folder, run, _ = instance

    said = relevansi(folder, "estimate", "--run", run).stdout

    assert "It drew 4 of 8 questions at random. It was chosen before the first verdict." in said
    assert "(10,000 resamples, seed 20260301): valid for the size that was fixed." in said
    assert "Intervals take two further questions into account" in said


def test_a_sample_that_is_not_rated_yet_has_no_number(
    tmp_path: Path, sqlite_template: Path
) -> None:
    path = tmp_path / "relevansi.sqlite"
    path.write_bytes(sqlite_template.read_bytes())
    database = Database(sqlite_url(path))
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, second = study_of_two_runs(session, study)
        drawn(session, studies.raters(session, study)[0], first, 2)
        asked = ("estimate", "--run", first.id, "--against", second.id)
        session.commit()
    database.close()

    found = document(relevansi(tmp_path, *asked, "--format", "json"))
    said = relevansi(tmp_path, *asked).stdout

    assert (found["value"], found["low"], found["n"], found["of"]) == (None, None, 0, 8)
    assert found["waiting"] == 2
    assert "0 of 2 questions drawn are rated" in said


def test_what_does_not_exist_is_named(instance: tuple[Path, str, str]) -> None:
    folder, run, _ = instance

    for wrong in (("--machine", "Owner"), ("--machine", "Nobody"), ("--against", "none")):
        said = relevansi(folder, "estimate", "--run", run, *wrong)
        assert said.returncode == 1
        assert wrong[1] in said.stderr
        assert len(said.stderr.strip().splitlines()) == 1
