"""A study of documents, imported from files that are made here, and its people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from relevansi.db.engine import Database
from relevansi.importers.results.formats import DEPTH, Choices
from relevansi.records import Scale
from relevansi.services.runs import results, stored_results
from relevansi.services.runs.stored_results import StoredResults
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.stored_studies import open_study

Files = tuple[tuple[str, bytes], ...]
GRADED = Scale(3, 2, ("off topic", "touches it", "in part", "answers"), ("a", "b", "c", "d"))


def lines(rows: Iterable[object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def collection(questions: int = 3, of_each: int = 2) -> Files:
    """A collection, its questions, and two runs that list the same for each question but the last.

    The first run lists nothing for the last question.
    """
    numbers = range(1, questions + 1)
    texts = {q: [f"d{q}x{n}" for n in range(of_each)] for q in numbers}
    corpus = lines(
        {"_id": text, "title": f"Title {text}", "text": f"Copper wire number {text} bends."}
        for listed in texts.values()
        for text in listed
    )
    queries = lines({"_id": f"q{q}", "text": f"Does copper bend, case {q}?"} for q in numbers)
    runs = []
    for name, listed_numbers in (("lexical", numbers[:-1]), ("neural", numbers)):
        runs.append(
            "".join(
                f"q{q} Q0 {text} {rank} {100 - rank} {name}\n"
                for q in listed_numbers
                for rank, text in enumerate(texts[q][:: 1 if name == "lexical" else -1], 1)
            )
        )
    return (
        ("corpus.jsonl", corpus),
        ("queries.jsonl", queries),
        *([("lexical.run", runs[0].encode())] if runs[0] else []),
        ("neural.run", runs[1].encode()),
    )


def imported(
    database: Database,
    *files: tuple[str, bytes],
    meta: Sequence[str] | None = None,
    depth: int = DEPTH,
) -> StoredResults:
    """Store files as one import; `meta` has the metadata that raters see."""
    with open_study(database) as (session, study):
        report = results.read_files("files", files, Choices(depth=depth))
        return stored_results.store(session, study, report, NOW, meta=meta)


def set_scale(database: Database, scale: Scale = GRADED) -> None:
    with open_study(database) as (_, study):
        study.scale = scale.to_store()


def add_raters(database: Database, *names: str) -> None:
    with open_study(database) as (session, study):
        for name in names:
            studies.add_rater(session, study, name, NOW)
