"""Valid inputs spoiled: by bytes, and along the structure of JSON, JSON Lines, CSV and zips."""

from __future__ import annotations

import csv
import io
import json
import struct
import zipfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from hashlib import sha256
from random import Random
from typing import Any

from tests.fuzzing.texts import BYTES, MARK, RAW, TEXTS, VALUES

MADE = (2026, 3, 1, 9, 0, 0)
MEGABYTE = 2**20
TEN_MEGABYTES = 10 * MEGABYTE


def text(random: Random) -> str:
    """Return a text that somebody might write who means harm, or types on a bad day."""
    result = random.choice(TEXTS)
    if random.random() < 0.02:
        return (result or "x") * random.choice((100, 3_000, 70_000))
    if random.random() < 0.15:
        return result + random.choice(TEXTS)
    if random.random() < 0.1:
        return "".join(chr(random.choice((random.randrange(0x3000), random.randrange(0x110000))))
                       for _ in range(random.randrange(12)))  # fmt: skip
    return result


def value(random: Random) -> Any:
    """Return a JSON value that is somewhere wrong, or right."""
    chance = random.random()
    if chance < 0.45:
        return text(random)
    if chance < 0.9:
        return deepcopy(random.choice(VALUES))
    if chance < 0.97:
        return MARK + random.choice(RAW)
    return MARK + _deep(random)


def spoiled(data: bytes, random: Random) -> bytes:
    """Return `data` with some bytes gone, repeated, changed, added or in another encoding."""
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        data = random.choice(_BY_BYTES)(data, random)
    return data[:TEN_MEGABYTES]


def spoiled_json(data: bytes, random: Random) -> bytes:
    """Return a JSON file with some of its values, keys and entries changed."""
    document = json.loads(data)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        document = _changed(document, random)
    return written(document, random)


def spoiled_lines(data: bytes, random: Random) -> bytes:
    """Return a JSON Lines file with some of its lines changed, gone or repeated."""
    lines = data.splitlines()
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(len(lines))
        chance = random.random()
        if chance < 0.7:
            with_line = _line_spoiled(lines[place], random)
            lines[place] = with_line
        elif chance < 0.8:
            lines.insert(place, lines[place])
        elif chance < 0.9 and len(lines) > 1:
            del lines[place]
        else:
            lines.insert(place, random.choice((b"", b" ", b"[]", b"null", b'"x"', b"{", b"{}")))
    return random.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n")).join(lines)


