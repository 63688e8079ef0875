"""The words that chatbots, files and tables use of properties, from ``property_names.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

_TABLES = tomllib.loads(Path(__file__).with_name("property_names.toml").read_text("utf-8"))
LISTS: Mapping[str, tuple[str, ...]] = {
    what: tuple(names.split()) for what, names in _TABLES["lists"].items()
}
"""Names that a program looks for, by what they have in common."""


def by_name(table: str) -> dict[str, str]:
    """What each name in a table means."""
    return {name: what for what, names in _TABLES[table].items() for name in names.split()}
