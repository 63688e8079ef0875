"""``relevansi gate``: what it prints, its exit codes, and the same of a server."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import stamina
import yaml  # type: ignore[import-untyped]

from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url
from relevansi.services.comparisons.gate import EXIT_CODES
from tests.chatbot.bots import Behaviour, raw, serving, status
from tests.cli.relevansi import document, environment, relevansi
from tests.web.programs.program import served, token

WORKFLOW = Path(__file__).parents[3] / "docs" / "gate-workflow.yml"
QUESTIONS = range(1, 9)


def lines(tag: str, *docs: str, of: range = QUESTIONS) -> str:
    """Return the same list for each question, as lines of JSON."""
    rows = (
        {"query": f"Question {q}", "system": tag, "results": [{"doc_id": f"{q}-{d}"} for d in docs]}
        for q in of
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows)


FILES = {
    "base": lines("base", "yes", "no"),
    "good": lines("good", "yes", "none"),
    "bad": lines("bad", "no", "none"),
    "new": lines("new", "new"),
    "best": lines("best", "yes", of=range(1, 4)),
    "partly": lines("partly", "yes", "no", of=range(1, 8)) + lines(
        "partly", *("yes", "no", "none", "new", "newer"), of=range(8, 9)
    ),
    "dip": lines("dip", "yes", "no", of=range(1, 8)) + lines("dip", "none", "no", of=range(8, 9)),
}  # fmt: skip


@pytest.fixture(name="judged_baseline", scope="module")
def _judged_baseline(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A judged run of eight questions, each with the relevant item first; and files beside it."""
    instance = tmp_path_factory.mktemp("baseline")
    for name, text in FILES.items():
        (instance / f"{name}.jsonl").write_text(text, "utf-8")
    grades = (
        {"query": f"Question {q}", "doc_id": f"{q}-{doc}", "grade": int(doc == "yes")}
        for q in QUESTIONS
        for doc in ("yes", "no", "none")
    )
    (instance / "grades.jsonl").write_text("".join(f"{json.dumps(g)}\n" for g in grades), "utf-8")
    files = (instance / "base.jsonl", instance / "grades.jsonl")
    imported = document(relevansi(instance, "import", *files, "--json"))
    return instance, str(imported["runs"][0]["id"])


@pytest.fixture(name="baseline")
def _baseline(judged_baseline: tuple[Path, str], tmp_path: Path) -> str:
    shutil.copytree(judged_baseline[0], tmp_path, dirs_exist_ok=True)
    return judged_baseline[1]


@pytest.mark.parametrize(
    ("name", "further", "code"),
    [
        ("good", ("--floor", "success=0.9"), 0),
        ("bad", (), 1),  # worse: 2 of 256 signs, by Holm over four figures
        ("new", (), 3),
        ("best", ("--floor", "P@5=0.4", "--allow-missing"), 0),  # of the questions that it has
        ("partly", ("--figures", "P@5", "--min-judged", "0.6"), 0),  # 3 of 5, where lists differ
        ("dip", ("--figures", "P@5", "--tolerance", "0.01"), 3),  # one loss of eight
        ("dip", ("--floor", "P@1=0.8", "--strict"), 1),  # 7/8, whose interval begins lower
    ],
)
def test_the_exit_code_says_what_came_of_the_run(
    tmp_path: Path, baseline: str, name: str, further: tuple[str, ...], code: int
) -> None:
    """0, 1 and 3; and a new run is not in the study afterwards."""
    file, form = tmp_path / f"{name}.jsonl", ("--format", "json")
    process = relevansi(tmp_path, "gate", file, "--baseline", baseline, *form, *further)

    assert process.returncode == code, process.stdout + process.stderr
    report = json.loads(process.stdout)
    assert EXIT_CODES[report["outcome"]] == report["exit_code"] == code
    assert report["run"] is None
    assert len(document(relevansi(tmp_path, "runs", "--json"))["runs"]) == 1


