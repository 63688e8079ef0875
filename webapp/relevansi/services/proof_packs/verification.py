"""Verification of a proof pack: which files, lines and values differ from what its rows give.

First each row is checked for the rows it refers to and the values its columns may have. Then the
rows are put into an empty database in memory, and all other members are exported from there again
and compared (decision 0040).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import takewhile, zip_longest
from math import isclose
from typing import Any, get_args

from msgspec import Struct, ValidationError
from sqlalchemy import Table, insert, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from relevansi.db.engine import in_memory
from relevansi.db.tables.base import Base, Moment
from relevansi.db.tables.judging import Event, JudgedItem
from relevansi.db.tables.people import LogEntry
from relevansi.db.tables.study import Study
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.exporters.proof_packs.pack import json_file
from relevansi.failures import Failure
from relevansi.i18n import SOURCE_LANGUAGE, speaking
from relevansi.importers.proof_packs.pack import ProofPack, UnreadableMember
from relevansi.importers.runs.json_documents import storable_text
from relevansi.kinds import KINDS
from relevansi.metrics.proof_packs import proof_files
from relevansi.records import EmptyOutcome, OnProgress, Scale, no_progress
from relevansi.services.backups import backups, moves
from relevansi.services.judging.events import REPEAT_FIELDS
from relevansi.services.proof_packs import packs
from relevansi.services.runs import reports, runs
from relevansi.services.study.assignments import SWITCHES
from relevansi.services.study.studies import Merging

Value = str | int | float | bool | None
Place = tuple[str, ...]
Disagreement = tuple[Place, Value, Value]
"""A place with the value that the pack has there, and the one it should have."""

ROWS = "study/*.json"
"""The source of every recomputed value, as reports name it."""

MAX_DIFFERENCES = 20_000
"""How many differences are listed; the rest is counted."""

_MAX_CHARACTERS = 120
_TOLERANCE = 1e-9
"""Figures nearer than this are equal: sums of floats depend on their order."""

VALUES: Mapping[Any, set[Any]] = {
    **backups.VALUES,
    Study.figures: {"progress", "all"},
    Study.kind: set(KINDS),
    Study.merging: {None, *get_args(Merging)},
    Event.field: {"reason", "evidence", *REPEAT_FIELDS, *REPEAT_FIELDS.values()},
    Event.cause: {"click", "bulk", "import", "undo"},
    LogEntry.action: set(SWITCHES),
}
"""The values that columns may have, where their types allow others too."""

_SINCE_SEARCHES = frozenset(
    ("empty_answers", "empty_answers_checked", "searches", "evidence", "reason", "reasons")
)
"""The keys and columns that came with the table of searches; packs from before lack them."""

_FILES_OF_FIGURES = ("figures.json", "comparisons/", "planning/figures.json")
_UNFIT_ROWS_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    AssertionError,
    RecursionError,
    Failure,
    SQLAlchemyError,
)
"""The errors that rows may lead to which fit their tables, but together are no study.

