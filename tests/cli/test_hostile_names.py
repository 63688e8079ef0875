"""Nothing in a study, in a file or in its name steers the terminal that a command prints on."""

from __future__ import annotations

import logging
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

import click
import pytest
import stamina

from relevansi.cli.frame.commands import relevansi as application
from relevansi.cli.frame.output import write
from relevansi.config import sqlite_url
from relevansi.printable import LogLineFormatter
from relevansi.records import Relevance
from relevansi.services.judging import answer_ratings, judgments
from relevansi.services.people import history
from relevansi.services.runs import stored_runs
from relevansi.services.runs.stored_runs import Labels
from relevansi.services.study import studies
from tests.chatbot.bots import Bot, serving, status
from tests.cli import relevansi as commands
from tests.cli.agreement.test_agreement import judged
from tests.cli.evaluations.test_answering import QUESTIONS
from tests.cli.relevansi import relevansi
from tests.conftest import NOW
from tests.exporters.csv_files import runnable
from tests.services.evaluations import scored_files
from tests.services.gold.gold_files import GOLD
from tests.services.machine_judges import machines
from tests.services.proof_packs.packs import members
from tests.services.runs.runs import card, query, run
from tests.services.runs.runs import click as clicked
from tests.stored_studies import study_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names no file so")

BAD = "[red]A[/]\t\r\nFAKED :cat: [link=x]\x1b[2J\x07\x9b1m\x7f\x85\u202e\u2066\u200f"
"""Rich's markup, ESC, BEL, C1, direction marks, a tab, and a line of somebody else's."""
MARKUP = "[red]A[/] FAKED :cat: [link=x]"
FORMULA = f"{BAD};=1+1\t@x\n=1+1,=2"
SERVERS = {"demo", "serve", "chatbot"}
"""These print addresses of their own until they are interrupted."""
DOCUMENTS = {"export", "compare", "metrics", "score"}
"""These give files byte for byte where no terminal would read them."""
FAILING = {"collect", "judge run", "answer json-v2", "verify", "gate", "push"}
"""The chatbot that three ask refuses, with a hostile reason; names with line ends differ.

Of a gate's run too little is judged, and properties are pushed nowhere.
"""
SCORED = (("answers", "answers.jsonl"), ("chunks", "chunks.jsonl"), ("json-v2", "json.json"))
DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@dataclass(frozen=True)
class HostileStudy:
    instance: Path
    runs: Sequence[str]
    bot: Bot

    def path(self, name: str) -> Path:
        return self.instance / f"{BAD}{name}".replace("/", "")

    def call(self, *arguments: str | Path, on_terminal: bool = False) -> CompletedProcess[str]:
        variables = {
            "RELEVANSI_JUDGE_URL": machines.endpoint(self.bot).url,
            "RELEVANSI_JUDGE_MODEL": BAD,
        }
        environment = commands.environment(self.instance, "en") | variables
        with mock.patch.object(commands, "environment", return_value=environment):
            return relevansi(self.instance, *arguments, on_terminal=on_terminal)


@pytest.fixture(name="hostile", scope="module")
def _hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileStudy]:
    instance = tmp_path_factory.mktemp("hostile")
    with study_in(instance) as (session, study):
        study.name = BAD
        owner = studies.raters(session, study)[0]
        owner.name = f"{BAD}1"
        raters = [owner, studies.add_rater(session, study, f"{BAD}2", NOW)]
        runs = []
        for name in ("a", "b"):
            cards = [card(f"{slug}{FORMULA}", location=FORMULA) for slug in "xy"]
            queries = [
                query(1, *cards, text=f"1{FORMULA}", category=BAD),
                query(2, text=f"2{FORMULA}", category=BAD),
            ]
            read = run(*queries, method=f"{BAD}{name}", name=f"{BAD}{name}.json")
            labels = Labels(search_method=f"{BAD}{name}", llm=BAD)
            runs.append(stored_runs.store(session, study, read, labels, NOW).id)
            for rater, verdicts in zip(raters, ("10", "11"), strict=True):
                for rank, verdict in enumerate(verdicts, start=1):
                    at = clicked(f"{rater.id}{name}{rank}", minute=rank)
                    judgments.judge(session, rater, runs[-1], 1, rank, Relevance(verdict), at)
                rating = answer_ratings.AnswerRating(quality=4, notes=FORMULA)
                at = clicked(f"{rater.id}{name}q", minute=5)
                judgments.rate(session, rater, runs[-1], 1, rating, at)
    with stamina.set_testing(True, attempts=1), serving(status(422, {"detail": BAD})) as bot:
        hostile = HostileStudy(instance, runs, bot)
        _write_files(hostile)
        yield hostile


