"""Rows that wait in a temporary file until all of them are there.

So the summary can come first, no half-finished file is written or stored, and the memory does
not fill up with rows.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, Self


class WaitingRows:
    """Rows in the order in which they came, as often as they are wanted; ``n`` counts them.

    >>> with WaitingRows() as rows:
    ...     rows.add({"id": "q1", "f1": 0.1})
    ...     rows.n, list(rows), list(rows)
    (1, [{'id': 'q1', 'f1': 0.1}], [{'id': 'q1', 'f1': 0.1}])
    """

    def __init__(self) -> None:
        self.n = 0
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        wrong: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one row in."""
        self._file.write(json.dumps(row).encode() + b"\n")
        self.n += 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        return (json.loads(line) for line in self._file)