A lack of memory is none of them: it says nothing about the rows.
"""


class DifferenceKind(StrEnum):
    HASH = "hash"
    MISSING = "missing"
    UNLISTED = "unlisted"
    UNREADABLE = "unreadable"
    FIGURE = "figure"
    CELL = "cell"


class PackDifference(Struct, frozen=True, rename={"packed": "stated"}):
    """One value that two parts of a proof pack give differently.

    ``packed`` is the value in ``file`` at ``place``, ``computed`` the value from ``source``.
    """

    kind: DifferenceKind
    file: str
    place: Place = ()
    packed: Value = None
    computed: Value = None
    source: str = ""


class Verification(Struct, kw_only=True):
    """The result of verifying a pack, with the keys of its JSON document.

    ``fingerprint`` is the SHA-256 of the manifest. ``files`` and ``figures`` count those compared;
    ``left_out`` counts differences beyond those listed.
    """

    file: str
    equal: bool = True
    fingerprint: str
    version: str
    created_at: str
    study: str
    rule: str
    runs: list[str] = []
    files: int
    figures: int = 0
    differences: list[PackDifference] = []
    left_out: int = 0


def verify(pack: ProofPack, on_progress: OnProgress = no_progress) -> Verification:
    """Return the differences between the members of `pack` and what its rows give."""
    manifest = pack.manifest
    verification = Verification(
        file=pack.name,
        fingerprint=pack.fingerprint,
        version=manifest.product.version,
        created_at=manifest.created_at.isoformat(),
        study=manifest.study,
        rule=manifest.rule,
        files=len(manifest.files),
    )
    # A pack is written in English, so it is compared in English.
    with speaking(SOURCE_LANGUAGE):
        _Comparison(pack, verification).run(on_progress)
    verification.equal = not verification.differences
    return verification


class _Comparison:
    """One verification under way: a pack, and the result to which differences are added."""

    def __init__(self, pack: ProofPack, verification: Verification) -> None:
        self.pack = pack
        self.verification = verification
        self.listed = {file.name: file.sha256 for file in pack.manifest.files}

    def run(self, on_progress: OnProgress) -> None:
        self._check_hashes()
        rows = self._read_rows()
        if rows is None:
            return
        try:
            with _database_of(rows) as (session, study):
                self._compare_members(session, study, on_progress)
        except UnfitRows as wrong:
            table, why = wrong.args
            self._add_unreadable(proof_files.of_table(table), why)
        except _UNFIT_ROWS_ERRORS as wrong:
            why = scalar(f"{type(wrong).__name__} {wrong}")
            self._add_unreadable(ROWS, why)

    def _check_hashes(self) -> None:
        for name in sorted(self.pack.names - set(self.listed) - {proof_files.MANIFEST}):
            self._add(PackDifference(DifferenceKind.UNLISTED, name))
        for name, listed_digest in self.listed.items():
            if name not in self.pack.names:
                self._add(PackDifference(DifferenceKind.MISSING, name))
                continue
            digest = self._read(partial(self.pack.digest, name))
            if digest is not None and digest != listed_digest:
                hashes = (), listed_digest, digest, proof_files.MANIFEST
                self._add(PackDifference(DifferenceKind.HASH, name, *hashes))

    def _read_rows(self) -> dict[str, Any] | None:
        """Return the rows by table; ``None`` if a table cannot be read.

        A pack of an earlier version has fewer tables: one that it does not list has no rows.
        """
        rows: dict[str, Any] = {}
        for table in sorted(packs.NAMES):
            name = proof_files.of_table(table)
            if name in self.pack.names:
                rows[table] = self._read(partial(self._packed_rows, name))
            elif name in self.listed:
                return None
        return None if None in rows.values() else rows

    def _packed_rows(self, name: str) -> object:
        """Return the rows of a member as tables have them; any other JSON as it is."""
        packed = self.pack.json(name)
        if not isinstance(packed, list):
            return packed
        return [proof_files.from_pack(row) if isinstance(row, dict) else row for row in packed]

    def _compare_members(self, session: Session, study: Study, on_progress: OnProgress) -> None:
        """Compare the manifest and every member with what the rows in `session` give."""
        packs.restore_samples(session)
        packed = sorted(runs.in_order(session, study), key=lambda run: run.question_set_id)
        self.verification.runs = [run.id for run in packed]
        rule = reports.rule_of(session, study, self.pack.manifest.rule)
        facts = json.loads(json_file(packs.facts(session, study, packed, rule)))
        document: Any = self.pack.json(proof_files.MANIFEST)
        # The manifest of an earlier version states fewer facts.
        in_manifest = {key: document[key] for key in facts if key in document}
        self._add_all(DifferenceKind.CELL, proof_files.MANIFEST, documents(in_manifest, facts))
        compared = {proof_files.README, *map(proof_files.of_table, packs.NAMES)}
        for name, computed in packs.members(session, study, packed, rule, on_progress=on_progress):
            compared.add(name)
            self._compare(name, computed)
        for name in self.listed:
            if name not in compared:
                self._add_all(DifferenceKind.CELL, name, [((), "-", None)])

    def _compare(self, name: str, computed: bytes) -> None:
        if proof_files.of_table("searches") not in self.pack.names:
            computed = _before_searches(name, computed)
        has_figures = any(part in name for part in _FILES_OF_FIGURES)
        kind = DifferenceKind.FIGURE if has_figures else DifferenceKind.CELL
        is_json = name.endswith(".json")
        if is_json:
            self.verification.figures += numbers(json.loads(computed))
        if name not in self.pack.names:
            if name not in self.listed:
                self._add(PackDifference(DifferenceKind.MISSING, name))
            return
        packed = self._read(partial(self.pack.read, name))
        if packed is None or packed == computed:
            return
        if is_json:
            document = self._read(partial(self.pack.json, name))
            if document is not None:
                self._add_all(kind, name, documents(document, json.loads(computed)))
        else:
            old = packed.decode(errors="replace").split("\n")
            new = computed.decode(errors="replace").split("\n")
            # Bytes that are no UTF-8 may read as equal texts.
            self._add_all(kind, name, [*lines(old, new)] or [((), "other bytes", "")])

    def _add_all(
        self, kind: DifferenceKind, file: str, differences: Iterable[Disagreement]
    ) -> None:
        for place, packed, computed in differences:
            self._add(PackDifference(kind, file, place, packed, computed, ROWS))

    def _add_unreadable(self, file: str, why: Value) -> None:
        self._add(PackDifference(DifferenceKind.UNREADABLE, file, packed=why))

    def _add(self, difference: PackDifference) -> None:
        if len(self.verification.differences) == MAX_DIFFERENCES:
            self.verification.left_out += 1
        else:
            self.verification.differences.append(difference)

    def _read(self, read: Callable[[], Any]) -> Any:
        """Return what `read` returns; ``None``, with a difference, for an unreadable member."""
        try:
            return read()
        except UnreadableMember as wrong:
            kinds = {d.kind for d in self.verification.differences if d.file == wrong.name}
            # A member is read several times, but reported as unreadable once.
            if kinds <= {DifferenceKind.HASH}:
                self._add_unreadable(wrong.name, wrong.why)
            return None


class UnfitRows(ValueError):
    """Rows that are no study; the arguments are their table and what is wrong with them."""


@contextmanager
def _database_of(rows: Mapping[str, Any]) -> Iterator[tuple[Session, Study]]:
    """Yield a database in memory with these rows, and their study; only exports can use it.

    Raises ``UnfitRows``.
    """
    for name, of_table in rows.items():
        if not isinstance(of_table, list) or not all(isinstance(row, dict) for row in of_table):
            raise UnfitRows(name, "no list of rows")
    _check_values(rows)
    _check_references(rows)
    engine = in_memory()
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for model in packs.PACKED:
            name = model.__tablename__
            _load(session, Base.metadata.tables[name], rows.get(name, ()))
        [study] = session.scalars(select(Study))
        yield session, study
    engine.dispose()


def _check_values(rows: Mapping[str, Any]) -> None:
    """Raise ``UnfitRows`` for a value that a column cannot have, or a verdict off the scale."""
    studies = rows.get("studies", ())
    if len(studies) != 1:
        raise UnfitRows("studies", f"{len(studies)} rows")
    try:
        scale = Scale.stored(studies[0].get("scale"))
    except (ValueError, TypeError, ValidationError) as wrong:
        raise UnfitRows("studies", f"scale: {wrong}"[:200]) from wrong
    verdicts = {*scale.verdicts, *EmptyOutcome, None}
    for column, allowed in VALUES.items():
        table = column.class_.__tablename__
        fitting = verdicts & allowed if column.key == "verdict" else allowed
        for number, row in enumerate(rows.get(table, ()), start=1):
            if column.key in row and not _is_among(row[column.key], fitting):
                raise UnfitRows(table, f"{number}: {column.key} {row[column.key]!r:.80}")
    for number, row in enumerate(rows.get("events", ()), start=1):
        if row.get("field") == "verdict":
            for value in (row.get("old"), row.get("new")):
                if not _is_among(value, verdicts):
                    raise UnfitRows("events", f"{number}: {value!r:.80}")


def _check_references(rows: Mapping[str, Any]) -> None:
    """Raise ``UnfitRows`` for a row that refers to one which the pack lacks.

    Two may: events in the pack of one run can be clicks beside another run, and items that no run
    lists any more can be of a question or run that was deleted.
    """
    shown_items = {row.get("judged_item_id") for row in rows.get("results", ())}
    shown_items |= {row.get("emptiness_id") for row in rows.get("queries", ())}
    of_one_run = len(rows.get("runs", ())) == 1
    for model in packs.PACKED:
        table = Base.metadata.tables[model.__tablename__]
        for key in table.foreign_keys:
            parent, column = key.column, key.parent.name
            if parent.table.name not in rows or (column == "query_key" and of_one_run):
                continue
            keys = {row.get(parent.name) for row in rows[parent.table.name]} | {None}
            for number, row in enumerate(rows.get(table.name, ()), start=1):
                is_gone = model is JudgedItem and row.get("id") not in shown_items
                if not is_gone and not _is_among(row.get(column), keys):
                    why = f"{number}: {column} {row[column]!r:.80} is not in {parent.table.name}"
                    raise UnfitRows(table.name, why)


def _is_among(value: Any, allowed: Container[Any]) -> bool:
    return not isinstance(value, (dict, list)) and value in allowed


def _load(session: Session, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows of a pack; columns that a row lacks get their defaults.

    Raises ``UnfitRows``.
    """
    by_columns: dict[frozenset[str], list[dict[str, Any]]] = {}
    for number, packed in enumerate(rows, start=1):
        try:
            row = {name: _value(table, name, value) for name, value in packed.items()}
            # Packs have no numbers that nothing refers to: see ``packs.LEFT_OUT``.
            if table.autoincrement_column is not None:
                row.setdefault(table.autoincrement_column.name, number)
            columns = {column.name: row.get(column.name) for column in table.columns}
            moves.check_fit(table, columns, columns.keys() - row.keys())
        except (KeyError, ValueError, TypeError, moves.UnfitRow) as wrong:
            raise UnfitRows(table.name, f"{number}: {wrong}"[:200]) from wrong
        by_columns.setdefault(frozenset(row), []).append(row)
    # One statement inserts rows of the same columns only.
    for values in by_columns.values():
        session.execute(insert(table), values)


