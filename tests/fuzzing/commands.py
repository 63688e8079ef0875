"""Command lines with something wrong in their words or their files.

Whatever is said, a command ends with 0, 1 or 2; what went wrong is told on stderr without a
traceback, and wrong usage in one line.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

from tests.cli.relevansi import exit_code
from tests.conftest import NOW
from tests.fuzzing import confined, mutations, samples
from tests.fuzzing.kinds import Kind, Wrong
from tests.services.gold import gold_files
from tests.services.judging import rated_studies
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.services.study import studies

RUN = "{run}"
SAMPLES: Mapping[str, bytes] = {
    "run.json": samples.run("hybrid", "test_results.json"),
    "results.json": gold_files.v2_file(),
    "gold.json": gold_files.gold_bytes(),
    "manual.json": samples.as_bytes(samples.MANUAL),
    "answers.jsonl": samples.answers(),
    "chunks.jsonl": samples.chunks(),
    "json.json": samples.json_answers(),
    "outputs.jsonl": samples.outputs(),
    "subset.json": b'["j1"]',
    "questions.json": samples.questions(),
    "mapping.json": samples.as_bytes(samples.MAPPING),
    "a/results.json": gold_files.v2_file(),
    "a/manual_input.json": samples.as_bytes(samples.MANUAL),
    "b/results.json": gold_files.v2_file(),
    "b/manual_input.json": samples.as_bytes(samples.MANUAL),
}
LINES: tuple[tuple[str, ...], ...] = (
    ("import", "run.json", "--method", "m", "--llm", "l", "--json"),
    ("import", "a", "b", "rated.csv"),
    ("import", "ratings.json", "--rater", "Ani"),
    ("runs", "--json"),
    ("metrics", "--run", RUN, "--format", "markdown", "--explain"),
    ("metrics", "--run", RUN, "--rule", "majority", "--format", "json", "-o", "out.json"),
    ("metrics", "--input", "rated.csv", "--format", "csv"),
    ("export", RUN, "--format", "csv", "--excel"),
    ("export", RUN, "--rule", "adjudicated", "--format", "xlsx", "-o", "out.xlsx"),
    ("export", RUN, "--rater", "Pemilik", "--format", "json"),
    ("verify", "pack.zip", "--format", "json", "-o", "out.json"),
    ("compare", "--runs", RUN, RUN, "--resamples", "100", "--seed", "1", "--format", "json"),
    ("compare", "--phase", "1", "--rule", "majority", "--resamples", "100", "--format", "latex"),
    ("export-tree", "tree", "--replace"),
    ("agreement", "--format", "json"),
    ("conflicts", "a", "b", "--format", "json"),
    ("score", "constraints", "--results", "results.json", "--gold", "gold.json", "--manual-input",
     "manual.json", "--threshold", "0.6", "--format", "json"),
    ("score", "answers", "answers.jsonl", "--n", "2", "--format", "json"),
    ("score", "answers", "answers.jsonl", "--embedder", "lexical", "--tau-sim", "0.1"),
    ("score", "chunks", "chunks.jsonl", "--format", "csv"),
    ("score", "json-v2", "json.json", "--subset", "subset.json", "--gate", "--min-average", "9"),
    ("score", "json-v2", "--questions", "json.json", "--outputs", "outputs.jsonl"),
    ("invite", "Dewi", "--days", "3", "--base-url", "http://x.example"),
    ("raters", "--json"),
    ("check",),
    ("backup", "out.sqlite", "--replace"),
    ("restore", "out.sqlite", "--replace"),
    ("upgrade",),
    ("move", "sqlite:///other.sqlite"),
    ("collect", "--endpoint", "http://127.0.0.1:9", "--method", "m", "--llm", "l", "--questions",
     "questions.json", "--mapping", "mapping.json", "--tries", "1", "-o", "collected"),
)  # fmt: skip
ODD = (
    "1e999999999",
    *(
        "-",
        "--",
        "-o",
        ".",
        "a",
        "--help",
        "--format",
        "nan",
        "-1",
        "1e9",
        "0",
        "9" * 400,
        "--excel",
    ),
    *(
        "--json",
        "--rule",
        "--rater",
        "--run",
        "--n",
        "1_0",
        "--threshold",
        "--tau-sim",
        "--explain",
    ),
    *("sqlite://", "sqlite:///x.sqlite", "x://y", "http://[", "postgresql://127.0.0.1:9/x", "a=b"),
)
NEVER = {"serve", "demo", "chatbot"}
"""The commands that run until a person ends them."""


@dataclass(frozen=True, slots=True)
class Said:
    """A command line, and the files beside it that are other than valid."""

    arguments: tuple[str, ...]
    name: str = ""
    data: str = ""
    """The content of the file, a character for each byte."""
    language: str = "en"


class Commands(Kind[Said]):
    """Command lines and the files they name."""

    name = "commands"
    batch = 25

    def open(self, folder: Path) -> None:
        """Make a database with a rated study, and a valid file of every format."""
        confined.no_network()
        self.folder = folder
        self.at_first, self.instance = folder / "at_first", folder / "instance"
        self.at_first.mkdir()
        database = Database(sqlite_url(self.at_first / "relevansi.sqlite"))
        database.prepare()
        csvs, pack = samples.rated(database)
        with database.writing() as session:
            study = studies.open_or_make(session, NOW)
            self.run_id, _ = rated_studies.rated_study(session, study)
            session.commit()
        database.close()
        ratings = samples.ratings(SAMPLES["run.json"])
        self.files = {**SAMPLES, "rated.csv": csvs[0], "pack.zip": pack, "ratings.json": ratings}

    def begin(self) -> None:
        """Put database and files back as they were at first."""
        shutil.rmtree(self.instance, ignore_errors=True)
        shutil.copytree(self.at_first, self.instance)
        shutil.rmtree(self.folder / "here", ignore_errors=True)
        for name, data in self.files.items():
            path = self.folder / "here" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        os.chdir(self.folder / "here")

    def end(self) -> None:
        """See that the database still holds together."""
        done = _run(self.instance, ["check"])
        if done.returncode:
            raise Wrong(f"check: {done.stderr[:200]}")

    def make(self, random: Random) -> Said:
        """Return a command line in which something is wrong."""
        words = list(random.choice(LINES))
        name, data = "", b""
        files = [word for word in words if word in self.files]
        files += [f"{word}/{end}" for word in words if word in {"a", "b"}
                  for end in ("results.json", "manual_input.json")]  # fmt: skip
        if files and random.random() < 0.6:
            name = random.choice(files)
            data = _spoiled(name, self.files[name], random)
        else:
            for _ in range(random.choice((1, 1, 2, 3))):
                _change(words, random, sorted(self.files))
        arguments = tuple(word.replace("\x00", "") for word in words)
        return Said(arguments, name, data.decode("latin-1"), random.choice(("en", "id")))

    def put(self, given: Said) -> None:
        """Run it, and look at how it ends."""
        if any(word in NEVER for word in given.arguments):
            return
        if given.name:
            (self.folder / "here" / given.name).write_bytes(given.data.encode("latin-1"))
        words = [self.run_id if word == RUN else word for word in given.arguments]
        try:
            done = _run(self.instance, words, given.language)
        finally:
            if given.name:
                (self.folder / "here" / given.name).write_bytes(self.files[given.name])
        if done.returncode not in {0, 1, 2}:
            raise Wrong(f"exit {done.returncode}: {done.stderr[:200]}")
        if "Traceback (most recent call last)" in done.stderr + done.stdout:
            raise Wrong("traceback: the user was shown one")
        lines = done.stderr.splitlines()
        if done.returncode and not lines and not done.stdout:
            raise Wrong(f"silent: it ended with {done.returncode} and said nothing")
        if done.returncode == 2 and len(lines) != 1:
            raise Wrong(f"lines: wrong usage was told in {len(lines)} lines")
        if "--json" in words and done.returncode == 0 and done.stdout.startswith("{"):
            json.loads(done.stdout)

    def smaller(self, given: Said) -> Iterator[Said]:
        """Yield the command line with fewer words, then its file with parts left out."""
        for place in range(1, len(given.arguments)):
            yield replace(given, arguments=given.arguments[:place] + given.arguments[place + 1 :])
        if given.name:
            data = given.data.encode("latin-1")
            for less in (*mutations.smaller_json(data), *mutations.smaller_bytes(data)):
                yield replace(given, data=less.decode("latin-1"))

    def shown(self, given: Said) -> bytes:
        """Return it as JSON."""
        return json.dumps(asdict(given)).encode()


def _run(instance: Path, words: list[str], language: str = "en") -> CompletedProcess[str]:
    """Return one finished command, its output written as a terminal takes it."""
    out, err = _terminal("strict"), _terminal("backslashreplace")  # as Python opens them
    code = exit_code(instance, words, language, out, err)
    written = [one.buffer.getvalue() for one in (out, err)]  # type: ignore[attr-defined]
    # A name that is not text is written as the bytes that it was given as.
    said = [one.decode("utf-8", "surrogateescape") for one in written]
    return CompletedProcess(words, code, *said)


def _terminal(errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors, write_through=True)


def _spoiled(name: str, data: bytes, random: Random) -> bytes:
    ways = {
        "json": mutations.spoiled_json,
        "jsonl": mutations.spoiled_lines,
        "csv": mutations.spoiled_csv,
        "zip": mutations.spoiled_zip,
    }
    way = ways[name.rpartition(".")[2]]
    return mutations.by_structure_or_bytes(way)(data, random)


def _change(words: list[str], random: Random, files: list[str]) -> None:
    """Say something else in one place."""
    place = random.randrange(1, len(words)) if len(words) > 1 else 0
    chance = random.random()
    odd = _odd(random, files)
    if chance < 0.6 and place:
        words[place] = odd
    elif chance < 0.75 and place:
        del words[place]
    else:
        words.insert(place + 1, odd)


def _odd(random: Random, files: list[str]) -> str:
    """Return a word that does not belong; none of them leads out of the folder."""
    if random.random() < 0.6:
        return random.choice((*files, *ODD))
    said = mutations.text(random)[:5_000].replace("/", "_").replace("..", "_")
    # What the system hands to a program: bytes, of which those that are not text are escaped.
    code = random.choice(("utf-8", "latin-1"))
    return said.encode(code, "replace").decode("utf-8", "surrogateescape")
