"""(h) The catalogue: documents taken in as a stream, and looked up."""

from __future__ import annotations

import json
import random
from itertools import accumulate
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.services.catalogue.search import search
from relevansi.services.study import studies
from tests.benchmarks.load import python
from tests.benchmarks.report import Measurement, Section, Target, number

VOCABULARY, PIECES, SEARCHES = 50_000, 20_000, 200
SIZES = {100_000: 100, 1_000_000: 300}
"""The documents of a catalogue, and the milliseconds that 95 of 100 searches may take."""
LEAST_PER_SECOND, MOST_MEGABYTES = 8_000, 300
READ_JSON = "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'): json.loads(line)"
HOW = """\
`relevansi catalogue import` as a whole process into a new SQLite database: documents of about 66
words in JSON Lines, drawn from 50,000 words by Zipf's law. Per second counts documents by the time
of the processor, MB is the most memory that the process held; the yardstick decodes the lines and
keeps nothing. Then searches of one to three such words, the last one as a beginning, each
with its count and its first 20 documents."""


def catalogue(folder: Path) -> Section:
    """Return what an import of a catalogue and searches in it take."""
    drawn = random.Random(45)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(drawn.choices(letters, k=drawn.randint(3, 9))) for _ in range(VOCABULARY)]
    weights = [*accumulate(1 / rank for rank in range(1, VOCABULARY + 1))]
    pieces = [" ".join(drawn.choices(words, cum_weights=weights, k=11)) for _ in range(PIECES)]
    rows: list[Measurement] = []
    targets: list[Target] = []
    for size, most in SIZES.items():
        amount = f"{size:,} documents"
        file, instance = folder / f"{size}.jsonl", folder / str(size)
        with file.open("w", encoding="utf-8") as out:
            for n in range(size):
                title, *texts = drawn.choices(pieces, k=6)
                out.write(json.dumps({"_id": f"d{n}", "title": title, "text": " ".join(texts)}))
                out.write("\n")
        ours = python("-m", "relevansi", "catalogue", "import", file, instance=instance)
        theirs = python("-c", READ_JSON, file)
        file.unlink()
        rate, ratio = size / ours.processor, ours.processor / theirs.processor
        took = [ours.processor * 1000]
        rows.append(Measurement(f"import, {amount}", took, rate, ours.megabytes, "json", ratio))
        queries = [
            " ".join(drawn.choices(words, cum_weights=weights, k=1 + n % 3))
            for n in range(SEARCHES)
        ]
        times = _searched(instance, queries)
        rows.append(Measurement(f"search, {amount}", times))
        at_95 = quantiles(times, n=100, method="inclusive")[94]
        targets += [
            Target(
                f"at least {LEAST_PER_SECOND:,} a second and at most {MOST_MEGABYTES} MB, {amount}",
                f"{number(rate)}, {number(ours.megabytes)} MB",
                rate >= LEAST_PER_SECOND and ours.megabytes <= MOST_MEGABYTES,
            ),
            Target(f"p95 of a search at most {most} ms, {amount}", number(at_95), at_95 <= most),
        ]
    return Section("h. The catalogue", HOW, rows, targets)


def _searched(instance: Path, queries: list[str]) -> list[float]:
    """Return the milliseconds of each search."""
    times = []
    database = Database(sqlite_url(instance / "relevansi.sqlite"))
    for words in queries:
        with database.writing() as session:
            study = studies.current(session)
            assert study is not None
            begun = perf_counter()
            search(session, study, words)
            times.append((perf_counter() - begun) * 1000)
    database.close()
    return times
