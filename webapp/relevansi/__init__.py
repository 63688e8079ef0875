"""Relevansi: judge what a chatbot retrieved and get figures that survive an examiner.

In a notebook ``relevansi.open`` and ``relevansi.connect`` return a study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relevansi.notebook import RelevansiError, Study, connect, open  # noqa: A004

__all__ = ["RelevansiError", "Study", "connect", "open"]


def __getattr__(name: str) -> object:
    """Read the notebook's names when they are asked for: no command pays for pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from relevansi import notebook  # noqa: PLC0415 - it imports every layer, this module none

    return getattr(notebook, name)
