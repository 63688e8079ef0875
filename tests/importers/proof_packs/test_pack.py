"""A zip that is not a proof pack, or is made to do harm, is refused with one clear sentence."""

from __future__ import annotations

import io
import json
import struct
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from webapp.i18n import LANGUAGES, speaking
from webapp.importers.proof_packs import pack as proof_pack
from webapp.importers.proof_packs.pack import (
    PACK_MESSAGES,
    ProofPack,
    UnreadableMember,
    UnusablePack,
)
from webapp.metrics.proof_packs.proof_files import FORMAT, PACK_VERSION

MANIFEST: Mapping[str, Any] = {
    "format": FORMAT,
    "pack_version": PACK_VERSION,
    "product": {"name": "relevansi", "version": "0.1.0"},
    "created_at": "2026-03-01T09:00:00+00:00",
    "scope": "run",
    "study": "S",
    "rule": "majority",
    "resampling": {"seed": 1, "resamples": 1000, "confidence": 0.95},
    "files": [],
}


def manifest(**other: object) -> bytes:
    return json.dumps({**MANIFEST, **other}).encode()


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # of two members of one name
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def refusal(data: bytes) -> str:
    """The code of why `data` is refused."""
    with pytest.raises(UnusablePack) as refused, proof_pack.opened("x.zip", io.BytesIO(data)):
        pass
    return refused.value.code


def reading(data: bytes, look: Callable[[ProofPack], object]) -> object:
    with proof_pack.opened("x.zip", io.BytesIO(data)) as pack:
        return look(pack)


GOOD = zipped(("manifest.json", manifest()), ("a.txt", b"one\ntwo\n"))


def test_a_pack_is_read_member_by_member() -> None:
    assert reading(GOOD, lambda pack: pack.read("a.txt")) == b"one\ntwo\n"
    assert reading(GOOD, lambda pack: pack.names) == {"manifest.json", "a.txt"}
    assert reading(GOOD, lambda pack: pack.manifest.study) == "S"


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"no zip at all", b"PK\x03\x04" + bytes(100), GOOD[:-30], GOOD[40:]]
)
def test_what_is_no_complete_zip_is_refused(data: bytes) -> None:
    assert refusal(data) in {"pack_not_zip", "pack_without_manifest", "pack_manifest_wrong"}


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/etc/passwd", "a\\..\\x", "C:x", "a//b", "./a", ".."]
)
def test_a_name_that_leads_out_of_the_pack_is_refused(name: str) -> None:
    assert refusal(zipped(("manifest.json", manifest()), (name, b""))) == "pack_name_unsafe"


def test_two_members_of_one_name_are_refused() -> None:
    twice = zipped(("manifest.json", manifest()), ("a", b"1"), ("a", b"2"))
    assert refusal(twice) == "pack_member_twice"


def test_a_folder_entry_is_no_member() -> None:
    data = zipped(("runs/", b""), ("manifest.json", manifest()), ("runs/a", b"1"))
    assert reading(data, lambda pack: pack.names) == {"manifest.json", "runs/a"}


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = zipped(("manifest.json", manifest()), ("a", bytes(20 * 2**20)))

    assert len(bomb) < 40_000
    assert refusal(bomb) == "pack_bomb"


def test_a_pack_of_too_many_members_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_pack, "MOST_MEMBERS", 3)
    many = zipped(*((f"{number}", b"") for number in range(4)))
    assert refusal(many) == "pack_too_large"


def test_sizes_are_limited_by_what_the_zip_states() -> None:
    """A directory that claims less than the member holds yields no more than it claims."""
    data = zipped(("manifest.json", manifest()), ("a", b"x" * 1000))
    at = data.rindex(b"PK\x01\x02") + 24
    assert struct.unpack_from("<I", data, at) == (1000,)
    lying = data[:at] + struct.pack("<I", 10) + data[at + 4 :]
    with pytest.raises(UnreadableMember):
        reading(lying, lambda pack: pack.read("a"))

    huge = data[:at] + struct.pack("<I", 2**31) + data[at + 4 :]
    assert refusal(huge) == "pack_too_large"


def test_an_encrypted_member_is_refused() -> None:
    at = GOOD.rindex(b"PK\x01\x02") + 8
    assert refusal(GOOD[:at] + b"\x01" + GOOD[at + 1 :]) == "pack_encrypted"


def test_another_way_of_packing_is_refused() -> None:
    packed = zipped(("manifest.json", manifest()), method=zipfile.ZIP_BZIP2)
    assert refusal(packed) == "pack_not_zip"


def test_a_pack_without_a_manifest_at_its_top_is_refused() -> None:
    assert refusal(zipped(("pack/manifest.json", manifest()))) == "pack_without_manifest"


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"null", b"NaN", b"{}", b"[" * 100_000, b"\xff",
        manifest(format="another"), manifest(pack_version="1"), manifest(pack_version=True),
        manifest(pack_version=0), manifest(study=1), manifest(resampling={}),
        manifest(created_at="yesterday"), manifest(created_at="2026-03-01T09:00:00"),
        manifest(files=[{"name": "a", "sha256": "1"}]), manifest(rule="\ud800"),
        manifest(resampling={"seed": 1, "resamples": 10**6, "confidence": 0.95}),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_is_refused(text: bytes) -> None:
    assert refusal(zipped(("manifest.json", text))) == "pack_manifest_wrong"


def test_a_pack_of_another_version_says_so() -> None:
    older = zipped(("manifest.json", manifest(pack_version=1, files="other")))
    assert refusal(older) == "pack_older"
    newer = zipped(("manifest.json", manifest(pack_version=PACK_VERSION + 1, files="other")))
    assert refusal(newer) == "pack_newer"
    assert refusal(zipped(("manifest.json", manifest(pack_version=10**300)))) == "pack_newer"


def test_a_damaged_member_is_told_when_it_is_read() -> None:
    at = GOOD.index(b"a.txt") + len("a.txt")
    damaged = GOOD[:at] + b"\xff\xff" + GOOD[at + 2 :]
    with pytest.raises(UnreadableMember) as wrong:
        reading(damaged, lambda pack: pack.digest("a.txt"))
    assert wrong.value.name == "a.txt"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", PACK_MESSAGES)
def test_every_refusal_names_the_file_in_the_reader_s_language(code: str, language: str) -> None:
    details = dict.fromkeys(("name", "limit", "members", "place", "version", "known"), "x")
    with speaking(language):
        told = UnusablePack(code, "x.zip", **details).line()

    assert told.startswith("x.zip")
    assert "%(" not in told
