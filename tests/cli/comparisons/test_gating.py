"""``relevansi gate``: what it prints, its exit codes, and the same of a server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import stamina
import yaml  # type: ignore[import-untyped]

from tests.chatbot.bots import Behaviour, raw, serving, status
from tests.cli.relevansi import document, environment, relevansi
from tests.web.programs.program import served, token
from webapp.app import create_app
from webapp.config import Settings, sqlite_url

WORKFLOW = Path(__file__).parents[3] / "docs" / "gate-workflow.yml"
QUESTIONS = range(1, 9)


def lines(tag: str, *docs: str) -> str:
    rows = (
        {"query": f"Question {q}", "doc_id": f"{q}-{doc}", "rank": rank, "system": tag}
        for q in QUESTIONS
        for rank, doc in enumerate(docs, 1)
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture(name="baseline")
def _baseline(tmp_path: Path) -> str:
    """A judged run of eight questions, each with the relevant item first; and files beside it."""
    files = {"base": ("yes", "no"), "good": ("yes", "none"), "bad": ("no", "none"), "new": ("new",)}
    for name, docs in files.items():
        (tmp_path / f"{name}.jsonl").write_text(lines(name, *docs), "utf-8")
    grades = (
        {"query": f"Question {q}", "doc_id": f"{q}-{doc}", "grade": int(doc == "yes")}
        for q in QUESTIONS
        for doc in ("yes", "no", "none")
    )
    (tmp_path / "grades.jsonl").write_text("".join(f"{json.dumps(g)}\n" for g in grades), "utf-8")
    given = (tmp_path / "base.jsonl", tmp_path / "grades.jsonl")
    imported = document(relevansi(tmp_path, "import", *given, "--json"))
    assert document(relevansi(tmp_path, "study", "--json"))
    return str(imported["runs"][0]["id"])


@pytest.mark.parametrize(
    ("name", "code", "outcome"),
    [("good", 0, "passed"), ("bad", 1, "failed"), ("new", 3, "too_little_judged")],
)
def test_the_exit_code_says_what_came_of_the_run(
    tmp_path: Path, baseline: str, name: str, code: int, outcome: str
) -> None:
    """0, 1 and 3; and the run is not in the study afterwards."""
    file = tmp_path / f"{name}.jsonl"
    asked = ("gate", file, "--baseline", baseline, "--floor", "success=0.9")
    said = relevansi(tmp_path, *asked, "--format", "json")

    assert said.returncode == code, said.stderr
    report = json.loads(said.stdout)
    assert (report["outcome"], report["exit_code"], report["run"]) == (outcome, code, None)
    assert len(document(relevansi(tmp_path, "runs", "--json"))["runs"]) == 1


def test_what_is_not_judged_is_listed_and_with_ask_put_before_raters(
    tmp_path: Path, baseline: str
) -> None:
    """The table names each result; the run that is kept waits for as many verdicts."""
    file = tmp_path / "new.jsonl"
    for form in ("table", "markdown"):
        said = relevansi(tmp_path, "gate", file, "--baseline", baseline, "--format", form)
        assert said.returncode == 3
        assert all(f"{question}-new" in said.stdout for question in QUESTIONS)

    said = relevansi(tmp_path, "gate", file, "--baseline", baseline, "--ask", "--method", "new one")

    assert said.returncode == 3
    found = document(relevansi(tmp_path, "runs", "--json"))["runs"]
    assert {one["search_method"]: one["open_judgments"] for one in found} == {
        "base": 0,
        "new one": 8,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--baseline", "none"), 1, "This study has no run none"),
        (("--floor", "P@5"), 2, '"P@5" is not a floor'),
        (("--floor", "best=1"), 2, "There is no figure of the name best"),
        (("--columns", "nothing"), 2, "ROLE=NAME"),
        (("--rule", "best of three"), 1, "is not a rule"),
        (("--url", "ftp://there"), 1, "is not an http or https address"),
        (("--url", "http://me:hunter2@127.0.0.1"), 1, "without a user and password"),
    ],
)
def test_what_is_asked_amiss_is_said_in_one_line(
    tmp_path: Path, baseline: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Usage has the code 2, every other failure 1; a secret in an address is not repeated."""
    file = tmp_path / "good.jsonl"
    done = relevansi(tmp_path, "gate", file, "--baseline", baseline, *arguments)

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "hunter2" not in done.stderr


@pytest.fixture
def with_token() -> Iterator[None]:
    def known(instance: Path, language: str) -> dict[str, str]:
        return {**environment(instance, language), "RELEVANSI_TOKEN": "the-token"}

    with (
        mock.patch("tests.cli.relevansi.environment", known),
        stamina.set_testing(True, attempts=3, cap=True),
    ):
        yield


