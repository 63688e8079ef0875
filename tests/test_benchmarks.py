"""The benchmarks still work, and what they measure is what the product makes: not the figures."""

from __future__ import annotations

import doctest
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tests.benchmarks import report, results
from tests.benchmarks.by_effect import by_effect
from tests.benchmarks.clicking import minimal_clients
from tests.benchmarks.effort import QUICK
from tests.benchmarks.load import Client, Contestant, Place, Refused, take_turns
from tests.benchmarks.machine import machine
from tests.benchmarks.posts import posts
from tests.benchmarks.results import Measurement, Section, Target, Times
from tests.benchmarks.serving import minimal
from tests.benchmarks.studies import OWNER, Size, add_rater, card_keys, let_owner_judge, made_up
from webapp.db.engine import Database
from webapp.db.tables.judging import Event, JudgedThing
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Result
from webapp.services.judging import live_metrics
from webapp.services.rating import shares, tasks

SIZE = Size(questions=4, runs=3)


@pytest.fixture(name="study")
def _study(tmp_path: Path) -> Iterator[Database]:
    database = made_up(tmp_path, SIZE, blind=True)
    yield database
    database.close()


def test_a_made_up_study_is_one_that_the_product_could_have_made(study: Database) -> None:
    """Every stored figure is what the judgments make it, of somebody who stopped in between."""
    let_owner_judge(study, judged=2 * 18 + 5, given=4)
    add_rater(study, "Ani", judged=18, given=2)
    with study.reading() as session:
        assert live_metrics.check(session) == []
        shown, things = (
            session.scalar(select(func.count()).select_from(table))
            for table in (Result, JudgedThing)
        )
        owner = session.get_one(Rater, OWNER)
        standing = shares.progress(session, owner)
        events = session.scalar(select(func.count()).where(Event.rater_id == OWNER))
    assert (shown, things) == (3 * 4 * 10, 4 * 18)  # 10 + 4 + 4 distinct ones a question
    assert events == 41
    assert (standing.done, standing.open_judgments) == (2, 4 * 18 - 41)


def test_the_names_of_cards_are_those_that_a_rater_clicks_on(study: Database) -> None:
    let_owner_judge(study, given=1)
    ((task_id, keys),) = card_keys(study, OWNER, [1])
    with study.reading() as session:
        owner = session.get_one(Rater, OWNER)
        found = tasks.things(session, tasks.find(session, owner, task_id))
        assert len(keys) == len(found) == SIZE.pooled


def test_contestants_take_turns_and_every_answer_counts(tmp_path: Path) -> None:
    """Two clients with three clicks each, in two rounds, and lines of as many bytes as asked."""
    with minimal(tmp_path) as port:
        clicks = Contestant("clicks", port, minimal_clients(2, 3), requests=3)
        lines = [Client([Place("/lines/2000")])] * 2
        pages = replace(clicks, name="pages", clients=lines, method="GET", requests=1)
        commits = Contestant("commits", str(tmp_path), method="COMMIT", requests=2)
        found = take_turns([clicks, pages, commits], rounds=2)
    assert [one.times.n for one in found] == [12, 4, 4]
    assert [one.size for one in found[1:]] == [2000, 0]


def test_an_answer_that_is_no_success_ends_the_benchmark(tmp_path: Path) -> None:
    """A refusal is quick; it must not be taken for a fast answer."""
    with minimal(tmp_path) as port, pytest.raises(Refused, match="404"):
        take_turns([Contestant("lost", port, [Client([Place("/nowhere")])], requests=1)], 1)


@pytest.mark.thorough
def test_one_judgment_is_measured_beside_the_minimal_application_on_both_pages(
    tmp_path: Path,
) -> None:
    section = posts(replace(QUICK, clicks=2), tmp_path)
    assert [row.what for row in section.rows][::2] == [
        "judgment, open page",
        "judgment, blind page",
        "- one raw SQLite commit",
    ]
    assert all(row.times is not None and row.times.p50 > 0 for row in section.rows)
    assert len(section.targets) == 2


@pytest.mark.thorough
def test_the_next_question_by_effect_is_measured_beside_the_usual_order(tmp_path: Path) -> None:
    section = by_effect(replace(QUICK, clicks=8, compared=(4,)), tmp_path)
    assert [row.what for row in section.rows] == [
        "next question by effect, 5 runs x 4 questions x 10 cards",
        "- the usual order",
    ]
    assert [row.times.n for row in section.rows if row.times] == [2, 2]
    assert section.rows[0].ratio is not None
    (target,) = section.targets
    assert "under 50 ms at the 95th percentile" in target.asked


def test_the_page_says_what_was_asked_and_leaves_out_empty_columns() -> None:
    section = Section(
        "a. Waiting",
        "With a watch.",
        [
            Measurement("ours", Times.of([1.0, 2.0, 3.0]), yardstick="theirs", ratio=2.0),
            Measurement("- theirs", Times.of([1.0])),
        ],
        [Target("under 5 ms", "3 ms", met=True), Target("under 1 MB", "-", met=None)],
    )
    page = report.markdown([("processor", "one")], [section])
    assert "| under 5 ms | 3 ms | yes |\n| under 1 MB | - | not measured |\n" in page
    assert page.endswith(
        "## a. Waiting\n\nWith a watch.\n\n"
        "| what | n | p50 ms | p95 ms | p99 ms | yardstick | ratio |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| ours | 3 | 2 | 2.9 | 2.98 | theirs | 2 |\n"
        "| - theirs | 1 | 1 | - | - | - | - |\n"
    )


def test_the_machine_is_told_without_its_name_or_a_path(tmp_path: Path) -> None:
    told = " ".join(value for _, value in machine(tmp_path))
    assert str(tmp_path) not in told
    assert "/" not in told.replace("logical", "")


def test_the_examples_in_the_docstrings_hold() -> None:
    assert [doctest.testmod(module).failed for module in (report, results)] == [0, 0]


def test_an_unknown_benchmark_is_refused_by_name() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "--only", "posts,nothing"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == 2
    assert "unknown: nothing" in done.stderr
