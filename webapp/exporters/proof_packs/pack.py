"""The members of a proof pack as bytes, and the one zip that holds them.

The same parts give the same bytes: members are in the order of their names (after those that
are read first), and none carries the time at which it was written. Everything in a pack
is English, so that neither the reader's nor the exporter's language changes it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from msgspec import Struct, to_builtins
from msgspec.structs import astuple

from webapp.exporters.exports.json_runs import JsonValue, blindness_json
from webapp.exporters.frame.csv_cells import Cell, csv_bytes
from webapp.exporters.proof_packs.readme import readme
from webapp.metrics.judging.registry import MEASURES, Measure
from webapp.metrics.proof_packs.evidence import (
    GivenRating,
    GivenVerdict,
    LoggedEvent,
    SetQuestion,
    SettledThing,
    ShownQuery,
    ShownRun,
    Thing,
)
from webapp.metrics.proof_packs.proof_files import (
    ADJUDICATION_COLUMNS,
    EVENT_KEYS,
    FORMAT,
    LIST_COLUMNS,
    MANIFEST,
    PACK_VERSION,
    RATING_COLUMNS,
    README,
    THING_COLUMNS,
    VERDICT_COLUMNS,
)
from webapp.records import Blindness, CannotTell

_FIRST = (README, MANIFEST)
_NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can state, for a member that has none."""

_READABLE_FILE = 0o100644 << 16
_UNIX = 3


class InputFile(Struct, frozen=True):
    """A file that a run was imported from, by the SHA-256 of its bytes."""

    name: str
    sha256: str
    format: str
    imported_at: datetime


class PackedRun(Struct, frozen=True):
    """One run in the manifest: its labels, those of its file, and its files."""

    run: str
    question_set: str
    search_method: str | None
    llm: str | None
    stated_search_method: str | None
    stated_llm: str | None
    timestamp: str | None
    queries: int
    input_files: tuple[InputFile, ...]


class Drawn(Struct, frozen=True):
    """A random draw that can be repeated: its purpose, its settings, its seed."""

    what: str
    seed: int
    resamples: int | None = None
    confidence: float | None = None


class Contents(Struct, frozen=True):
    """The manifest of a pack apart from its files.

    ``made_at`` is the time of the last change to the pack's content. ``raters``
    are in the order in which the rules go through them. ``cannot_tell`` is what such a card is
    in the precisions. ``blindness`` counts how many of their
    verdicts were given blind. ``badged`` are the times from when until when blind raters saw
    constraint badges, the end ``None`` while they do, ``record_shown`` those in which raters
    saw the facts that only a listing's record has, ``suggested`` those in which blind raters
    were offered a grade. ``secret_commitment`` is the SHA-256 of
    the secret that shuffled the answers; the secret itself would name every answer's run.
    """

    scope: str
    study: str
    rule: str
    cannot_tell: CannotTell
    version: str
    database: str
    made_at: datetime
    raters: tuple[str, ...]
    runs: tuple[PackedRun, ...]
    drawn: tuple[Drawn, ...]
    secret_commitment: str
    blindness: Blindness
    badged: tuple[tuple[datetime, datetime | None], ...] = ()
    record_shown: tuple[tuple[datetime, datetime | None], ...] = ()
    suggested: tuple[tuple[datetime, datetime | None], ...] = ()


def pack(
    contents: Contents, files: Mapping[str, bytes], about: Mapping[str, str] | None = None
) -> bytes:
    """The zip of `files` by name, with the manifest and the README that explain them.

    `about` says what the members hold that not every pack has.
    """
    added = {name: told for name, told in (about or {}).items() if name in files}
    members = {README: readme(contents.raters, contents.rule, contents.cannot_tell, added), **files}
    members[MANIFEST] = _json(manifest(contents, members))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(members, key=lambda name: (name not in _FIRST, name)):
            archive.writestr(_member(name), members[name])
    return buffer.getvalue()


