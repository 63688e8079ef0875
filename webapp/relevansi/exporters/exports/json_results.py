"""The results of a run as JSON values, each with its card, its particulars and its verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping

import msgspec

from relevansi.exporters.frame.json_files import JsonValue, fields, whole_if_exact
from relevansi.kinds.property import Card, CardParticulars, Particulars
from relevansi.records import Item, Number


def result_json(
    rank: int,
    card: Item,
    verdict: Number,
    particulars: CardParticulars | None,
    *,
    reason: str | None = None,
    without: Container[str] = (),
) -> dict[str, JsonValue]:
    """One result at its 1-based rank: its card, its particulars, and its verdict.

    `without` are columns that are left out.
    """
    document: dict[str, JsonValue] = {"rank": rank}
    for name in card.columns:
        if name not in without:
            document[name] = whole_if_exact(getattr(card, name))
    if particulars:
        document["particulars"] = _particulars(particulars)
    document["relevance"] = verdict
    if reason:
        document["reason"] = reason
    return document


_EXPONENT = re.compile(rb"[0-9]e-?[0-9]+,?(?:\n|\Z)|0\.0000")


def json_of_queries(head: Mapping[str, JsonValue], queries: Iterable[JsonValue]) -> bytes:
    """`head` with the list of queries behind it, as JSON indented by one.

    A run may have many thousands, so each is written by msgspec and forgotten.
    """
    parts = []
    for query in queries:
        text = msgspec.json.format(msgspec.json.encode(query), indent=1)
        if _EXPONENT.search(text):  # a number that json, which wrote the other files, spells out
            text = json.dumps(query, ensure_ascii=False, indent=1).encode()
        parts.append(b"\n  " + text.replace(b"\n", b"\n  "))
    empty = json.dumps({**head, "queries": []}, ensure_ascii=False, indent=1).encode()
    listed = b",".join(parts) + b"\n " if parts else b""
    return empty.removesuffix(b"]\n}") + listed + b"]\n}"


def _particulars(particulars: CardParticulars) -> dict[str, JsonValue]:
    """The facts beyond the card, of the answer's text or its list; those of the record apart."""
    recorded = fields(particulars.record, *Card.columns)
    return {
        "headings": list(particulars.headings),
        "lines": list(particulars.lines),
        **_details(particulars.listed, particulars.listed_km),
        "asked_place": particulars.place or None,
        "record": {
            **_details(particulars.recorded, particulars.recorded_km),
            "card": {
                name: whole_if_exact(value)
                for name, value in recorded.items()
                if value not in (None, "")
            },
        },
    }


def _details(details: Particulars, distance_km: float | None) -> dict[str, JsonValue]:
    return {
        "description": details.description or None,
        "features": list(details.features),
        "facts": dict(details.facts),
        **fields(details, "latitude", "longitude"),
        "distance_km": distance_km,
    }