def spoiled_csv(data: bytes, random: Random) -> bytes:
    """Return a CSV file with some of its cells, columns and rows changed."""
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    for _ in range(random.choice((1, 1, 2, 4, 10))):
        row = random.choice(rows)
        chance = random.random()
        if chance < 0.75 and row:
            row[random.randrange(len(row))] = text(random)
        elif chance < 0.85:
            rows.insert(random.randrange(len(rows)), list(row))
        elif chance < 0.95:
            row.insert(random.randrange(len(row) + 1), text(random))
        elif len(row) > 1:
            del row[random.randrange(len(row))]
    times = random.choice((10, 500)) if random.random() < 0.03 else 1
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=random.choice(",,,;\t"), lineterminator="\n").writerows(rows)
    start = b"\xef\xbb\xbf" if random.random() < 0.1 else b""
    written = out.getvalue().encode("utf-8", "surrogatepass")
    return start + written * max(1, min(times, TEN_MEGABYTES // (len(written) + 1)))


def spoiled_zip(data: bytes, random: Random) -> bytes:
    """Return a zip whose members were changed, mostly with hashes that fit, or made to harm."""
    files = _members(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        name = random.choice(sorted(files))
        if random.random() < 0.8:
            files[name] = _member_spoiled(name, files[name], random)
        elif random.random() < 0.5 and len(files) > 1:
            del files[name]
        else:
            files[text(random).encode("utf-8", "replace").decode()[:300] or "x"] = b"x"
    if random.random() < 0.85:
        _mend_hashes(files)
    packed = _zipped(files, random)
    return spoiled(packed, random) if random.random() < 0.1 else packed


def by_structure_or_bytes(
    structural: Callable[[bytes, Random], bytes],
) -> Callable[[bytes, Random], bytes]:
    """Return what spoils a file in either way, now and then in both."""

    def spoil(data: bytes, random: Random) -> bytes:
        chance = random.random()
        if chance < 0.7:
            data = structural(data, random)
        return data if chance < 0.6 else spoiled(data, random)

    return spoil


def written(document: Any, random: Random) -> bytes:
    """Return a value as JSON, with what is marked as it stands."""
    ascii_only = random.random() < 0.5
    source = json.dumps(document, ensure_ascii=ascii_only, indent=random.choice((None, None, 1)))
    mark = json.dumps(MARK)[1:-1] if ascii_only else MARK
    while f'"{mark}' in source:
        before, _, after = source.partition(f'"{mark}')
        end = _end_of_text(after)
        raw = json.loads(f'"{after[:end]}"') if end else ""
        source = before + raw + after[end + 1 :]
    return source.encode("utf-8", "surrogatepass" if random.random() < 0.5 else "replace")


def _line_spoiled(line: bytes, random: Random) -> bytes:
    try:
        return spoiled_json(line, random).replace(b"\n", b" ")
    except (ValueError, RecursionError):
        return spoiled(line, random)


def _member_spoiled(name: str, data: bytes, random: Random) -> bytes:
    ways = {"json": spoiled_json, "jsonl": spoiled_lines, "csv": spoiled_csv}
    way = ways.get(name.rpartition(".")[2], spoiled)
    try:
        return (way if random.random() < 0.8 else spoiled)(data, random)
    except (ValueError, LookupError, RecursionError, csv.Error):
        return spoiled(data, random)


def _changed(document: Any, random: Random) -> Any:
    """Return the document with one of its places changed."""
    paths = list(_paths(document))
    if not paths:
        return value(random)
    path = random.choice(paths)
    if not path:
        return value(random) if random.random() < 0.1 else document
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    last = path[-1]
    chance = random.random()
    if chance < 0.7:
        inner[last] = value(random)
    elif chance < 0.8:
        del inner[last]
    elif isinstance(inner, list):
        inner.insert(last, deepcopy(inner[last]))
    elif chance < 0.9:
        inner[text(random)] = inner.pop(last)
    else:
        inner[last] = [inner[last]] if chance < 0.95 else {"": inner[last]}
    return document


def _paths(document: Any, before: tuple[Any, ...] = ()) -> Any:
    yield before
    if isinstance(document, dict):
        for key in document:
            yield from _paths(document[key], (*before, key))
    elif isinstance(document, list):
        for place, inner in enumerate(document):
            yield from _paths(inner, (*before, place))


def _end_of_text(source: str) -> int:
    """Return where the JSON text ends that `source` is the inside of."""
    place = 0
    while place < len(source) and source[place] != '"':
        place += 2 if source[place] == "\\" else 1
    return place


def _deep(random: Random) -> str:
    depth = random.choice((60, 64, 65, 66, 500, 990, 5_000, 100_000))
    if random.random() < 0.5:
        return "[" * depth + "]" * depth
    return '{"a":' * depth + "1" + "}" * depth


def _flip(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def _cut(data: bytes, random: Random) -> bytes:
    start, end = _range(data, random)
    return data[:start] + data[end:]


def _repeat(data: bytes, random: Random) -> bytes:
    start, end = _range(data, random)
    return data[:end] + data[start:end] * random.choice((1, 1, 2, 50)) + data[end:]


def _insert(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    added = random.choice((
        random.choice(BYTES),
        random.choice(RAW).encode(),
        text(random).encode("utf-8", "surrogatepass"),
        random.randbytes(random.randrange(1, 9)),
    ))  # fmt: skip
    return data[:place] + added + data[place:]


def _end_early(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _reencode(data: bytes, random: Random) -> bytes:
    decoded = data[:MEGABYTE].decode("utf-8", "replace")
    code = random.choice(
        ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig", "utf-7")
    )
    return decoded.encode(code, "replace")


def _long_line(data: bytes, random: Random) -> bytes:
    """Return it on one line, or with one that is megabytes long; seldom, since that is slow."""
    if random.random() < 0.8:
        return data.replace(b"\n", b" ")
    filling = random.choice(
        (b"x", b'"', b"[", b"{", b",", b"1", b"\\", b"(", b"*", b"\xf0\x9f\x98\x80")
    )
    place = random.randrange(len(data) + 1)
    size = random.choice((100_000, MEGABYTE, MEGABYTE, TEN_MEGABYTES))
    return data[:place] + filling * (size // len(filling)) + data[place:]


_BY_BYTES = (
    *(_flip, _flip, _cut, _cut, _repeat, _insert, _insert, _insert),
    *(_end_early, _reencode, _long_line),
)


def _range(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.choice((1, 2, 8, 100, 5_000)))


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _mend_hashes(files: dict[str, bytes], manifest: str = "manifest.json") -> None:
    """Let the manifest say of each member what it is now, as far as it can be read."""
    try:
        document = json.loads(files[manifest])
        for listed in document["files"]:
            listed["sha256"] = sha256(files[listed["name"]]).hexdigest()
    except (ValueError, LookupError, TypeError, RecursionError):
        return
    files[manifest] = json.dumps(document).encode("utf-8", "surrogatepass")


def _zipped(files: dict[str, bytes], random: Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, MADE), data, zipfile.ZIP_DEFLATED)
        if random.random() < 0.2:
            _add_harm(archive, random, sorted(files))
    packed = out.getvalue()
    return _lying(packed, random) if random.random() < 0.1 else packed


def _add_harm(archive: zipfile.ZipFile, random: Random, names: Sequence[str]) -> None:
    """Add a member that would be written elsewhere, is there twice, or is a bomb."""
    import warnings

    outside = ("../../x", "/etc/x", "C:\\x", "..\\x")
    odd = ("a//b", "./manifest.json", "x" * 60_000, "a/", "\u202e")
    name = random.choice((*outside, *odd, *names))
    data = bytes(random.choice((1, MEGABYTE, 5 * TEN_MEGABYTES)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr(zipfile.ZipInfo(name, MADE), data,
                         zipfile.ZIP_DEFLATED)  # fmt: skip


def _lying(data: bytes, random: Random) -> bytes:
    """Return a zip whose directory states another size, way of packing, flag or place."""
    central = data.rfind(b"PK\x01\x02")
    if central < 0:
        return data
    at, kind = random.choice(
        ((8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (42, "<I"))
    )
    most = 2 ** (8 * struct.calcsize(kind)) - 1
    packed = struct.pack(kind, random.choice((0, 1, 9, 12, 99, most, random.randint(0, most))))
    start = central + at
    return data[:start] + packed + data[start + len(packed) :]