def manifest(contents: Contents, files: Mapping[str, bytes]) -> dict[str, object]:
    """The manifest: the pack's kind and making, the meaning of its words, the hash of each file."""
    return {
        "format": FORMAT,
        "pack_version": PACK_VERSION,
        "product": {"name": "relevansi", "version": contents.version},
        "database_version": contents.database,
        "created_at": contents.made_at,
        "created_at_is": "when the last event, import or logged change inside happened",
        "scope": contents.scope,
        "study": contents.study,
        "rule": contents.rule,
        "cannot_tell": contents.cannot_tell,
        "raters": list(contents.raters),
        "blindness": blindness_json(contents.blindness),
        "badged": _periods(contents.badged),
        "record_shown": _periods(contents.record_shown),
        "suggested": _periods(contents.suggested),
        "seeds": [_drawn(one) for one in contents.drawn],
        "commitments": [
            {
                "what": "what blind raters see, in which order",
                "sha256": contents.secret_commitment,
                "of": "the study's secret, which its database alone holds",
            }
        ],
        "runs": [to_builtins(run) for run in contents.runs],
        "definitions": [_definition(measure) for measure in MEASURES.values()],
        "files": [
            {"name": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in sorted(files.items())
        ],
    }


def _periods(times: Iterable[tuple[datetime, datetime | None]]) -> list[dict[str, object]]:
    return [{"since": since, "until": until} for since, until in times]


def lists_csv(run: ShownRun) -> bytes:
    """The lists of the run: a line per result, a line without a rank for an answer without any."""
    return csv_bytes([LIST_COLUMNS, *(row for query in run.queries for row in _shown(query))])


def verdicts_csv(given: Iterable[GivenVerdict]) -> bytes:
    """Every rater's standing verdicts, one line each."""
    rows = [(*_thing(one.thing), one.rater, one.verdict) for one in given]
    return csv_bytes([VERDICT_COLUMNS, *sorted(rows, key=_key)])


def ratings_csv(given: Iterable[GivenRating]) -> bytes:
    """Every rater's standing quality and notes, one line per answer that has any."""
    rows = [(one.run, one.query_id, one.rater, one.quality, one.notes) for one in given]
    return csv_bytes([RATING_COLUMNS, *sorted(rows, key=_key)])


def adjudications_csv(settled: Iterable[SettledThing]) -> bytes:
    """Every verdict that settles a dispute, with its reason."""
    rows = [(*_thing(s.thing), s.verdict, s.by, s.at.isoformat(), s.reason) for s in settled]
    return csv_bytes([ADJUDICATION_COLUMNS, *sorted(rows, key=_key)])


def events_jsonl(events: Iterable[LoggedEvent]) -> bytes:
    """The event log, one JSON object a line in the order of receipt."""
    return b"".join(_json(_event(event), indent=None) for event in events)


def question_file(questions: Sequence[SetQuestion]) -> bytes:
    """A question set as the question file that this product reads; ids are positions."""
    keys = ("id", "question", "category", "context_dependent")
    return _json([dict(zip(keys, astuple(one), strict=True)) for one in questions])


def figures_json(by_rule: Mapping[str, JsonValue]) -> bytes:
    """The figures of one run under every rule, as ``metrics_json`` gives them."""
    return _json(dict(by_rule))


def json_file(document: JsonValue) -> bytes:
    """A comparison, or a member that a wing adds, as a pack holds it."""
    return _json(document)


def _shown(query: ShownQuery) -> list[tuple[Cell, ...]]:
    places = (query.query_id, query.position, query.state.value)
    if not query.results:
        judged_in = query.emptiness.run if query.emptiness else None
        return [(*places, judged_in, None, None, None, None)]
    return [
        (*places, shown.thing.run, shown.rank, *_property(shown.thing), shown.title)
        for shown in query.results
    ]


def _thing(thing: Thing) -> tuple[Cell, ...]:
    return thing.question_set, thing.position, thing.run, *_property(thing)


def _property(thing: Thing) -> tuple[Cell, Cell]:
    return thing.property_id, thing.content


def _key(row: tuple[Cell, ...]) -> tuple[tuple[bool, float, str], ...]:
    """The sorting key of a row: blanks, then numbers by size, then texts."""
    return tuple(
        (isinstance(cell, str), 0.0, cell)
        if isinstance(cell, str)
        else (False, -1.0 if cell is None else float(cell), "")
        for cell in row
    )


def _event(event: LoggedEvent) -> dict[str, object]:
    of_thing = _thing(event.thing) if event.thing else ()
    thing = dict(zip(THING_COLUMNS, of_thing, strict=bool(of_thing)))
    return {
        key: thing.get(key) if key in THING_COLUMNS else getattr(event, key) for key in EVENT_KEYS
    }


def _drawn(one: Drawn) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"what": one.what, "seed": one.seed}
    if one.resamples is not None:
        found |= {"resamples": one.resamples, "confidence": one.confidence}
    return found


def _definition(measure: Measure) -> dict[str, JsonValue]:
    return {
        "name": measure.name,
        "per_question": measure.query_name,
        "label": measure.label,
        "meaning": measure.meaning,
        "unit": measure.unit,
        "formula": measure.formula,
        "denominator": measure.denominator,
        "edge_cases": list(measure.edge_cases),
        "source": measure.source,
    }


def _json(value: object, indent: int | None = 1) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=datetime.isoformat)
    return f"{text}\n".encode()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = _READABLE_FILE
    info.create_system = _UNIX
    return info
