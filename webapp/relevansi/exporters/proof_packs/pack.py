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
from pathlib import Path
from typing import Any

from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext
from relevansi.metrics.judging.queries import MEANS
from relevansi.metrics.judging.registry import MEASURES
from relevansi.metrics.proof_packs.proof_files import FORMAT, MANIFEST, PACK_VERSION, README
from relevansi.records import CannotTell, Scale

_NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can state, for a member that has none."""
_READABLE_FILE = 0o100644 << 16
_UNIX = 3

_BINARY = "`1` (relevant), `0` (not relevant)"
_GRADES = "a grade, `0` to `{scale.top}` (relevant from `{scale.relevant_from}`)"
_MERGING = {
    "majority": "what most\ndecided votes say (cannot tell does not vote, a tie stays open)",
    "median": "the median\nof the grades (the lower of two middle ones; cannot tell does not vote)",
}
_CANNOT_TELL: Mapping[CannotTell, str] = {
    "not_relevant": """\
A card that is "cannot tell" counts as not relevant in every figure here (`cannot_tell` in
`manifest.json`), so that each line of `rated.csv` can be recomputed from its own columns:
`overall_precision` is relevant_count / results_count.""",
    "left_out": """\
A card that is "cannot tell" is left out of the precisions here (`cannot_tell` in
`manifest.json`), above and below the line; the notes in `rated.csv` name its rank.""",
}


def pack(
    facts: Mapping[str, Any], secret: str, files: Mapping[str, bytes], about: Mapping[str, str]
) -> bytes:
    """Return the zip of `files` by name, with their manifest and README.

    `secret` is the SHA-256 of the secret of the orders; `about` says what the members hold that
    not every pack has.
    """
    added = {name: text for name, text in about.items() if name in files}
    members = {README: readme(facts, added), **files}
    manifest = {
        "format": FORMAT,
        "pack_version": PACK_VERSION,
        **facts,
        "created_at_is": "when the last event, import or logged change inside happened",
        "commitments": [
            {
                "what": "what blind raters see, in which order",
                "sha256": secret,
                "of": "the study's secret, which its database alone holds",
            }
        ],
        "definitions": [
            {
                "name": measure.name,
                "per_question": MEANS.get(measure.name),
                "label": measure.label,
                "meaning": gettext(measure.meaning),
                **fields(measure, "unit", "formula", "denominator"),
                "edge_cases": list(map(gettext, measure.edge_cases)),
                "source": measure.source,
            }
            for measure in MEASURES.values()
        ],
        "files": [
            {"name": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in sorted(members.items())
        ],
    }
    return packed_folder({MANIFEST: json_file(manifest), **dict(sorted(members.items()))})


def packed_folder(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of files by name, the README first; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compresslevel=9) as archive:
        for name in (README, *(name for name in members if name != README)):
            info = zipfile.ZipInfo(name, _NO_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = _READABLE_FILE
            info.create_system = _UNIX
            archive.writestr(info, members[name])
    return buffer.getvalue()


def json_file(document: object) -> bytes:
    """Return a document as JSON, its moments as ISO 8601 has them."""
    return f"{_json(document, indent=1)}\n".encode()


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a list of objects as JSON, an object to a line."""
    listed = ",".join(f"\n{_json(row)}" for row in rows)
    return f"[{listed}]\n".encode()


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=datetime.isoformat)


def readme(facts: Mapping[str, Any], added: Mapping[str, str]) -> bytes:
    """Return the README of a pack by the facts of its manifest, with what it has `added`."""
    scale, is_method = Scale.stored(facts.get("scale")), "kind" not in facts
    rule, level = facts["rule"], f"(rel={scale.relevant_from})"
    # The program in it has braces of its own, so it is not a format.
    compared = _text("pack_of_method.md" if is_method else "pack_of_rankings.md")
    text = _text("pack_readme.md").format(
        raters=", ".join(map(_quoted, facts["raters"])),
        rule=_quoted(rule),
        system="property chatbot" if is_method else "search or RAG system",
        item="property" if is_method else "document",
        verdict=_BINARY if scale.top == 1 else _GRADES.format(scale=scale),
        merging=_MERGING[facts.get("merging", "majority")],
        measures="RR P@5" if is_method else f"nDCG@10 RR{level}@10 AP{level}",
        compared=compared.replace("RULE_OF_PACK", json.dumps(rule)),
        added="".join(f"| `{name}` | {text} |\n" for name, text in added.items()),
        cannot_tell=_CANNOT_TELL[facts["cannot_tell"]],
    )
    return text.encode()


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _quoted(text: str) -> str:
    """`text` in quotation marks on one line, without what Markdown would read as markup."""
    escaped = "".join(f"\\{mark}" if mark in "\\|*`<[_" else mark for mark in text)
    return f'"{" ".join(escaped.split())}"'
