"""Every value of a JSON document with its place, for recorded documents to be compared."""

from __future__ import annotations

from collections.abc import Iterator


def leaves(document: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Every value of a JSON document with its place."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, f"{place}.{key}")
    elif isinstance(document, list):
        for position, value in enumerate(document):
            yield from leaves(value, f"{place}[{position}]")
    else:
        yield place, round(document, 4) if isinstance(document, float) else document
