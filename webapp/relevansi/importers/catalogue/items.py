"""The listings or documents in files of any shape that results are read from, as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from relevansi.importers.results import files, json_systems, recognition, records, tables
from relevansi.importers.results.files import Dropped, File, reading
from relevansi.importers.results.recognition import Beside
from relevansi.importers.results.rows import (
    Values,
    as_text,
    flattened,
    guessed,
    item_of,
    plain_name,
)
from relevansi.importers.results.unknown import UnknownNames
from relevansi.importers.runs.json_documents import read_object
from relevansi.importers.runs.prices import read_price
from relevansi.importers.runs.problems import ImportRefused
from relevansi.importers.runs.property_names import LISTS, by_name
from relevansi.importers.runs.property_particulars import (
    FACTS,
    PropertyInFile,
    filled,
    read_particulars,
)
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.records import Item, OnProgress, Problem, no_progress

_LOOKED_AT = 50
_NAMES = by_name("columns") | {
    name: "type_" for name, fact in FACTS.items() if fact == "property_type"
}
"""Names of columns of listings to the field of ``PropertyInFile``; ``type_`` is their kind."""


class CatalogueItem(NamedTuple):
    """An item of a file; ``details`` are further texts to find it by, ``type`` its stated kind."""

    item: Item
    details: tuple[str, ...] = ()
    type: str = ""


class _All(frozenset[str]):
    """Every id: a collection then gives all its documents."""

    def __contains__(self, _id: object) -> bool:
        return True


def expanded(dropped: Iterable[Dropped]) -> list[File]:
    """Return the files that were dropped, with those in folders and archives."""
    return list(files.expanded(dropped))


def read(
    opened_files: Sequence[File], kind: str, on_progress: OnProgress = no_progress
) -> Iterator[CatalogueItem]:
    """Yield every item of the files, all of one `kind`; raises an ``ImportRefused``.

    What is wrong with single values is in the remarks of each file.
    """
    for file in opened_files:
        count = 0
        items = _listings(file) if kind == Card.kind else _documents(file, on_progress)
        with reading(file):
            for count, item in enumerate(items, 1):  # noqa: B007 - none is refused
                yield item
        if not count:
            file.refuse("catalogue_no_items")


def read_all(
    dropped: Sequence[Dropped], kind: str | None
) -> tuple[str, list[CatalogueItem], list[Problem]]:
    """Return the kind of the files, which is `kind` if that is known, their items and remarks."""
    opened_files = expanded(dropped)
    kind = kind or kind_of_items(opened_files)
    items = list(read(opened_files, kind))
    return kind, items, [problem for file in opened_files for problem in file.remarks()]


def kind_of_items(opened_files: Sequence[File]) -> str:
    """Return the kind of what the files list: listings if the first one has names of theirs."""
    names: set[str] = set()
    for file in opened_files[:1]:
        looked_at = replace(file, problems=[])
        with suppress(ImportRefused), reading(looked_at):
            for _, values in islice(_records(looked_at), _LOOKED_AT):
                names.update(_NAMES.get(name, name) for name in map(plain_name, values))
    return Card.kind if names.intersection(LISTS["of_listings"]) else Document.kind


def _records(file: File) -> Iterator[tuple[int, Values]]:
    """Every object of JSON, or row of a table, with its line."""
    if file.start().startswith((b"{", b"[")):
        for line, value in records.read(file):
            for place, entry in _entries(line, value):
                if not isinstance(entry, dict):
                    file.refuse(
                        "line_not_an_object", line=place, expected="object", found="other_value"
                    )
                yield place, entry
        return
    for table in tables.read(file):
        for line, cells in table.rows:
            values: Values = dict(zip(table.names, cells, strict=False))
            values.pop("", None)
            yield line, values


def _entries(line: int, value: object) -> Iterator[tuple[int, object]]:
    """The items that a value lists: as its only list of objects, or by columns; else itself."""
    if not isinstance(value, dict) or _identifies(value):
        listed = value
    else:
        lists = [inner for inner in value.values() if _is_of_objects(inner)]
        listed = lists[0] if len(lists) == 1 else json_systems.columnar(value)
    yield from enumerate(listed, 1) if isinstance(listed, list) else [(line, listed)]


def _is_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _identifies(value: Values) -> bool:
    """Whether an object is an item itself, whatever it lists (places nearby, for example)."""
    names = {_NAMES.get(name, name) for name in map(plain_name, value)}
    is_item = names & {"slug", "title", "name", "text", "doc_id", "id", "_id"}
    return any(not isinstance(value[name], list | dict) for name in value) and bool(is_item)


def _documents(file: File, on_progress: OnProgress) -> Iterator[CatalogueItem]:
    source = None
    with suppress(UnknownNames):
        source = recognition.recognise(file, {})
    if source is not None and source.documents:
        yield from map(CatalogueItem, source.documents(_All(), on_progress))
    elif source is not None and source.rows:
        for row in source.rows(Beside({}, [source], set)):
            if row.role not in ("result", "document") or not isinstance(row.item, Document):
                file.refuse("results_names_no_item", line=row.line)
            yield CatalogueItem(replace(row.item, score=None, position=None))
    else:
        for line, values in _records(file):
            flat = flattened(values)
            document = item_of(flat, guessed(tuple(flat), of_item=True))
            if document is None:
                file.refuse("results_names_no_item", line=line)
            yield CatalogueItem(document)


def _listings(file: File) -> Iterator[CatalogueItem]:
    for line, raw in _records(file):
        values = {plain_name(name): value for name, value in raw.items()}
        details = values.get("api_data")
        if isinstance(details, dict):
            values |= {name: value for name, value in details.items() if value is not None}
        for name, field in _NAMES.items():
            if name in values:
                values.setdefault(field, values[name])
        price = values.get("price")
        if isinstance(price, str):
            values["price"] = read_price(" ".join(price.split())).low
        listed, problems = read_object(
            PropertyInFile, values, file=file.name, place="", outcomes={"": "value_ignored"}
        )
        # The id in a record is that of a listing, not of a question.
        file.note(*(replace(problem, line=line, query_id=None) for problem in problems))
        title = (listed.name or listed.title or "").strip() if listed else ""
        card = filled(Card(title=title), listed)
        if not (card.slug or card.listing_id or title):
            file.refuse("catalogue_nameless", line=line)
        if price not in (None, "", 0, "0") and card.price is None:
            file.counts["catalogue_price_unread"] += 1
        particulars = read_particulars(values)
        yield CatalogueItem(card, particulars.texts, as_text(values.get("type_")).strip())
