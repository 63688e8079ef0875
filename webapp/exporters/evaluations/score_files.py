"""Scored items as the files that the command line and the pages give: bit for bit the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from webapp.exporters.frame.csv_cells import csv_bytes

Item = Mapping[str, Any]


def json_entry(item: Item, *, is_first: bool) -> bytes:
    """One item of the list as the file has it, after the separator from the item before it."""
    start = "\n  " if is_first else ",\n  "
    return (start + json.dumps(item, ensure_ascii=False)).encode()


def json_start(head: Item) -> bytes:
    """The start of the file above the items: the keys of `head`, and the list opened."""
    text = json.dumps(head, ensure_ascii=False, indent=1)
    return text.removesuffix("\n}").encode() + b',\n "items": ['


def json_end(n: int) -> bytes:
    """The end of the file, which closes the list of `n` items."""
    return b"\n ]\n}\n" if n else b"]\n}\n"


def csv_line(item: Item, columns: Sequence[str]) -> bytes:
    """One item as a line of the table."""
    return csv_bytes([[item.get(column) for column in columns]])


def json_file(head: Item, items: Iterable[Item]) -> Iterator[bytes]:
    """The whole JSON file, piece by piece."""
    yield json_start(head)
    n = 0
    for item in items:
        yield json_entry(item, is_first=not n)
        n += 1
    yield json_end(n)


def csv_file(columns: Sequence[str], items: Iterable[Item]) -> Iterator[bytes]:
    """The whole table, header first, line by line."""
    yield csv_bytes([columns])
    for item in items:
        yield csv_line(item, columns)
