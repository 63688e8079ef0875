"""Work that says how far it is: how many steps of how many are done."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[int, int], None]
"""Is told how many steps of how many are done."""


def nobody(_done: int, _of: int) -> None:
    """Hear how far work is where nobody waits to see it."""
