"""The rooms of the house: a capability has the same word in every layer.

Each layer has a folder per room. The core rates, counts and compares; a wing adds to it, and goes
when its name here and its folders are deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

CORE = (
    *("runs", "rating", "judging", "study", "people", "agreement", "comparisons", "exports"),
    "workers",
)
WINGS = (
    "gold",
    "evaluations",
    "machine_judges",
    "phase_3",
    "proof_packs",
    "offline",
    "collecting",
    "backups",
    "planning",
)


def contributions(layer: str, name: str) -> Iterator[ModuleType]:
    """Yield the module `name` of every room of `layer` that has one, the core's first.

    A room with several contributions of that name lists their modules in ``MODULES`` of it.

    ``contributions("web", "pages")`` begins with ``webapp.web.runs.pages``.
    """
    for room in (*CORE, *WINGS):
        module = _module(f"webapp.{layer}.{room}", name)
        if module is not None:
            yield from getattr(module, "MODULES", (module,))


@cache  # pages ask for the same at every request
def _module(folder: str, name: str) -> ModuleType | None:
    if find_spec(folder) and find_spec(f"{folder}.{name}"):
        return import_module(f"{folder}.{name}")
    return None
