"""The members of a proof pack as values, with every place in them that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from webapp.importers.proof_packs.pack import LONGEST_LINE, ManifestRun, ProofPack, UnreadableMember
from webapp.importers.runs.csv_table import Record, read_table
from webapp.importers.runs.json_documents import storable_text
from webapp.metrics.judging.queries import BEST_QUALITY
from webapp.metrics.proof_packs import proof_files
from webapp.metrics.proof_packs.evidence import (
    GivenRating,
    GivenVerdict,
    LoggedEvent,
    PackedResult,
    SetQuestion,
    SettledThing,
    ShownQuery,
    ShownRun,
    Thing,
)
from webapp.records import EmptyOutcome, QueryState, Relevance

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class MemberFault:
    """A place in a member that cannot be used, such as "line 3: verdict"."""

    file: str
    place: str


@dataclass(frozen=True, slots=True)
class ReadMember(Generic[ValueT]):
    """The values of a member, and the places in it that could not be used."""

    values: tuple[ValueT, ...]
    faults: tuple[MemberFault, ...] = ()


class _Wrong(ValueError):
    """A cell or key, by its name, that holds an invalid value."""


def questions(pack: ProofPack, question_set: str) -> ReadMember[SetQuestion]:
    """The questions of a set; raises ``UnreadableMember``."""
    name = proof_files.of_question_set(question_set)
    document = pack.json(name)
    if not isinstance(document, list):
        raise UnreadableMember(name, "no list")
    return _each(name, "[{}]", enumerate(document), _question)


def lists(
    pack: ProofPack, run: ManifestRun, asked: Mapping[int, SetQuestion]
) -> tuple[ShownRun, tuple[MemberFault, ...]]:
    """The lists that a run showed, its questions from `asked`; raises ``UnreadableMember``."""
    name = proof_files.of_run(run.run, proof_files.LISTS)
    rows = _rows(pack, name, proof_files.LIST_COLUMNS, lambda cells: _line(cells, run, asked))
    lines: dict[int, list[ShownQuery]] = {}
    faults = list(rows.faults)
    for query in rows.values:
        before = lines.setdefault(query.query_id, [])
        if before and not _continues(before[0], query):
            faults.append(MemberFault(name, f"question {query.query_id}"))
        else:
            before.append(query)
    queries = tuple(_joined(same) for same in lines.values())
    faults += [
        MemberFault(name, f"question {query.query_id}: rank")
        for query in queries
        if [shown.rank for shown in query.results] != list(range(1, len(query.results) + 1))
    ]
    shown = ShownRun(run.run, run.question_set, queries, run.search_method, run.llm)
    return shown, tuple(faults)


def verdicts(pack: ProofPack) -> ReadMember[GivenVerdict]:
    """Every rater's verdicts in force; raises ``UnreadableMember``."""
    columns = proof_files.VERDICT_COLUMNS
    return _rows(pack, proof_files.VERDICTS, columns, _verdict)


def ratings(pack: ProofPack) -> ReadMember[GivenRating]:
    """Every rater's quality and notes in force; raises ``UnreadableMember``."""
    return _rows(pack, proof_files.RATINGS, proof_files.RATING_COLUMNS, _rating)


def settled(pack: ProofPack) -> ReadMember[SettledThing]:
    """The verdicts of adjudication; raises ``UnreadableMember``."""
    columns = proof_files.ADJUDICATION_COLUMNS
    return _rows(pack, proof_files.ADJUDICATIONS, columns, _settled)


def events(pack: ProofPack) -> ReadMember[LoggedEvent]:
    """The event log in the order of receipt; raises ``UnreadableMember``."""
    lines = enumerate(pack.lines(proof_files.EVENTS), start=1)
    return _each(proof_files.EVENTS, "line {}", lines, _event)


