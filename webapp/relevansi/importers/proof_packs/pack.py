"""A proof pack opened for reading: hostile ones refused, nothing ever unpacked to disk.

How much is held in memory is limited before anything is read: by the sizes that the zip
states, which reading does not exceed, and by how tightly a member is packed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import file_digest
from typing import IO, Annotated

from msgspec import DecodeError, Meta, Struct, ValidationError, convert, json

from relevansi.importers.results.files import BROKEN
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.metrics.proof_packs.proof_files import FORMAT, MANIFEST, PACK_VERSION

MEBIBYTE = 2**20
MOST_BYTES = 512 * MEBIBYTE
MOST_MEMBERS = 10_000
MOST_IN_ONE = 128 * MEBIBYTE
MOST_RATIO = 200
"""Real members are packed to a twentieth or so; deflate could do a thousandth."""
SMALL = MEBIBYTE
"""Bytes that a member may unpack to at any ratio."""

_ENCRYPTED = 0x1
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


class UnreadableMember(Exception):
    """A member of a pack cannot be read: its name, and in short the reason or the place."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)
        self.name, self.why = name, why


Text = Annotated[str, Meta(pattern=r"^[^\x00\ud800-\udfff]*\Z")]
"""Characters that every file and database can hold."""


class ManifestFile(Struct, frozen=True):
    name: Text
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Product(Struct, frozen=True):
    version: Text


class Manifest(Struct, frozen=True):
    product: Product
    created_at: Annotated[datetime, Meta(tz=True)]
    study: Text
    rule: Text
    files: Sequence[ManifestFile]


class ProofPack:
    def __init__(self, name: str, archive: zipfile.ZipFile) -> None:
        self.name = name
        self._archive = archive
        self._members = _checked_members(name, archive)
        self.names = frozenset(self._members)
        if MANIFEST not in self.names:
            raise ImportRefused(error("pack_without_manifest", name))
        self.manifest = _manifest(self)
        self.fingerprint = self.digest(MANIFEST)

    def read(self, name: str) -> bytes:
        if name in self.names and self._members[name].file_size > MOST_IN_ONE:
            raise UnreadableMember(name, f"more than {MOST_IN_ONE // MEBIBYTE} MB")
        with self._opened(name) as file:
            return file.read()

    def digest(self, name: str) -> str:
        with self._opened(name) as file:
            return file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

    def json(self, name: str) -> object:
        try:
            value: object = json.decode(self.read(name))
        except (DecodeError, RecursionError) as wrong:
            raise UnreadableMember(name, "no JSON") from wrong
        if value is None:
            raise UnreadableMember(name, "null")
        return value

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        if name not in self.names:
            raise UnreadableMember(name, "missing")
        try:
            with self._archive.open(self._members[name]) as file:
                yield file
        except BROKEN as broken:
            raise UnreadableMember(name, "damaged") from broken


@contextmanager
def opened(name: str, file: IO[bytes]) -> Iterator[ProofPack]:
    """Open the proof pack in `file`, called `name` in messages; raises ``ImportRefused``."""
    try:
        archive = zipfile.ZipFile(file)
    except BROKEN as broken:
        raise ImportRefused(error("pack_not_zip", name)) from broken
    with archive:
        yield ProofPack(name, archive)


def _checked_members(file: str, archive: zipfile.ZipFile) -> Mapping[str, zipfile.ZipInfo]:
    """Return the members by name, folders left out; raises ``ImportRefused`` for a hostile zip."""
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        limits = {"limit": MOST_BYTES // MEBIBYTE, "members": MOST_MEMBERS}
        raise ImportRefused(error("pack_too_large", file, limits))
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        path = info.orig_filename
        parts = path.removesuffix("/").split("/")
        if (
            {"", ".", ".."} & set(parts)
            or any(character in path for character in "\\:\0")
            or info.filename in members
            or info.flag_bits & _ENCRYPTED
            or info.file_size > max(SMALL, MOST_RATIO * info.compress_size)
        ):
            raise ImportRefused(error("pack_member_refused", file, {"name": ascii(path)[:80]}))
        if info.compress_type not in _METHODS:
            raise ImportRefused(error("pack_not_zip", file))
        if not info.is_dir():
            members[info.filename] = info
    return members


def _manifest(pack: ProofPack) -> Manifest:
    place = ""
    try:
        document = pack.json(MANIFEST)
        place = "format"
        if isinstance(document, dict) and document.get("format") == FORMAT:
            place, version = "pack_version", document.get("pack_version")
            if version == PACK_VERSION:
                return convert(document, Manifest)
            if type(version) is int and version > 0:
                versions = {"version": str(version)[:20], "known": str(PACK_VERSION)}
                raise ImportRefused(error("pack_other_version", pack.name, versions))
    except UnreadableMember as wrong:
        place = wrong.why
    except ValidationError as wrong:
        place = str(wrong)
    raise ImportRefused(error("pack_manifest_wrong", pack.name, {"place": place}))
