"""A part of a page that a wing brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part of a page that a wing brings: ``shown`` is what its template shows."""

    template: str
    shown: Any