def _value(table: Table, name: str, value: Any) -> Any:
    """Return a value as its column holds it; raises ``KeyError`` for a column that is not there."""
    if isinstance(table.columns[name].type, Moment) and value is not None:
        return datetime.fromisoformat(value)
    if isinstance(value, str) and value != storable_text(value):
        raise ValueError("characters that no file can hold")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise ValueError("too large")
    return value


def _before_searches(name: str, computed: bytes) -> bytes:
    """Return a member as packs had it before there were searches and reasons."""
    if name.endswith(".json"):
        return json_file(_without_searches(json.loads(computed)))
    if not name.endswith(("/judgments.csv", proof_files.VERDICTS)):
        return computed
    head, *rows = csv.reader(io.StringIO(computed.decode(), newline=""))
    places = [place for place, column in enumerate(head) if column not in _SINCE_SEARCHES]
    # Empty lists, which have no rank, had no rows then.
    if "rank" in head:
        rows = [row for row in rows if row[head.index("rank")]]
    return csv_bytes([row[place] for place in places] for row in (head, *rows))


def _without_searches(value: Any) -> Any:
    if isinstance(value, dict):
        names = [key for key in value if key not in _SINCE_SEARCHES]
        return {key: _without_searches(value[key]) for key in names}
    if isinstance(value, list):
        return [_without_searches(entry) for entry in value]
    return value


