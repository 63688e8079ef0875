"""Figures as machine formats write them: four decimals, so that no binary noise leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECIMALS = 4
PROBABILITIES = frozenset({"p", "p_holm"})
"""Keys of p-values: of these four digits are kept, since very small ones matter."""


def rounded(value: Any) -> Any:
    """Return a JSON document with every figure to four decimals.

    Files whose figures are recomputed exactly hold them unrounded.

    >>> rounded({"value": 0.7999999999999999, "n": 3, "bounds": [1 / 3, None], "p": 2 / 2**21})
    {'value': 0.8, 'n': 3, 'bounds': [0.3333, None], 'p': 9.537e-07}
    """
    if isinstance(value, Mapping):
        return {key: _rounded(key, one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, DECIMALS) if isinstance(value, float) else value


def _rounded(key: object, value: Any) -> Any:
    if key in PROBABILITIES and isinstance(value, float):
        return float(f"{value:.{DECIMALS}g}")
    return rounded(value)
