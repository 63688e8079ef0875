"""(g) Files of results and of cards, read and stored, beside reading them by `csv` alone."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmarks.load import Ran, python
from tests.benchmarks.report import Measurement, Section, Target, number
from tests.benchmarks.studies import run_file

DEPTH, POOL, WORDS_IN_TEXT = 20, 40, 30
WORDS = ("rumah", "taman", "dekat", "sekolah", "pasar", "kolam", "garasi", "dapur")
HEADER = ("system", "query_id", "query", "doc_id", "rank", "score", "text")
HOW = f"""\
`relevansi import` as a whole process, once each, into a new database: of a CSV in which each system
lists {DEPTH} of {POOL} passages of {WORDS_IN_TEXT} words for every question, of a TREC run beside a
collection of a million documents in JSON Lines, and of the answers of a chatbot. Times are of the
processor, MB is the most memory that the process held. The yardstick reads the same file with
Python's `csv` (or `json`, line by line where it has lines) and keeps nothing: the ratio is that of
the two times."""
READ_CSV = """\
import csv, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            pass
"""
READ_JSON = """\
import json, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        for line in file:
            name.endswith(".jsonl") and json.loads(line) or line.split()
"""
ONE_JSON = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"


def imports(folder: Path) -> Section:
    """Return what imports of large files take."""
    rows: list[Measurement] = []
    targets: list[Target] = []

    def measure(
        what: str,
        files: Sequence[Path],
        reading: str,
        most: tuple[float, float] | None = None,
    ) -> Ran:
        ours = python("-m", "relevansi", "import", *files, instance=folder / what)
        theirs = python("-c", reading, *files)
        ratio = ours.processor / theirs.processor
        took = [ours.processor * 1000]
        yardstick = "json" if reading != READ_CSV else "csv"
        rows.append(Measurement(what, took, None, ours.megabytes, yardstick, ratio))
        if most:
            seconds, megabytes = most
            targets.append(
                Target(
                    f"at most {seconds:g} s of the processor and {megabytes:g} MB, {what}",
                    f"{number(ours.processor)} s, {number(ours.megabytes)} MB",
                    ours.processor <= seconds and ours.megabytes <= megabytes,
                )
            )
        for file in files:
            file.unlink()
        return ours

    few = measure("100,000 rows of 5 systems", [_table(folder, 100_000, 5)], READ_CSV, (7, 200))
    many = measure("100,000 rows of 40 systems", [_table(folder, 100_000, 40)], READ_CSV)
    ratio = many.processor / few.processor
    limit = "a row of 40 systems at most 1.3 times as long as one of 5"
    targets.append(Target(limit, number(ratio), ratio <= 1.3))
    measure(
        "1,000,000 rows of 5 systems, ids alone",
        [_table(folder, 1_000_000, 5, texts=False)],
        READ_CSV,
        (90, 500),
    )
    measure("100,000 results in 1,000,000 documents", [*_collection(folder)], READ_JSON, (30, 250))
    cards = folder / "cards.json"
    cards.write_text(json.dumps(run_file(10_000, range(10))), "utf-8")
    measure("100,000 property cards", [cards], ONE_JSON)
    return Section("g. Large imports", HOW, rows, targets)


def _text(question: int, document: int) -> str:
    drawn = random.Random(question * POOL + document)
    return " ".join(drawn.choices(WORDS, k=WORDS_IN_TEXT))


def _table(folder: Path, rows: int, systems: int, *, texts: bool = True) -> Path:
    path = folder / f"{rows}-{systems}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(HEADER if texts else HEADER[:-1])
        for system in range(systems):
            for question in range(rows // (systems * DEPTH)):
                listed = random.Random(f"{system} {question}").sample(range(POOL), DEPTH)
                for rank, document in enumerate(listed, start=1):
                    words = f"{question} {WORDS[question % len(WORDS)]}"
                    item = f"d{question}-{document}", rank, DEPTH - rank
                    text_cells = [_text(question, document)] if texts else []
                    table.writerow((f"s{system:02}", f"q{question}", words, *item, *text_cells))
    return path


def _collection(folder: Path) -> Iterator[Path]:
    """Yield a TREC run of 5 systems, its questions, and the documents that they searched."""
    questions, documents = 1_000, 1_000_000
    runs, topics, corpus = (folder / name for name in ("r.run", "topics.tsv", "corpus.jsonl"))
    with runs.open("w", encoding="utf-8") as file:
        for system in range(5):
            for question in range(questions):
                drawn = random.Random(f"{system} {question}").sample(range(POOL), DEPTH)
                file.writelines(
                    f"q{question} Q0 d{question * POOL + item} {rank} {DEPTH - rank} s{system}\n"
                    for rank, item in enumerate(drawn, start=1)
                )
    topics.write_text("".join(f"q{n}\tquestion {n}\n" for n in range(questions)), "utf-8")
    with corpus.open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps({"_id": f"d{n}", "title": f"Document {n}", "text": _text(n, 0)}) + "\n"
            for n in range(documents)
        )
    yield from (runs, topics, corpus)
