"""The folder layout of the original evaluation scripts: what each file is called and holds.

A folder per search method holds each run with its files, named after the day of the run; the
reports over all runs lie beside the folders. Names follow from the runs alone, so that the
same runs give the same files on every machine.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from relevansi import labels
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext
from relevansi.records import CollectedAnswer, CollectedRun, QueryState, ReadQuery, ReadRun

STAMP = "%Y%m%d_%H%M%S"


def collected_run_file(run: CollectedRun) -> bytes:
    """The run file: the head a field to a line, then an answer to a line.

    The keys of the original come first in each answer; latency_ms, tries, usage, metadata
    and properties follow where they are known.
    """
    head = {name: value for name, value in asdict(run).items() if name != "answers"}
    head["successful"] = sum(not answer.error for answer in run.answers)
    return document(head, "results", map(_answer, run.answers))


def document(head: Mapping[str, object], key: str, rows: Iterable[object]) -> bytes:
    """A JSON object: `head` first, then the list `rows` under `key`, a row to a line."""
    lines = [f"{_json(name)}: {_json(value)}" for name, value in head.items()]
    listed = ",\n".join(map(_json, rows))
    text = "{" + ",\n".join([*lines, f"{_json(key)}: [\n{listed}\n]"]) + "}\n"
    # Half a character, which UTF-8 cannot hold, becomes the JSON escape that it came as.
    return text.encode("utf-8", "backslashreplace")


def _answer(answer: CollectedAnswer) -> dict[str, object]:
    further = {
        "error": answer.error or None,
        "error_code": answer.error_code or None,
        "answer_excerpt": answer.excerpt or None,
        **fields(answer, "context_dependent", "latency_ms", "tries", "usage"),
        "metadata": answer.metadata or None,
        "properties": None if answer.properties is None else list(answer.properties),
    }
    row = _row(answer, not answer.error, answer.results_count)
    return row | {name: value for name, value in further.items() if value is not None}


def _row(
    answer: CollectedAnswer | ReadQuery, success: bool | str, results_count: int | None
) -> dict[str, object]:
    return {
        **fields(answer, "query_id", "question", "category"),
        "success": success,
        "response": answer.response,
        "response_length": len(answer.response),
        "results_count": results_count,
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


UNDATED = "undated"
NOT_STATED = "method_not_stated"
_MOMENT = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:[T_ -]?(\d{2}):?(\d{2}):?(\d{2}))?")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LONGEST_FOLDER = 80


class RunNames(Struct, frozen=True):
    """Where a run's files lie: its folder, its moment and its day, unique in that folder."""

    folder: str
    moment: str
    day: str

    def path(self, pattern: str) -> str:
        """The path of one file: `pattern` with {moment} or {day} filled in.

        >>> RunNames("hybrid", "20260126_141433", "20260126").path("evaluation_{day}.html")
        'hybrid/evaluation_20260126.html'
        """
        return f"{self.folder}/{pattern.format(moment=self.moment, day=self.day)}"


def in_order(runs: Iterable[ReadRun]) -> list[ReadRun]:
    """The runs, the earliest first; those without a time stay in the order given.

    Those of one moment have an order by their content: the same whichever database they are in.
    """

    def when(run: ReadRun) -> tuple[str, str, str]:
        return moment(run.timestamp), run.llm or "", run.key if run.timestamp else ""

    return sorted(runs, key=when)


