"""Work that reports its progress: how many steps of how many are done."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[int, int], None]
"""A function that is called with the number of steps that are done, and of all steps."""


def nobody(_done: int, _of: int) -> None:
    """Ignore the progress of work that nobody watches."""