def test_a_gate_does_not_wait_for_another_program_that_writes(
    tmp_path: Path, baseline: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "relevansi.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        process = relevansi(tmp_path, "gate", tmp_path / "good.jsonl", "--baseline", baseline)

    assert process.returncode == 0, process.stderr


def test_the_first_line_says_why_and_what_is_left_out(tmp_path: Path, baseline: str) -> None:
    """A reader of a check sees one line: a share that is missing, or questions that are."""

    def first_line(name: str, *further: str) -> str:
        file, form = tmp_path / f"{name}.jsonl", ("--format", "markdown")
        process = relevansi(tmp_path, "gate", file, "--baseline", baseline, *form, *further)
        return process.stdout.splitlines()[0]

    assert "partly 0.6000" in first_line("partly", "--figures", "P@5")
    assert "without 5 of 8 questions" in first_line("best", "--allow-missing")
    assert "P@5, RR@10, success@10: worse" in first_line("bad")


def test_what_is_not_judged_is_listed_and_with_ask_put_before_raters(
    tmp_path: Path, baseline: str
) -> None:
    """The table names each result; the run that is kept waits for as many verdicts."""
    file = tmp_path / "new.jsonl"
    process = relevansi(tmp_path, "gate", file, "--baseline", baseline)
    assert process.returncode == 3
    assert all(f"{question}-new" in process.stdout for question in QUESTIONS)

    process = relevansi(
        tmp_path, "gate", file, "--baseline", baseline, "--ask", "--method", "new one"
    )

    assert process.returncode == 3
    runs = document(relevansi(tmp_path, "runs", "--json"))["runs"]
    assert {run["search_method"]: run["open_judgments"] for run in runs} == {
        "base": 0,
        "new one": 8,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--baseline", "none"), 1, "This study has no run none"),
        (("--floor", "P@5"), 2, '"P@5" is not a floor'),
        (("--floor", "best=1"), 2, "There is no figure of the name best"),
        (("--figures", "P@5,Judged@5"), 2, "does not decide by Judged@5"),
        (("--min-judged", "1.2"), 2, "--min-judged"),
        (("--tolerance", "nan"), 2, "nan is no finite number"),
        (("--columns", "nothing"), 2, "ROLE=NAME"),
        (("--rule", "best of three"), 1, "is not a rule"),
        (("--url", "ftp://there"), 1, "is not an http or https address"),
        (("--url", "http://me:hunter2@127.0.0.1"), 1, "without a user and password"),
    ],
)
def test_what_is_asked_amiss_is_said_in_one_line(
    tmp_path: Path, baseline: str, arguments: tuple[str, ...], code: int, words: str
) -> None:
    """Usage has the code 2, every other failure 1; a secret in an address is not repeated."""
    file = tmp_path / "good.jsonl"
    process = relevansi(tmp_path, "gate", file, "--baseline", baseline, *arguments)

    assert (process.returncode, process.stdout) == (code, "")
    assert words in process.stderr
    assert len(process.stderr.splitlines()) == 1
    assert "hunter2" not in process.stderr


@pytest.fixture
def with_token() -> Iterator[None]:
    def with_secret(instance: Path, language: str) -> dict[str, str]:
        return {**environment(instance, language), "RELEVANSI_TOKEN": "the-token"}

    with (
        mock.patch("tests.cli.relevansi.environment", with_secret),
        stamina.set_testing(True, attempts=3, cap=True),
    ):
        yield


@pytest.mark.usefixtures("with_token")
def test_a_server_is_asked_the_same_and_its_report_printed(tmp_path: Path, baseline: str) -> None:
    """The files and fields go there with the token; a busy server is asked again."""
    command = ("gate", tmp_path / "bad.jsonl", "--baseline", baseline, "--floor", "RR=0.5")
    here = relevansi(tmp_path, *command)
    report = relevansi(tmp_path, *command, "--format", "json").stdout.encode()

    with serving(status(503, {"title": "Busy"}), raw(report)) as server:
        url = server.address.removesuffix("/chat")
        further = ("--ask", "--depth", "7", "--min-judged", "0", "--strict", "--figures", "P@5,RR")
        process = relevansi(tmp_path / "none", *command, *further, "--url", url)

    assert (
        (process.returncode, process.stdout) == (here.returncode, here.stdout) == (1, here.stdout)
    )
    assert server.paths == ["/api/v1/gates"] * 2
    assert server.headers[1]["Authorization"] == "Bearer the-token"
    body = server.asked[1]
    fields = {"floor": "RR=0.5", "depth": "7", "min_judged": "0.0", "figures": "P@5,RR"}
    fields |= {"baseline": baseline, "ask": "true", "strict": "true"}
    for name, value in fields.items():
        assert f'name="{name}"\r\n\r\n{value}\r\n'.encode() in body
    assert b'name="files"; filename="bad.jsonl"' in body
    assert (tmp_path / "bad.jsonl").read_bytes() in body
    assert all(f'name="{name}"'.encode() not in body for name in ("rule", "tolerance", "method"))


def test_a_relevansi_that_serves_the_study_says_the_same(tmp_path: Path, baseline: str) -> None:
    """Its owner's token lets a gate in; without one it is refused."""
    app = create_app(Settings(sqlite_url(tmp_path / "relevansi.sqlite"), tmp_path))
    elsewhere = tmp_path / "elsewhere"
    variables = {**environment(elsewhere, "en"), "RELEVANSI_TOKEN": token(app, "gate")}
    limits = ("--floor", "RR=0.5", "--tolerance", "0.1", "--min-judged", "0.5", "--allow-missing")
    command = ("gate", tmp_path / "bad.jsonl", "--baseline", baseline, *limits)
    here = relevansi(tmp_path, *command, "--format", "json")

    with served(app) as address:
        to = ("--url", address.removesuffix("/api/v1"), "--format", "json")
        refused = relevansi(elsewhere, *command, *to)
        with mock.patch("tests.cli.relevansi.environment", return_value=variables):
            process = relevansi(elsewhere, *command, *to)
    app.extensions["database"].close()

    assert (
        (process.returncode, process.stdout) == (here.returncode, here.stdout) == (1, here.stdout)
    )
    assert (refused.returncode, "(401)" in refused.stderr) == (1, True)


