"""The members of a proof pack as values, with every place in them that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from webapp.importers.proof_packs.pack import (
    LONGEST_LINE,
    ManifestRun,
    ProofPack,
    Text,
    UnreadableMember,
)
from webapp.importers.runs.csv_ratings import read_table
from webapp.importers.runs.json_documents import FromFile
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
ModelT = TypeVar("ModelT", bound=BaseModel)

LARGEST = 2**63 - 1
Number = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Moment = Annotated[AwareDatetime, Field(strict=False)]


class MemberFault(Struct, frozen=True):
    """A place in a member that cannot be used, such as "line 3: verdict"."""

    file: str
    place: str


class ReadMember(Struct, Generic[ValueT], frozen=True):
    """The values of a member, and the places in it that could not be used."""

    values: tuple[ValueT, ...]
    faults: tuple[MemberFault, ...] = ()


class QuestionEntry(FromFile):
    """A question as its set's file has it."""

    id: Number
    question: Text
    category: Text
    context_dependent: bool


class EventLine(FromFile):
    """A line of the event log."""

    id: Number
    event_id: Text
    rater: Text
    field: Text
    question_set: Text | None = None
    position: Number | None = None
    judged_in: Text | None = None
    property: Text | None = None
    content: Number | None = None
    run: Text | None = None
    query_id: Number | None = None
    task: Text | None = None
    old: Text | None = None
    new: Text | None = None
    cause: Text
    undoes: Number | None = None
    device: Text
    sequence: Number
    client_time: Moment | None = None
    received_at: Moment

    def thing(self) -> Thing | None:
        """The judged thing; ``None`` for an event on an answer, or on a deleted thing."""
        if self.position is None or self.question_set is None or self.content is None:
            return None
        return Thing(self.question_set, self.position, self.property, self.content, self.judged_in)

    def allowed(self) -> Sequence[str | None]:
        """The values that the field can have."""
        if self.field == "quality":
            return [None, *map(str, range(BEST_QUALITY + 1))]
        if self.field == "verdict" and self.position is not None:
            return [None, *(EmptyOutcome if self.property is None else Relevance)]
        return [self.new]


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
    found = _each(name, "line {}", ((row.line, row.cells) for row in table.records), read)
    return ReadMember(found.values, (*broken, *found.faults))


def _each(
    name: str,
    place: str,
    numbered: Iterable[tuple[int, object]],
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
    entry = _model(QuestionEntry, raw)
    return SetQuestion(entry.id, entry.question, entry.category, entry.context_dependent)


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
    return SettledThing(thing, verdict, cells["reason"], cells["by"], _moment(cells))


def _fitting(thing: Thing, cells: Mapping[str, str]) -> str:
    """The verdict in `cells`, which must be one that such a thing can have."""
    kind = EmptyOutcome if thing.property_id is None else Relevance
    return str(_one_of(kind, cells, "verdict"))


def _event(line: bytes) -> LoggedEvent:
    if len(line) >= LONGEST_LINE:
        raise _Wrong("too long")
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as wrong:
        raise _Wrong("no JSON") from wrong
    event = _model(EventLine, raw)
    if event.new not in event.allowed():
        raise _Wrong("new")
    same = event.model_dump(include=set(LoggedEvent.__struct_fields__))
    return LoggedEvent(**same, thing=event.thing())


def _model(kind: type[ModelT], raw: object) -> ModelT:
    try:
        return kind.model_validate(raw)
    except ValidationError as wrong:
        (first, *_) = wrong.errors(include_url=False, include_context=False, include_input=False)
        raise _Wrong(".".join(map(str, first["loc"])) or "no object") from wrong


KindT = TypeVar("KindT", bound=StrEnum)


def _one_of(kind: type[KindT], cells: Mapping[str, str], name: str) -> KindT:
    try:
        return kind(cells[name])
    except ValueError as wrong:
        raise _Wrong(name) from wrong


def _whole(cells: Mapping[str, str], name: str) -> int:
    text = cells[name]
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST))):
        raise _Wrong(name)
    if int(text) > LARGEST:
        raise _Wrong(name)
    return int(text)


def _moment(cells: Mapping[str, str]) -> datetime:
    try:
        found = datetime.fromisoformat(cells["at"])
    except ValueError as wrong:
        raise _Wrong("at") from wrong
    if found.tzinfo is None:
        raise _Wrong("at")
    return found
