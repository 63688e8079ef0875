"""Proof packs: their members, changed ones, and what verifying them finds."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from relevansi.importers.proof_packs import pack as proof_pack
from relevansi.services.proof_packs import verification
from relevansi.services.proof_packs.verification import Verification


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def changed(
    data: bytes, name: str, change: Callable[[bytes], bytes], *, mend_hash: bool = True
) -> bytes:
    """Return a pack with one member changed and, unless told otherwise, its hash mended."""
    files = members(data)
    before = files[name]
    files[name] = change(before)
    assert files[name] != before
    if mend_hash:
        manifest: dict[str, Any] = json.loads(files["manifest.json"])
        for file in manifest["files"]:
            file["sha256"] = sha256(files[file["name"]]).hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()
    return zipped(files)


def verified(data: bytes) -> Verification:
    with proof_pack.opened("pack.zip", io.BytesIO(data)) as pack:
        return verification.verify(pack)


def without(data: bytes, name: str) -> bytes:
    """Return a pack that never had one of its members."""
    files = members(data)
    del files[name]
    manifest: dict[str, Any] = json.loads(files["manifest.json"])
    manifest["files"] = [file for file in manifest["files"] if file["name"] != name]
    files["manifest.json"] = json.dumps(manifest).encode()
    return zipped(files)
