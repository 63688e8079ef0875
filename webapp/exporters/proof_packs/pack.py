"""The members of a proof pack as bytes, and the one zip that holds them.

The same parts give the same bytes: members are in the order of their names (after those that
are read first), and none carries the time at which it was written. Everything in a pack
is English, so that neither the reader's nor the exporter's language changes it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from webapp.exporters.proof_packs.readme import readme
from webapp.metrics.judging.registry import MEASURES, Measure
from webapp.metrics.proof_packs.proof_files import FORMAT, MANIFEST, PACK_VERSION, README

_FIRST = (README, MANIFEST)
_NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can state, for a member that has none."""

_READABLE_FILE = 0o100644 << 16
_UNIX = 3


def pack(
    facts: Mapping[str, Any], files: Mapping[str, bytes], about: Mapping[str, str] | None = None
) -> bytes:
    """The zip of `files` by name, with the manifest of `facts` and the README that explain them.

    `about` says what the members hold that not every pack has.
    """
    added = {name: told for name, told in (about or {}).items() if name in files}
    text = readme(facts["raters"], facts["rule"], facts["cannot_tell"], added)
    members = {README: text, **files}
    members[MANIFEST] = json_file(manifest(facts, members))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(members, key=lambda name: (name not in _FIRST, name)):
            archive.writestr(_member(name), members[name])
    return buffer.getvalue()


def manifest(facts: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, object]:
    """The manifest: the pack's kind and making, the meaning of its words, the hash of each file."""
    stated = dict(facts)
    secret = stated.pop("secret_sha256")
    return {
        "format": FORMAT,
        "pack_version": PACK_VERSION,
        **stated,
        "created_at_is": "when the last event, import or logged change inside happened",
        "commitments": [
            {
                "what": "what blind raters see, in which order",
                "sha256": secret,
                "of": "the study's secret, which its database alone holds",
            }
        ],
        "definitions": [_definition(measure) for measure in MEASURES.values()],
        "files": [
            {"name": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in sorted(files.items())
        ],
    }


def json_file(document: object) -> bytes:
    """A JSON member."""
    return f"{_json(document, indent=1)}\n".encode()


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A JSON list with a line for each row."""
    return "[{}]\n".format(",".join(f"\n{_json(row)}" for row in rows)).encode()


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=datetime.isoformat)


def _definition(measure: Measure) -> dict[str, object]:
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


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = _READABLE_FILE
    info.create_system = _UNIX
    return info
