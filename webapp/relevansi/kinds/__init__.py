"""The kinds of items that a run can list: what one is, and when one verdict serves two of them.

A kind is a subclass of ``Item`` in a module here, and a template ``templates/kinds/NAME.html``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import to_builtins

from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.records import Item

KINDS: Mapping[str, type[Item]] = {item_class.kind: item_class for item_class in (Card, Document)}


def of(stored: Mapping[str, Any]) -> type[Item]:
    """Return the kind of a stored card; one that names none is a property."""
    return KINDS[stored.get("kind", Card.kind)]


def from_row(stored: Mapping[str, Any]) -> Item:
    """Return the item of a stored card."""
    return of(stored)(**{name: value for name, value in stored.items() if name != "kind"})


def to_row(card: Item, only: Iterable[str] | None = None) -> dict[str, Any]:
    """Return what is stored of an item: the fields that have a value, all or `only` these."""
    row = to_builtins(card)
    names = row if only is None else ["kind", *only]
    return {name: row[name] for name in names if name in row}


def listed_item(row: Mapping[str, Any], shared: Mapping[str, Any] | None) -> Item:
    """Return the item of a result: its `row` row, and what is `shared` by all runs that list it."""
    return from_row(row if of(row).of_one_run is None else {**(shared or {}), **row})
