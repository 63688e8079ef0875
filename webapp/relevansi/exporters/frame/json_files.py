"""A report as a file of JSON, and the values in it whose keys are the names of attributes."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from relevansi.printable import json_escaped

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


def json_file(document: object) -> bytes:
    """Return one document, a line for each value, its unprintable characters as escapes."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return f"{json_escaped(text)}\n".encode()


def fields(item: object, *names: str) -> dict[str, Any]:
    """Return the values that `item` has under these names, in their order.

    >>> fields(1 + 2j, "imag", "real")
    {'imag': 2.0, 'real': 1.0}
    """
    return {name: getattr(item, name) for name in names}


def moment_json(when: datetime | None) -> str | None:
    """Return a moment as ISO 8601 has it."""
    return when.isoformat() if when else None


def whole_if_exact(value: JsonValue) -> JsonValue:
    """`value`, as a whole number where it is one.

    >>> whole_if_exact(105.0), whole_if_exact(62.5), whole_if_exact(None)
    (105, 62.5, None)
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value
