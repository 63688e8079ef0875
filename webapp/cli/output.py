"""Where a command's document goes: a file, or the standard output."""

from __future__ import annotations

import sys
from pathlib import Path


def write(data: bytes, output: Path | None) -> None:
    """Write `data` to `output`, or to the standard output."""
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    output.write_bytes(data)
