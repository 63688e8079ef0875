from __future__ import annotations

import io
import json
import struct
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from relevansi.importers.proof_packs import pack as proof_pack
from relevansi.importers.proof_packs.pack import ProofPack, UnreadableMember
from relevansi.importers.runs.problems import ImportRefused
from relevansi.metrics.proof_packs.proof_files import FORMAT, PACK_VERSION

MANIFEST: Mapping[str, Any] = {
    "format": FORMAT,
    "pack_version": PACK_VERSION,
    "product": {"name": "relevansi", "version": "0.1.0"},
    "created_at": "2026-03-01T09:00:00+00:00",
    "scope": "run",
    "study": "S",
    "rule": "majority",
    "files": [],
}


def manifest(**values: object) -> bytes:
    return json.dumps({**MANIFEST, **values}).encode()


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # of two members of one name
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def refusal(data: bytes) -> str:
    """The code of why `data` is refused."""
    with pytest.raises(ImportRefused) as refused, proof_pack.opened("x.zip", io.BytesIO(data)):
        pass
    return refused.value.problem.code


def reading(data: bytes, look: Callable[[ProofPack], object]) -> object:
    with proof_pack.opened("x.zip", io.BytesIO(data)) as pack:
        return look(pack)


GOOD = zipped(("manifest.json", manifest()), ("a.txt", b"one\ntwo\n"))


NAMED = ("manifest.json", manifest())
CENTRAL = GOOD.rindex(b"PK\x01\x02")  # the entry of a.txt in the zip's directory


def test_a_pack_is_read_member_by_member() -> None:
    data = zipped(("runs/", b""), NAMED, ("runs/a", b"1"))
    assert reading(data, lambda pack: pack.read("runs/a")) == b"1"
    assert reading(data, lambda pack: pack.names) == {"manifest.json", "runs/a"}
    assert reading(data, lambda pack: pack.manifest.study) == "S"


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"no zip at all", b"PK\x03\x04" + bytes(100), GOOD[:-30], GOOD[40:]]
)
def test_what_is_no_complete_zip_is_refused(data: bytes) -> None:
    assert refusal(data) in {"pack_not_zip", "pack_without_manifest", "pack_manifest_wrong"}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        *(
            (zipped(NAMED, (name, b"")), "pack_member_refused")
            for name in ("../x", "a/../../x", "/etc/passwd", "a\\..\\x", "C:x", "a//b", "./a", "..")
        ),
        (zipped(NAMED, ("a", b"1"), ("a", b"2")), "pack_member_refused"),
        (zipped(NAMED, ("a", bytes(20 * 2**20))), "pack_member_refused"),  # a bomb
        (GOOD[: CENTRAL + 8] + b"\x01" + GOOD[CENTRAL + 9 :], "pack_member_refused"),  # encrypted
        (zipped(NAMED, method=zipfile.ZIP_BZIP2), "pack_not_zip"),
        (zipped(("pack/manifest.json", manifest())), "pack_without_manifest"),
        (GOOD[: CENTRAL + 24] + struct.pack("<I", 2**31) + GOOD[CENTRAL + 28 :], "pack_too_large"),
    ],
)
def test_a_hostile_zip_is_refused_before_it_is_unpacked(data: bytes, code: str) -> None:
    assert refusal(data) == code


def test_a_zip_of_too_many_members_is_refused() -> None:
    assert refusal(zipped(*((f"{number}", b"") for number in range(10_001)))) == "pack_too_large"


def test_a_member_that_lies_or_is_damaged_is_told_when_it_is_read() -> None:
    """A directory that claims less than the member holds yields no more than it claims."""
    assert struct.unpack_from("<I", GOOD, CENTRAL + 24) == (8,)
    lying = GOOD[: CENTRAL + 24] + struct.pack("<I", 2) + GOOD[CENTRAL + 28 :]
    at = GOOD.index(b"a.txt") + len("a.txt")
    for data in (lying, GOOD[:at] + b"\xff\xff" + GOOD[at + 2 :]):
        with pytest.raises(UnreadableMember, match=r"a\.txt"):
            reading(data, lambda pack: pack.digest("a.txt"))


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"null", b"NaN", b"{}", b"[" * 100_000, b"\xff",
        manifest(format="another"), manifest(pack_version="1"), manifest(pack_version=True),
        manifest(pack_version=0), manifest(study=1),
        manifest(created_at="yesterday"), manifest(created_at="2026-03-01T09:00:00"),
        manifest(files=[{"name": "a", "sha256": "1"}]), manifest(rule="\ud800"),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_is_refused(text: bytes) -> None:
    assert refusal(zipped(("manifest.json", text))) == "pack_manifest_wrong"


@pytest.mark.parametrize("version", [1, PACK_VERSION + 1, 10**300])
def test_a_pack_of_another_version_says_so(version: int) -> None:
    pack = zipped(("manifest.json", manifest(pack_version=version, files="other")))
    assert refusal(pack) == "pack_other_version"