def test_the_rule_of_a_graded_study_is_named_as_its_verdicts_are_merged(tmp_path: Path) -> None:
    (run := tmp_path / "run.jsonl").write_text(lines("base", "yes"), "utf-8")
    grades = ({"query": f"Question {q}", "doc_id": f"{q}-yes", "grade": 2} for q in QUESTIONS)
    graded = tmp_path / "grades.jsonl"
    graded.write_text("".join(f"{json.dumps(g)}\n" for g in grades), "utf-8")
    relevansi(tmp_path, "study", "--scale", "0-2")
    printed = document(relevansi(tmp_path, "import", run, graded, "--json"))

    command = ("gate", run, "--baseline", printed["runs"][0]["id"], "--rule", "majority")
    process = relevansi(tmp_path, *command)

    assert process.returncode == 0
    assert "Rule: Median of all raters" in " ".join(process.stdout.split())


PROBLEM = {"title": "The token is not known", "status": 401, "detail": "Make another."}


@pytest.mark.usefixtures("with_token")
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (status(401, PROBLEM), "(401): The token is not known. Make another. Set RELEVANSI_TOKEN"),
        (status(422, PROBLEM), "(422): The token is not known. Make another."),
        (status(404, {"error": "nothing"}), "(404): nothing"),
        (raw(b"<html>"), "is not the address of a Relevansi with gates"),
        (status(502, {}), "The server failed (502)"),
    ],
)
def test_a_server_that_refuses_is_a_failure_in_one_line(
    tmp_path: Path, baseline: str, answer: Behaviour, words: str
) -> None:
    """What the server says why is passed on, and what to do about a token."""
    with serving(answer) as server:
        command = ("gate", tmp_path / "bad.jsonl", "--baseline", baseline)
        process = relevansi(tmp_path, *command, "--url", server.address.removesuffix("/chat"))

    assert (process.returncode, process.stdout) == (1, "")
    assert words in process.stderr
    assert len(process.stderr.splitlines()) == 1


GH = """
import json, pathlib, sys
kept = pathlib.Path("comments.json")
comments = json.loads(kept.read_text()) if kept.exists() else []
said = sys.argv[1:]
if "--jq" in said:
    print(*(n for n, one in enumerate(comments) if one.startswith("<!-- relevansi gate -->")))
else:
    body = pathlib.Path(said[-1].removeprefix("body=@")).read_text()
    if "PATCH" in said:
        comments[int(said[said.index("PATCH") + 1].rpartition("/")[2])] = body
    else:
        comments.append(body)
    kept.write_text(json.dumps(comments))
"""
"""In place of `gh api`: lists the ids of the workflow's comments, makes one, changes one."""


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are for bash")
def test_the_example_workflow_works(tmp_path: Path, baseline: str) -> None:
    """Its own commands, but for checkout and installation: one comment says what came last.

    A wrong call and a system that fails say so there as well, and end the job.
    """
    job = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["gate"]
    steps: list[dict[str, Any]] = [
        step for step in job["steps"] if "run" in step and "pip install" not in step["run"]
    ]
    (tmp_path / "gh.py").write_text(GH, "utf-8")
    (tmp_path / "comments.json").write_text(json.dumps(["somebody's"]), "utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, call in {"relevansi": "-m relevansi", "python": "", "gh": "gh.py"}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
        (programs / name).chmod(0o755)
    variables = {
        **environment(tmp_path, "en"),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "RELEVANSI_URL": "",
        "BASELINE": baseline,
        "PULL_REQUEST": "7",
        "GITHUB_REPOSITORY": "somebody/search",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    elsewhere = {"RELEVANSI_TOKEN", "RELEVANSI_SOURCE", "GH_TOKEN"}
    assert job["env"].keys() - variables.keys() == elsewhere

    def comment_after(search: str, floor: str = "P@5=0.4") -> tuple[int, str]:
        (tmp_path / "search.py").write_text(search, "utf-8")
        code = 0
        for name in ("gate.md", "errors.txt"):
            (tmp_path / name).unlink(missing_ok=True)  # each job begins with what is checked out
        for step in steps:
            if code == 0 or step.get("if") == "always()":
                call = ["bash", "-e", "-o", "pipefail", "-c", step["run"].replace("P@5=0.4", floor)]
                process = subprocess.run(
                    call, cwd=tmp_path, env=variables, capture_output=True, check=False
                )
                code = code or process.returncode
        [others, ours] = json.loads((tmp_path / "comments.json").read_text("utf-8"))
        assert others == "somebody's"
        return code, ours.splitlines()[1]

    good = "print(open('good.jsonl').read(), end='')"
    code, line = comment_after(good)
    assert (code, line.startswith("# Passed")) == (0, True)
    code, line = comment_after(good.replace("good", "bad"))
    assert (code, line.startswith("# Failed")) == (1, True)
    assert comment_after(good, "P@5") == (2, "# The gate did not run")
    assert comment_after("exit(5)") == (5, "# The gate did not run: see the log")
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert summary.startswith("# Passed")
