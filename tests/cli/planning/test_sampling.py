"""``relevansi sample``: drawn, extended, looked at and closed as on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import NO, YES, card, click, query
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.services.judging import events
from webapp.services.study import studies

SIZE = 6


@pytest.fixture(name="runs")
def _runs(tmp_path: Path, sqlite_template: Path) -> tuple[str, str]:
    """Two runs of six questions with a card each; every third is of category "b"."""
    (tmp_path / "relevansi.sqlite").write_bytes(sqlite_template.read_bytes())
    database = Database(sqlite_url(tmp_path / "relevansi.sqlite"))
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, second = (
            stored(
                session,
                study,
                method,
                *(
                    query(n, card(f"{method}{n}"), text=f"Q{n}", category="ab"[n % 3 == 0])
                    for n in range(1, SIZE + 1)
                ),
            )
            for method in ("api", "hybrid")
        )
        session.commit()
    database.close()
    return first, second


def judged(folder: Path, runs: tuple[str, str], positions: list[int]) -> None:
    """The first run's cards are right, the second's wrong."""
    database = Database(sqlite_url(folder / "relevansi.sqlite"))
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        for run_id, verdict in zip(runs, (YES, NO), strict=True):
            for n in positions:
                events.judge(session, owner, run_id, n, 1, verdict, click(f"{run_id}{n}"))
        session.commit()
    database.close()


def printed(folder: Path) -> str:
    """Return the state of the sample, its lines joined."""
    return " ".join(relevansi(folder, "sample").stdout.split())


def test_a_sample_is_drawn_by_category_extended_and_closed(
    tmp_path: Path, runs: tuple[str, str]
) -> None:
    assert "No sample is drawn" in relevansi(tmp_path, "sample").stdout
    assert document(relevansi(tmp_path, "sample", "--format", "json"))["rule"] is None

    asked = ("sample", "--questions", "3", "--by", "category", "--seed", "7")
    found = document(relevansi(tmp_path, *asked, "--format", "json"))
    assert (found["rule"]["seed"], found["rule"]["n"], found["rule"]["of"]) == (7, 3, SIZE)
    assert sorted(found["rule"]["strata"]) == ["a", "a", "b"]  # 2 and 1 of 4 and 2
    more = ("sample", "--more", "1", "--category", "b", "--format", "json")
    assert sorted(document(relevansi(tmp_path, *more))["rule"]["strata"]) == ["a", "a", "b", "b"]
    assert "It drew 4 of 6 questions at random." in printed(tmp_path)

    judged(
        tmp_path,
        runs,
        document(relevansi(tmp_path, "sample", "--format", "json"))["rule"]["sample"],
    )

    said = printed(tmp_path)
    assert "4 of 4 questions drawn are rated" in said
    assert "Over all 6 questions, from the sample" in said
    assert relevansi(tmp_path, "sample", "--more", "1").returncode == 1  # its size was fixed
    closed = document(relevansi(tmp_path, "sample", "--close", "--format", "json"))
    assert closed["rule"]["outcome"] == "reached"
    late = relevansi(tmp_path, "sample", "--questions", "2")
    assert late.returncode == 1
    assert "can no longer be chosen" in late.stderr


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--by", "category"), "--by goes with --questions"),
        (("--category", "b"), "--category goes with --more"),
        (("--questions", "2", "--more", "2"), "Say one of --questions, --more and --close"),
        (("--questions", "2", "--kind", "sequence"), "sequence"),
        (("--questions", "2", "--question-set", "2"), "The study has 1 question set"),
    ],
)
def test_options_that_do_not_go_together_are_named(
    tmp_path: Path, runs: tuple[str, str], asked: tuple[str, ...], said: str
) -> None:
    assert runs
    found = relevansi(tmp_path, "sample", *asked)

    assert found.returncode == 2
    assert said in found.stderr


def test_what_cannot_be_drawn_is_said_in_one_line(tmp_path: Path, runs: tuple[str, str]) -> None:
    assert runs
    for asked, said in (
        (("--questions", "7"), "at least 2 questions, and at most all"),
        (("--more", "2"), "No rule is in force"),
        (("--close",), "No rule is in force"),
    ):
        found = relevansi(tmp_path, "sample", *asked)
        assert found.returncode == 1
        assert said in found.stderr
        assert len(found.stderr.strip().splitlines()) == 1
    assert "There are no questions yet" in relevansi(tmp_path / "empty", "sample").stderr