def _write_files(hostile: HostileStudy) -> None:
    questions = [{**entry, "question": BAD, "id": f"{BAD}{n}"} for n, entry in enumerate(QUESTIONS)]
    gold = [
        {**entry, "question": BAD, "category": BAD, "id": n}
        for n, entry in enumerate(GOLD["questions"], start=1)
    ]
    collected = [{"id": n, "question": f"{BAD}{n}", "category": BAD} for n in (1, 2)]
    response = f"1. **[{FORMULA}](https://listing.example/properti/z)**"
    answers = [
        {"query_id": n, "question": f"{n}{FORMULA}", "category": BAD, "response": response}
        for n in (1, 2)
    ]
    decided = {"manual_evaluations": {"1": {"0": {"result": "pass", "reason": BAD}}, BAD: {}}}
    for name, data in {
        "no run.json": b"{}",
        "rated.csv": b"query_id,question,category\n\x1b,\xe2\x80\xae,\n",
        "gold.json": scored_files.document({**GOLD, "questions": gold}),
        "manual.json": scored_files.document(decided),
        "answers.jsonl": scored_files.lines(
            *({**row, "id": f"{BAD}{FORMULA}"} for row in scored_files.ANSWERS), {"id": BAD}
        ),
        "chunks.jsonl": scored_files.lines(
            *({**row, "strategy": FORMULA} for row in scored_files.CHUNKS)
        ),
        "json.json": scored_files.document({**scored_files.JSON_SET, "model_id": BAD}),
        "questions.json": scored_files.document(questions),
        "listings.json": scored_files.document([{"slug": f"{BAD}{FORMULA}", "name": BAD}]),
        "gated.json": scored_files.document({"search_method": BAD, "results": answers}),
        "asked.json": scored_files.document(collected),
        "pack.zip": b"no zip",
    }.items():
        hostile.path(name).write_bytes(data)
    judged(hostile.path("one"), "pass", "fail")
    judged(hostile.path("two"), "fail", "fail")