def names(runs: Sequence[ReadRun]) -> dict[str, RunNames]:
    """Where the files of each run lie, by its id; `runs` as ``in_order`` gives them.

    Two runs of one method and day have names by their moments, two of one moment by a number too.
    """
    folders: dict[str, str] = {}
    placed = []
    for run in runs:
        name = folder(run.search_method)
        # Windows and macOS take Hybrid and hybrid for one folder.
        run_folder = folders.setdefault(name.casefold(), name)
        placed.append((run.name, run_folder, moment(run.timestamp)))
    runs_of_day = Counter((run_folder, _day(stamp)) for _, run_folder, stamp in placed)
    runs_of_moment: Counter[tuple[str, str]] = Counter()
    names_by_run = {}
    for run_id, run_folder, stamp in placed:
        runs_of_moment[run_folder, stamp] += 1
        number = runs_of_moment[run_folder, stamp]
        unique = stamp if number == 1 else f"{stamp}_{number}"
        is_alone = runs_of_day[run_folder, _day(stamp)] == 1
        day = _day(stamp) if is_alone else unique
        names_by_run[run_id] = RunNames(run_folder, unique, day)
    return names_by_run


def _day(stamp: str) -> str:
    return stamp.partition("_")[0]


def folder(search_method: str | None) -> str:
    """The folder of a search method, a name that every system takes.

    >>> folder("hybrid"), folder("Hybrid (60/40)"), folder("../x"), folder(None)
    ('hybrid', 'Hybrid_60_40', 'x', 'method_not_stated')
    """
    name = re.sub(r"[^\w.-]+", "_", search_method or "").strip("._")[:_LONGEST_FOLDER]
    # Windows opens devices by these names, whatever stands behind the dot.
    return f"{name}_" if _RESERVED.fullmatch(name) else name or NOT_STATED


def moment(timestamp: str | None) -> str:
    """The moment of a run as file names have it.

    >>> moment("20260126_141433"), moment("2026-01-26T14:14:33.5Z"), moment("2026-01-26")
    ('20260126_141433', '20260126_141433', '20260126_000000')
    """
    match = _MOMENT.match(timestamp or "")
    if match is None:
        return UNDATED
    year, month, day, *time = match.groups()
    return f"{year}{month}{day}_{''.join(part or '00' for part in time)}"


def run_file(run: ReadRun) -> bytes:
    """The run as ``test_results.json``: what the import stored, in the layout of the original.

    The import does not store thread_id and user_id, and a V2 file comes out in the V1 layout
    with its properties.
    """
    total = run.total_questions
    head: dict[str, object] = {
        **run.extra,
        "timestamp": run.timestamp,
        "thread_id": None,
        "user_id": None,
        "search_method": run.search_method,
        **({} if run.llm is None else {"llm": run.llm}),
        "total_questions": len(run.queries) if total is None else total,
        "successful": sum(query.state is not QueryState.FAILED for query in run.queries),
    }
    return document(head, "results", map(_entry, run.queries))


def responses(run: ReadRun) -> bytes:
    """Every question with the chatbot's whole answer, as plain text to read."""
    head = (
        f"{gettext('Search method')}: {run.search_method or '-'}\n"
        f"{gettext('LLM')}: {run.llm or '-'}\n"
        f"{gettext('Time')}: {run.timestamp or '-'}\n"
    )
    rule = "=" * 78
    answers = (
        f"{rule}\n{query.query_id}. {query.question}\n[{query.category}]\n{rule}\n\n"
        f"{query.response or query.error or '-'}\n"
        for query in run.queries
    )
    return "\n".join([head, *answers]).encode("utf-8", "backslashreplace")


def run_title(search_method: str | None, llm: str | None, timestamp: str | None) -> str:
    """The name of a run in reports: its labels in words and raw, and its time."""
    method = labels.with_label(labels.method(search_method), search_method or "")
    return " · ".join(part or gettext("not stated") for part in (method, llm, timestamp))


def _entry(query: ReadQuery) -> dict[str, object]:
    success: bool | str = query.state is not QueryState.FAILED
    if query.state is QueryState.UNREADABLE and not query.claimed_count:
        success = "unreadable"  # as the answer was in the imported file
    entry = _row(query, success, query.claimed_count)
    entry["context_dependent"] = query.context_dependent
    if query.error is not None:
        entry["error"] = query.error
    return entry | dict(query.extra)