def _rows(
    pack: ProofPack,
    name: str,
    columns: Sequence[str],
    read: Callable[[Mapping[str, str]], ValueT],
) -> ReadMember[ValueT]:
    table = read_table(name, pack.read(name), required=columns)
    if not table.columns or set(columns) - set(table.columns):
        raise UnreadableMember(name, f"columns: {', '.join(columns)}")
    broken = tuple(MemberFault(name, f"line {problem.line}") for problem in table.problems)
    found = _each(name, "line {}", ((row.line, row) for row in table.records), _of_record(read))
    return ReadMember(found.values, (*broken, *found.faults))


def _of_record(read: Callable[[Mapping[str, str]], ValueT]) -> Callable[[Record], ValueT]:
    return lambda record: read(record.cells)


def _each(
    name: str,
    place: str,
    numbered: Iterator[tuple[int, object]] | enumerate[object],
    read: Callable[..., ValueT],
) -> ReadMember[ValueT]:
    """Read every value that can be read; the others are faults."""
    values: list[ValueT] = []
    faults: list[MemberFault] = []
    for number, raw in numbered:
        try:
            values.append(read(raw))
        except _Wrong as wrong:
            faults.append(MemberFault(name, f"{place.format(number)}: {wrong}"))
    return ReadMember(tuple(values), tuple(faults))


def _question(raw: object) -> SetQuestion:
    cells = _object(raw)
    depends = cells.get("context_dependent")
    if not isinstance(depends, bool):
        raise _Wrong("context_dependent")
    return SetQuestion(
        _integer(cells, "id"), _text(cells, "question"), _text(cells, "category"), depends
    )


def _line(
    cells: Mapping[str, str], run: ManifestRun, asked: Mapping[int, SetQuestion]
) -> ShownQuery:
    """One line of the lists: a query with one result, or with none where it has no rank."""
    position = _whole(cells, "position")
    if position not in asked:
        raise _Wrong("position")
    state = _one_of(QueryState, cells, "state")
    if bool(cells["rank"]) != (state is QueryState.RESULTS):
        raise _Wrong("rank")
    judged_in = cells["judged_in"] or None
    empty = Thing(run.question_set, position, None, 1, judged_in)
    return ShownQuery(
        query_id=_whole(cells, "query_id"),
        position=position,
        question=asked[position].text,
        category=asked[position].category,
        state=state,
        results=_result(cells, run.question_set) if cells["rank"] else (),
        emptiness=empty if state is QueryState.EMPTY else None,
    )


def _result(cells: Mapping[str, str], question_set: str) -> tuple[PackedResult]:
    if not cells["property"]:
        raise _Wrong("property")
    thing = _thing({**cells, "question_set": question_set})
    return (PackedResult(_whole(cells, "rank"), thing, cells["title"]),)


def _continues(before: ShownQuery, query: ShownQuery) -> bool:
    same = (before.position, before.state) == (query.position, query.state)
    return same and bool(query.results)


def _joined(lines: Sequence[ShownQuery]) -> ShownQuery:
    """The query that these lines, one per result, are about."""
    return replace(lines[0], results=tuple(shown for line in lines for shown in line.results))


def _thing(cells: Mapping[str, str]) -> Thing:
    return Thing(
        question_set=cells["question_set"],
        position=_whole(cells, "position"),
        property_id=cells["property"] or None,
        content=_whole(cells, "content"),
        run=cells["judged_in"] or None,
    )


def _verdict(cells: Mapping[str, str]) -> GivenVerdict:
    thing = _thing(cells)
    return GivenVerdict(cells["rater"], thing, _fitting(thing, cells))


def _rating(cells: Mapping[str, str]) -> GivenRating:
    quality = _whole(cells, "quality") if cells["quality"] else None
    if quality is not None and quality > BEST_QUALITY:
        raise _Wrong("quality")
    query_id = _whole(cells, "query_id")
    return GivenRating(cells["rater"], cells["run"], query_id, quality, cells["notes"])


