"""Rated CSVs compared with each other, by their counts alone; nothing of them is stored."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import PurePath

from msgspec import Struct

from relevansi import labels
from relevansi.exporters.frame.json_files import fields
from relevansi.importers.frame import bounded
from relevansi.importers.runs import csv_ratings
from relevansi.importers.runs.csv_ratings import RatedFile
from relevansi.importers.runs.json_runs import question_key
from relevansi.importers.runs.problems import ImportRefused, error, warning
from relevansi.importers.runs.questions import context_dependent as is_follow_up
from relevansi.metrics.comparisons.comparisons import ComparisonReport, compare
from relevansi.metrics.comparisons.differences import ComparedQuery, ComparedRun, conversations
from relevansi.metrics.comparisons.stability import stability
from relevansi.records import Blindness, CannotTell, Problem
from relevansi.services.agreement.agreement import distinct
from relevansi.services.comparisons.chosen_runs import (
    MIN_RUNS,
    PHASES,
    DifferentQuestions,
    NothingToCompare,
)

# What a rated CSV's name has beside its method: an ending while provisional (in both languages),
# a date and time, and what kind of file it is.
_PROVISIONAL = re.compile(r"_(?:provisional|sementara)$")
_DATED = re.compile(r"(?:^|[ _-])\d{8}(?:[ _-]?\d{4,6})?$|[ _-]latest$")
_KIND = re.compile(r"^(?:evaluation[ _-])?(?:rated|ratings|exported)(?:[ _-]|$)")


class RatedCsv(Struct, frozen=True):
    """A rated CSV: ``name`` is its path, ``label`` the name of its run, if the caller has one."""

    name: str
    data: bytes
    label: str | None = None


def compare_files(
    files: Sequence[RatedCsv], *, phase: int | None = None
) -> tuple[ComparisonReport, list[Problem]]:
    """Return the comparison of `files`, paired by question number and text, and their problems.

    With a `phase` the names are those of its search methods or LLMs. Raises what ``read`` raises.
    """
    rated_files = read(files)
    varying = PHASES[phase][0] if phase else None
    runs = []
    for file, name, rated in zip(files, names_of(files), rated_files.values(), strict=True):
        label = file.label or method_name(file.name)
        runs.append(
            ComparedRun(
                run=name,
                name=name,
                search_method=label if varying == "search_method" else None,
                llm=label if varying == "llm" else None,
                queries=_queries(rated),
            )
        )
    problems = [problem for rated in rated_files.values() for problem in rated.problems]
    first_files: dict[CannotTell, str] = {}
    for name, rated in rated_files.items():
        if rated.report.cannot_tell is not None:
            first_files.setdefault(rated.report.cannot_tell, name)
    if len(first_files) > 1:
        first_file, name = first_files.values()
        problems.append(warning("csv_cannot_tell_differs", name, {"other": first_file}))
    report = ComparisonReport(
        study="",
        phase=phase,
        comparison=compare(runs, rule=csv_ratings.RULE),
        stability=stability(runs),
        raters=(),
        judged_until=None,
        blindness=Blindness(),
        version=version("relevansi"),
        files=tuple(rated_files),
        cannot_tell=next(iter(first_files)) if len(first_files) == 1 else None,
    )
    return report, problems


def _queries(file: RatedFile) -> tuple[ComparedQuery, ...]:
    rows = sorted(file.report.rows, key=lambda row: row.query_id)
    # A rated CSV says of a question's conversation only what its category says.
    starts = conversations({row.query_id: bool(is_follow_up(None, row.category)) for row in rows})
    return tuple(
        ComparedQuery(
            position=row.query_id,
            **fields(row, "query_id", "question", "category", "summary"),
            conversation=starts.get(row.query_id),
        )
        for row in rows
    )


def read(files: Sequence[RatedCsv]) -> dict[str, RatedFile]:
    """Return the rows of each file by its name; a file may lack questions of the longest one.

    Raises ``NothingToCompare``, ``ImportRefused`` and ``DifferentQuestions``.
    """
    if len(files) < MIN_RUNS:
        raise NothingToCompare
    names = distinct([file.name for file in files])
    rated_files = {
        name: bounded.call(name, csv_ratings.read, name, file.data)
        for name, file in zip(names, files, strict=True)
    }
    for name, rated in rated_files.items():
        if not rated.report.rows:
            raise ImportRefused(*(rated.problems or (error("no_queries", name),)))
    listed = [rated.report.rows for rated in rated_files.values()]
    with_texts = all(any(row.question.strip() for row in rows) for rows in listed)
    questions_by_name: dict[str, dict[tuple[int, str], tuple[int, str]]] = {}
    for name, rows in zip(names_of(files), listed, strict=True):
        keys = [question_key(row.question) if with_texts else "" for row in rows]
        questions_by_name[name] = {
            (row.query_id, key): (row.query_id, row.question)
            for row, key in zip(rows, keys, strict=True)
        }
    longest = max(questions_by_name.values(), key=len)
    if not all(set(rated) <= set(longest) for rated in questions_by_name.values()):
        raise DifferentQuestions(questions_by_name)
    return rated_files


def method_name(path: str) -> str:
    """Return the search method of a rated CSV: from its name, else from its folder.

    >>> method_name("data/evaluation/hybrid/evaluation_rated_20260125.csv")
    'hybrid'
    >>> method_name("evaluation_rated_api_only_20260125.csv")
    'api_only'
    >>> method_name("2684856600.csv")  # named after a run
    '2684856600'
    """
    file = PurePath(path)
    stem = _DATED.sub("", _PROVISIONAL.sub("", file.stem))
    return _KIND.sub("", stem).strip(" _-") or file.parent.name or stem


def names_of(files: Sequence[RatedCsv]) -> list[str]:
    """Return a name for each file that no other one has: its label, else its method in words."""
    names = [file.label or labels.method(method_name(file.name)) for file in files]
    counts = Counter(names)
    for place, file in enumerate(files):
        if counts[names[place]] > 1 and not file.label:
            names[place] = file.name
    return distinct(names)
