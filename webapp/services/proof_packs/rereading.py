"""The judgments of one member of a proof pack that differ from the verdicts, one by one."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from webapp.exporters.exports import json_runs, trec
from webapp.exporters.exports.trec import TrecResult
from webapp.metrics.judging.figures import QueryRow, RunReport
from webapp.metrics.judging.queries import BEST_QUALITY, QueryJudgments, summarise
from webapp.records import CannotTell, EmptyOutcome, QueryState, Relevance

Spot = tuple[int, int]
"""A query's number and a rank."""

_SHORT_NUMBER = re.compile("[0-9]{1,18}")
_SAID = {*map(str, Relevance), *map(str, EmptyOutcome)}
_GRADES = {"1": Relevance.RELEVANT, "0": Relevance.NOT_RELEVANT}


class Otherwise(Struct, frozen=True):
    """The judgments of one member that differ from the verdicts; equal ones are left out."""

    relevance: Mapping[Spot, Relevance | None] = field(default_factory=dict)
    outcome: Mapping[int, EmptyOutcome | None] = field(default_factory=dict)
    quality: Mapping[int, float | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.relevance or self.outcome or self.quality)


def judged_otherwise(report: RunReport, otherwise: Otherwise) -> RunReport:
    """Return `report` with the differing judgments of one member in place of its own."""
    assert report.cannot_tell is not None
    rows = tuple(_changed(row, otherwise, report.cannot_tell) for row in report.rows)
    return replace(report, rows=rows)


def of_verdicts(stated: bytes, computed: bytes) -> dict[int, str]:
    """Return the verdicts that lines of the table of verdicts state otherwise, by line from 0.

    None where the lines are not about the same things.
    """
    one, other = (
        [*csv.reader(io.StringIO(data.decode("utf-8"), newline=""))][1:]
        for data in (stated, computed)
    )
    if [line[:-1] for line in one] != [line[:-1] for line in other]:
        return {}
    both = enumerate(zip(one, other, strict=True))
    return {n: line[-1] for n, (line, own) in both if line[-1:] != own[-1:] and line[-1] in _SAID}


def of_judgments(stated: bytes, report: RunReport) -> Otherwise:
    """Return where the long CSV differs from `report`; lines that match no result are ignored."""
    found: dict[Spot, Relevance | None] = {}
    known = {"": None, **{str(verdict): verdict for verdict in Relevance}}
    for row in csv.DictReader(io.StringIO(stated.decode("utf-8"), newline="")):
        place, said = (row.get("query_id"), row.get("rank")), row.get("relevance")
        if said in known and all(part and _SHORT_NUMBER.fullmatch(part) for part in place):
            found[int(str(place[0])), int(str(place[1]))] = known[said]
    return Otherwise(relevance=_differing(found, report))


def of_qrels(stated: bytes, results: Iterable[TrecResult], report: RunReport) -> Otherwise:
    """Return where the qrels differ from `report`; results they omit may be "cannot tell"."""
    grades: dict[tuple[str, str], str] = {}
    for line in stated.decode("utf-8").splitlines():
        words = line.split()
        if len(words) == 4:
            grades[words[0], words[2]] = words[3]
    found: dict[Spot, Relevance | None] = {}
    for result in results:
        said = _GRADES.get(grades.get((str(result.query_id), trec.document(result)), ""))
        if said is not None or result.relevance in _GRADES.values():
            found[result.query_id, result.rank] = said
    return Otherwise(relevance=_differing(found, report))


def of_run_json(stated: object, report: RunReport) -> Otherwise:
    """Return where the run's JSON document differs from `report`."""
    queries = {
        entry["query_id"]: entry
        for entry in _objects(stated, "queries")
        if isinstance(entry.get("query_id"), int)
    }
    verdicts: dict[Spot, Relevance | None] = {}
    outcomes: dict[int, EmptyOutcome | None] = {}
    quality: dict[int, float | None] = {}
    for row in report.rows:
        entry = queries.get(row.query_id, {})
        for shown in _objects(entry, "results"):
            rank, said = shown.get("rank"), shown.get("relevance")
            for verdict, written in json_runs.VERDICTS.items():
                if isinstance(rank, int) and said == written and type(said) is type(written):
                    verdicts[row.query_id, rank] = verdict
        outcome, grade = entry.get("empty_outcome"), entry.get("quality")
        if row.summary.state is QueryState.EMPTY and outcome != row.summary.empty_outcome:
            outcomes[row.query_id] = _outcome(outcome)
        if grade != row.summary.quality:
            quality[row.query_id] = _grade(grade)
    return Otherwise(_differing(verdicts, report), outcomes, quality)


def _differing(
    found: Mapping[Spot, Relevance | None], report: RunReport
) -> dict[Spot, Relevance | None]:
    own = {
        (row.query_id, rank): verdict
        for row in report.rows
        for rank, verdict in enumerate(row.verdicts, start=1)
    }
    return {spot: said for spot, said in found.items() if spot in own and own[spot] != said}


def _objects(document: object, key: str) -> list[dict[str, Any]]:
    """Return the objects in the list that `document` holds under `key`, if it holds a list."""
    entries = document.get(key) if isinstance(document, dict) else None
    return (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )


def _outcome(said: object) -> EmptyOutcome | None:
    return EmptyOutcome(str(said)) if said in list(EmptyOutcome) else None


def _grade(said: object) -> float | None:
    is_number = isinstance(said, (int, float)) and not isinstance(said, bool)
    return float(said) if is_number and 0 <= said <= BEST_QUALITY else None  # type: ignore[arg-type, operator]


def _changed(row: QueryRow, otherwise: Otherwise, cannot_tell: CannotTell) -> QueryRow:
    verdicts = tuple(
        otherwise.relevance.get((row.query_id, rank), verdict)
        for rank, verdict in enumerate(row.verdicts, start=1)
    )
    summary = row.summary
    judgments = QueryJudgments(
        state=summary.state,
        verdicts=verdicts,
        empty_outcome=otherwise.outcome.get(row.query_id, summary.empty_outcome),
        quality=otherwise.quality.get(row.query_id, summary.quality),
    )
    summary = summarise(judgments, cannot_tell=cannot_tell)
    return replace(row, summary=summary, verdicts=verdicts)