def _settled(cells: Mapping[str, str]) -> SettledThing:
    thing = _thing(cells)
    verdict = _fitting(thing, cells)
    return SettledThing(thing, verdict, cells["reason"], cells["by"], _moment(cells["at"], "at"))


def _fitting(thing: Thing, cells: Mapping[str, str]) -> str:
    """The verdict in `cells`, which must be one that such a thing can have."""
    kind = EmptyOutcome if thing.property_id is None else Relevance
    return str(_one_of(kind, cells, "verdict"))


def _event(line: bytes) -> LoggedEvent:
    if len(line) >= LONGEST_LINE:
        raise _Wrong("too long")
    try:
        cells = _object(json.loads(line))
    except (ValueError, RecursionError) as wrong:
        raise _Wrong("no JSON") from wrong
    client_time = _text_or_none(cells, "client_time")
    return LoggedEvent(
        id=_integer(cells, "id"),
        event_id=_text(cells, "event_id"),
        rater=_text(cells, "rater"),
        field=_text(cells, "field"),
        thing=_event_thing(cells),
        run=_text_or_none(cells, "run"),
        query_id=_integer_or_none(cells, "query_id"),
        task=_text_or_none(cells, "task"),
        old=_text_or_none(cells, "old"),
        new=_new(cells),
        cause=_text(cells, "cause"),
        undoes=_integer_or_none(cells, "undoes"),
        device=_text(cells, "device"),
        sequence=_integer(cells, "sequence"),
        client_time=_moment(client_time, "client_time") if client_time else None,
        received_at=_moment(_text(cells, "received_at"), "received_at"),
    )


def _event_thing(cells: Mapping[str, object]) -> Thing | None:
    if cells.get("position") is None:
        return None
    return Thing(
        question_set=_text(cells, "question_set"),
        position=_integer(cells, "position"),
        property_id=_text_or_none(cells, "property"),
        content=_integer(cells, "content"),
        run=_text_or_none(cells, "judged_in"),
    )


def _new(cells: Mapping[str, object]) -> str | None:
    """The value that the event set, which must be one that its field can have."""
    new = _text_or_none(cells, "new")
    kind = EmptyOutcome if cells.get("property") is None else Relevance
    allowed: Mapping[str, Sequence[str]] = {
        "quality": [str(grade) for grade in range(BEST_QUALITY + 1)],
    }
    if cells.get("position") is not None:  # else the event is about a deleted thing
        allowed = {**allowed, "verdict": list(kind)}
    if new is not None and new not in allowed.get(_text(cells, "field"), [new]):
        raise _Wrong("new")
    return new


KindT = TypeVar("KindT", bound=StrEnum)


def _one_of(kind: type[KindT], cells: Mapping[str, str], name: str) -> KindT:
    try:
        return kind(cells[name])
    except ValueError as wrong:
        raise _Wrong(name) from wrong


def _whole(cells: Mapping[str, str], name: str) -> int:
    text = cells[name]
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(2**63))):
        raise _Wrong(name)
    return int(text)


def _object(raw: object) -> Mapping[str, object]:
    if not isinstance(raw, dict):
        raise _Wrong("no object")
    return raw


def _text(cells: Mapping[str, object], name: str) -> str:
    found = cells.get(name)
    if not isinstance(found, str) or found != storable_text(found):
        raise _Wrong(name)
    return found


def _text_or_none(cells: Mapping[str, object], name: str) -> str | None:
    return None if cells.get(name) is None else _text(cells, name)


def _integer(cells: Mapping[str, object], name: str) -> int:
    found = cells.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        raise _Wrong(name)
    return found


def _integer_or_none(cells: Mapping[str, object], name: str) -> int | None:
    return None if cells.get(name) is None else _integer(cells, name)


def _moment(text: str, name: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as wrong:
        raise _Wrong(name) from wrong
    if found.tzinfo is None:
        raise _Wrong(name)
    return found