def calls(hostile: HostileStudy) -> Mapping[str, Sequence[Sequence[str | Path]]]:
    path, (first, second) = hostile.path, hostile.runs
    bot = hostile.bot.address
    table_and_json: Sequence[Sequence[str | Path]] = ((), ("--format", "json"))
    listed: Sequence[Sequence[str | Path]] = ((), ("--json",))
    return {
        "import": [[path("one") / "results.json"], ["--json", path("one")], [path("no run.json")]],
        "runs": listed,
        "collect": [
            ["--endpoint", bot, "--method", "hybrid", "--llm", BAD, "--tries", "1",
             "--questions", path("asked.json"), "-o", path("collected"), "--keep-unanswered"],
            ["--endpoint", BAD, "--method", BAD, "--llm", BAD],
        ],
        "metrics": [
            *(["--run", first, "--format", name] for name in ("table", "markdown", "json", "csv")),
            ["--run", first, "--rater", f"{BAD}1"],
            ["--run", BAD],
            ["--input", path("rated.csv")],
        ],
        "export": [
            *([first, "--format", name] for name in ("csv", "wide-csv", "long-csv", "json")),
            *([first, "--format", name] for name in ("qrels", "run")),
            ["--format", "proof-pack", "-o", path("whole.zip")],
            [BAD],
        ],
        "verify": [[path("whole.zip")], [path("pack.zip")]],
        "compare": [
            *(["--runs", first, second, "--format", name]
              for name in ("markdown", "latex", "json", "html")),
            ["--input", path("rated.csv"), path("missing.csv")],
        ],
        "gate": [
            *([path("gated.json"), "--baseline", first, "--llm", BAD, *form]
              for form in (*table_and_json, ("--format", "markdown"))),
            [path("no run.json"), "--baseline", BAD, "--floor", BAD],
            [path("one") / "results.json", "--baseline", BAD, "--url", bot],
        ],
        "push": [
            ["--to", "phoenix", "--endpoint", bot, "--run", first],
            ["--to", "opensearch", "--endpoint", BAD, "--run", BAD, "--rule", BAD],
        ],
        "export-tree": [[path("tree")], [path("tree"), "--rater", BAD]],
        "agreement": table_and_json,
        "conflicts": [
            *([path("one"), path("two"), *form] for form in table_and_json),
            [path("missing"), path("two")],
        ],
        "gold list": listed,
        "gold import": [
            *([path("gold.json"), "--run", first, *form] for form in listed),
            [path("manual.json"), "--run", BAD],
        ],
        "gold export": [["--run", first], ["--run", BAD]],
        "manual-input import": [
            *([path("manual.json"), "--run", first, *form] for form in listed),
            [path("gold.json"), "--run", BAD],
        ],
        "manual-input export": [["--run", first], ["--run", BAD]],
        "score constraints": [
            *(["--results", path("one") / "results.json", "--gold", path("gold.json"), *form]
              for form in table_and_json),
            ["--results", path("gold.json"), "--gold", path("gold.json")],
        ],
        **{
            f"score {kind}": [
                *([path(name), "--format", form]
                  for form in ("table", "markdown", "latex", "json", "csv")),
                [path("pack.zip")],
            ]
            for kind, name in SCORED
        },
        "answer json-v2": [
            ["--print-prompt"],
            ["--endpoint", bot, "--questions", path("questions.json"), "-o", path("out.jsonl"),
             "--model", BAD, "--tries", "1"],
        ],
        "eval-set make": [
            [path("questions.json"), "--n", "2", "-o", path("set.json")],
            [path("questions.json"), "--n", "9", "-o", path("set.json")],
        ],
        "eval-set version": [[path("questions.json")], [path("gold.json")]],
        "judge new": [[f"{BAD}3"], [f"{BAD}3"]],
        "judge estimate": [*([JUDGE, *form] for form in listed), [BAD]],
        "judge run": [[JUDGE, "--yes", "--max-calls", "1"], [BAD]],
        "plan": [
            *(["--difference", "0.1", "--sd", "0.4", *form] for form in table_and_json),
            ["--difference", "0.1", "--runs", *hostile.runs[:2]],
            ["--difference", "0.1", "--runs", BAD, BAD],
        ],
        "sample": [
            *table_and_json,
            ["--more", "1", "--category", BAD],
            ["--questions", "1", "--kind", "sequence", "--runs", BAD, BAD],
        ],
        "estimate": [
            *(["--run", first, *form] for form in table_and_json),
            ["--run", first, "--machine", JUDGE],
            ["--run", BAD, "--against", BAD],
        ],
        "invite": [[f"{BAD}4"], [f"{BAD}4", "--base-url", BAD]],
        "raters": listed,
        "token new": [["--scope", "read", "--name", BAD, "--rater", f"{BAD}1"]],
        "token list": listed,
        "token withdraw": [["1"], [BAD]],
        "study": listed,
        "check": [()],
        "backup": [[path("backup.db")], [path("backup.db")]],
        "move": [[sqlite_url(hostile.instance / "moved.sqlite")], [BAD]],
        "catalogue import": [[path("listings.json")], [path("no run.json"), "--json"]],
        "catalogue search": [*listed, [BAD]],
        "upgrade": [()],
        "delete-run": [[hostile.runs[1], "--yes"], [BAD, "--yes"]],
        "restore": [[path("backup.db"), "--replace"], [path("pack.zip")]],
    }  # fmt: skip


