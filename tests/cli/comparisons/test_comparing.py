"""``relevansi compare``: the page's comparison as a report, and refusals in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.relevansi import Stream, document, relevansi
from tests.conftest import NOW
from tests.services.runs.runs import card, click, query, run
from tests.stored_studies import study_in
from webapp.records import Relevance
from webapp.services.judging import events
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    """Three runs, the third of other questions; api is 1/1, hybrid 0/1."""
    with study_in(tmp_path) as (session, study):
        owner = studies.raters(session, study)[0]
        for method, slug, verdict in (("api", "a", "1"), ("hybrid", "b", "0")):
            read = run(query(1, card(slug)), method=method)
            run_id = imports.store(session, study, read, Labels(), NOW).id
            events.judge(session, owner, run_id, 1, 1, Relevance(verdict), click(slug))
        other = run(query(1, card("c"), text="Quite another"), method="other")
        imports.store(session, study, other, Labels(), NOW)
    return tmp_path


def runs(instance: Path) -> dict[str, str]:
    found = document(relevansi(instance, "runs", "--json"))["runs"]
    return {entry["search_method"]: entry["id"] for entry in found}


def test_the_same_runs_by_name_give_the_same_figures(instance: Path) -> None:
    ids = runs(instance)
    named = ("--runs", ids["api"], ids["hybrid"])

    by_name = relevansi(instance, "compare", *named, "--format", "json")
    by_phase = relevansi(instance, "compare", "--phase", "1", "--format", "json")

    assert by_name.stdout == by_phase.stdout
    assert json.loads(by_name.stdout)["differences"]
    done = relevansi(instance, "compare", "--runs", ids["api"], ids["other"])
    assert done.returncode == 1
    assert "different questions: api: 1; other: 1" in done.stderr


def test_on_a_terminal_the_steps_are_counted_and_nothing_else_is_different(
    instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = relevansi(instance, "compare", "--phase", "1", "--format", "json")
    monkeypatch.setattr(Stream, "isatty", lambda _: True)
    done = relevansi(instance, "compare", "--phase", "1", "--format", "json")

    assert piped.stderr == ""
    assert "4/4" in done.stderr
    assert done.stdout == piped.stdout


def test_resamples_and_seed_are_the_caller_s_and_are_named(instance: Path) -> None:
    done = relevansi(instance, "compare", "--phase", "1", "--seed", "7", "--resamples", "500")

    assert done.stdout.startswith("# Phase 1: search methods compared")
    # P@5 of api 1/1, of hybrid 0/1.
    assert re.search(r"\| Precision@5 \| 1\.00 n = 1 \| 0\.00 n = 1 \|", done.stdout)
    assert "500 resamples" in done.stdout
    assert "Seed 7." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--phase", "2"), 1, "A comparison needs two runs of one question set"),
        (("--runs", "x", "y"), 1, "This study has no run x"),
        ((), 2, "Say either --phase, --runs or --input."),
        (("--phase", "1", "--rule", "best of three"), 1, "is not a rule"),
        (("--phase", "9"), 2, "9"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    instance: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = relevansi(instance, "compare", *arguments)

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