def documents(packed: object, computed: object, place: Place = ()) -> Iterator[Disagreement]:
    """Yield the places where two JSON values differ, as paths of keys, with both values.

    Entries of lists of questions and of results are named by their numbers. A key that `packed`
    lacks equals an empty value, false or 0, since an earlier version may not have had it.

    >>> list(documents({"a": [1, 2]}, {"a": [1, 3], "b": None, "c": 1}))
    [(('a', '2'), 2, 3), (('c',), '-', 1)]
    """
    if isinstance(packed, dict) and isinstance(computed, dict):
        for key in dict.fromkeys((*computed, *packed)):
            if key in packed and key in computed:
                yield from documents(packed[key], computed[key], (*place, str(key)))
            elif key in packed or computed[key]:
                packed_value, computed_value = packed.get(key, "-"), computed.get(key, "-")
                yield (*place, str(key)), scalar(packed_value), scalar(computed_value)
    elif isinstance(packed, list) and isinstance(computed, list):
        if len(packed) != len(computed):
            yield (*place, "length"), len(packed), len(computed)
        for number, (old, new) in enumerate(zip(packed, computed, strict=False), start=1):
            yield from documents(old, new, (*place, _entry_name(new, number)))
    elif not _equal(packed, computed):
        yield place, scalar(packed), scalar(computed)


def _entry_name(entry: object, number: int) -> str:
    if isinstance(entry, dict):
        for key in ("query_id", "rank"):
            if key in entry:
                return f"{key} {entry[key]}"
    return str(number)


def _equal(packed: object, computed: object) -> bool:
    if isinstance(packed, bool) or isinstance(computed, bool):
        return packed is computed
    if isinstance(packed, (int, float)) and isinstance(computed, (int, float)):
        try:
            return isclose(packed, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
        except OverflowError:  # a whole number that is too large for a float
            return packed == computed
    return packed == computed


def lines(packed: Sequence[str], computed: Sequence[str]) -> Iterator[Disagreement]:
    """Yield the lines that differ, each from shortly before its first differing character.

    >>> list(lines(["a", "b,1"], ["a", "b,0", "c"]))
    [(('line 2',), 'b,1', 'b,0'), (('line 3',), None, 'c')]
    """
    for number, (old, new) in enumerate(zip_longest(packed, computed), start=1):
        if old != new:
            characters = zip(old or "", new or "", strict=False)
            n_equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], characters))
            start = max(0, n_equal - _MAX_CHARACTERS // 2)
            old_end = None if old is None else scalar(old[start:])
            new_end = None if new is None else scalar(new[start:])
            yield (f"line {number}",), old_end, new_end


def numbers(document: object) -> int:
    """Return how many numbers a JSON value contains.

    >>> numbers({"a": [1, None, 2.5], "b": True})
    2
    """
    if isinstance(document, dict):
        return sum(map(numbers, document.values()))
    if isinstance(document, list):
        return sum(map(numbers, document))
    return int(isinstance(document, (int, float)) and not isinstance(document, bool))


def scalar(value: object) -> Value:
    """Return `value` as a report shows it, long texts cut."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "…"
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