JUDGE = " ".join(f"{BAD}3".split())
"""The judge as `judge new` calls it, with blanks for tabs and line ends."""


def leaves(group: click.Group, *above: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, *above, name)
        else:
            yield " ".join((*above, name))


def steering(text: str) -> set[str]:
    return {
        mark
        for mark in text
        if mark != "\n"
        and (
            unicodedata.category(mark) in {"Cc", "Zl", "Zp", "Cs"}
            or unicodedata.bidirectional(mark) in DIRECTIONS
            or mark in "\u061c\u200e\u200f"
        )
    }


def test_every_command_prints_text_only(hostile: HostileStudy) -> None:
    commands = calls(hostile)
    assert set(leaves(application)) - SERVERS == set(commands)

    wrong = []
    for command, variants in commands.items():
        for number, arguments in enumerate(variants):
            on_terminal = command.partition(" ")[0] in DOCUMENTS
            process = hostile.call(*command.split(), *arguments, on_terminal=on_terminal)
            text = process.stdout + process.stderr
            is_csv = command == "export" or "csv" in arguments
            is_forged = not is_csv and any(line.startswith("FAKED") for line in text.split("\n"))
            if steering(text) or is_forged:
                wrong.append((command, number, text))
            if number == 0 and command not in FAILING and process.returncode:
                wrong.append((command, process.returncode, process.stderr))

    assert wrong == []


def test_names_are_printed_as_they_are_and_not_as_markup(hostile: HostileStudy) -> None:
    for command in (
        ["raters"],
        ["agreement"],
        ["conflicts", hostile.path("one"), hostile.path("two")],
        ["metrics", "--run", hostile.runs[0], "--rater", f"{BAD}1"],
    ):
        assert "[red]" in hostile.call(*command).stdout, command


def test_nothing_in_any_csv_is_run_by_whichever_separator_it_is_opened(
    hostile: HostileStudy,
) -> None:
    first = hostile.runs[0]
    for name in ("csv", "wide-csv", "long-csv"):
        for style in ((), ("--excel",)):
            _export(hostile, "export", first, "--format", name, *style)
    _export(hostile, "metrics", "--run", first, "--format", "csv")
    for kind, name in SCORED:
        _export(hostile, "score", kind, hostile.path(name), "--format", "csv")
    pack = hostile.path("csv.zip")
    assert hostile.call("export", "--format", "proof-pack", "-o", pack).returncode == 0
    packed = {name: data for name, data in members(pack.read_bytes()).items() if name[-3:] == "csv"}
    with study_in(hostile.instance) as (session, study):
        packed["events"] = history.as_csv(session, studies.raters(session, study)[0])

    assert len(packed) >= 5
    assert {name: result for name, data in packed.items() if (result := runnable(data))} == {}


def _export(hostile: HostileStudy, *arguments: str | Path) -> None:
    path = hostile.path("export.csv")
    process = hostile.call(*arguments, "-o", path)
    data = path.read_bytes()
    path.unlink()
    assert process.returncode == 0, process.stderr
    assert b"=1+1" in data or arguments[0] == "metrics" or "json-v2" in arguments
    assert runnable(data) == [], arguments


@pytest.mark.parametrize("data", [b"PK\x03\x04\0\0", b"\x89PNG\0"])
def test_a_terminal_gets_no_bytes_that_are_not_text(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", commands.Stream(on_terminal=True))

    with pytest.raises(click.UsageError, match="-o "):
        write(data, None)


def test_a_log_line_holds_a_name_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLineFormatter("%(levelname)s: %(message)s"))
    handler.handle(logging.makeLogRecord({"levelname": "ERROR", "msg": BAD}))

    (line,) = capsys.readouterr().err.splitlines()
    assert not steering(line)
    assert line.startswith(f"ERROR: {MARKUP}")