@pytest.mark.usefixtures("with_token")
def test_a_server_is_asked_the_same_and_its_report_printed(tmp_path: Path, baseline: str) -> None:
    """The files and fields go there with the token; a busy server is asked again."""
    asked = ("gate", tmp_path / "bad.jsonl", "--baseline", baseline, "--floor", "RR=0.5")
    here = relevansi(tmp_path, *asked)
    report = relevansi(tmp_path, *asked, "--format", "json").stdout.encode()

    with serving(status(503, {"title": "Busy"}), raw(report)) as server:
        url = server.address.removesuffix("/chat")
        there = relevansi(tmp_path / "none", *asked, "--ask", "--depth", "7", "--url", url)

    assert (there.returncode, there.stdout) == (here.returncode, here.stdout) == (1, here.stdout)
    assert server.paths == ["/api/v1/gates"] * 2
    assert server.headers[1]["Authorization"] == "Bearer the-token"
    body = server.asked[1]
    for name, value in {"baseline": baseline, "floor": "RR=0.5", "ask": "1", "depth": "7"}.items():
        assert f'name="{name}"\r\n\r\n{value}\r\n'.encode() in body
    assert b'name="files"; filename="bad.jsonl"' in body
    assert (tmp_path / "bad.jsonl").read_bytes() in body
    assert b'name="rule"' not in body


def test_a_relevansi_that_serves_the_study_says_the_same(tmp_path: Path, baseline: str) -> None:
    """Its owner's token lets a gate in; without one it is refused."""
    app = create_app(Settings(sqlite_url(tmp_path / "relevansi.sqlite"), tmp_path))
    elsewhere = tmp_path / "elsewhere"
    known = {**environment(elsewhere, "en"), "RELEVANSI_TOKEN": token(app, "import")}
    asked = ("gate", tmp_path / "bad.jsonl", "--baseline", baseline, "--floor", "RR=0.5")
    here = relevansi(tmp_path, *asked, "--format", "json")

    with served(app) as address:
        to = ("--url", address.removesuffix("/api/v1"), "--format", "json")
        refused = relevansi(elsewhere, *asked, *to)
        with mock.patch("tests.cli.relevansi.environment", return_value=known):
            there = relevansi(elsewhere, *asked, *to)
    app.extensions["database"].close()

    assert (there.returncode, there.stdout) == (here.returncode, here.stdout) == (1, here.stdout)
    assert (refused.returncode, "(401)" in refused.stderr) == (1, True)


def test_the_rule_of_a_graded_study_is_named_as_its_verdicts_are_merged(tmp_path: Path) -> None:
    (run := tmp_path / "run.jsonl").write_text(lines("base", "yes"), "utf-8")
    grades = ({"query": f"Question {q}", "doc_id": f"{q}-yes", "grade": 2} for q in QUESTIONS)
    graded = tmp_path / "grades.jsonl"
    graded.write_text("".join(f"{json.dumps(g)}\n" for g in grades), "utf-8")
    relevansi(tmp_path, "study", "--scale", "0-2")
    found = document(relevansi(tmp_path, "import", run, graded, "--json"))

    asked = ("gate", run, "--baseline", found["runs"][0]["id"], "--rule", "majority")
    said = relevansi(tmp_path, *asked)

    assert said.returncode == 0
    assert "Rule: Median of all raters" in " ".join(said.stdout.split())


PROBLEM = {"title": "The token is not known", "status": 401, "detail": "Make another."}


@pytest.mark.usefixtures("with_token")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (status(401, PROBLEM), "(401): The token is not known. Make another. Set RELEVANSI_TOKEN"),
        (status(422, PROBLEM), "(422): The token is not known. Make another."),
        (status(404, {"error": "nothing"}), "(404): nothing"),
        (raw(b"<html>"), "is not the address of a Relevansi with gates"),
        (status(502, {}), "The server failed (502)"),
    ],
)
def test_a_server_that_refuses_is_a_failure_in_one_line(
    tmp_path: Path, baseline: str, answer: Behaviour, said: str
) -> None:
    """What the server says why is passed on, and what to do about a token."""
    with serving(answer) as server:
        asked = ("gate", tmp_path / "bad.jsonl", "--baseline", baseline)
        done = relevansi(tmp_path, *asked, "--url", server.address.removesuffix("/chat"))

    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are for bash")
def test_the_example_workflow_works(tmp_path: Path, baseline: str) -> None:
    """Its own commands, but for checkout and installation, gate a run of a study in a folder."""
    job = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["gate"]
    steps: list[dict[str, Any]] = [one for one in job["steps"] if "pip install" not in str(one)]
    (tmp_path / "search.py").write_text("print(open('good.jsonl').read(), end='')", "utf-8")
    summary = tmp_path / "summary.md"
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "relevansi").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m webapp "$@"\n')
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    known = {
        **environment(tmp_path, "en"),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "BASELINE": baseline,
        "RELEVANSI_URL": "",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    assert job["env"].keys() - known.keys() == {"RELEVANSI_TOKEN"}

    for step in steps:
        if "run" in step:
            call = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
            subprocess.run(call, cwd=tmp_path, env=known, check=True)

    assert summary.read_text("utf-8").startswith("# Passed")
