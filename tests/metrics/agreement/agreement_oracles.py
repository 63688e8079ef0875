"""Agreement of a table of labels by the reference tools (rows are items, ``None`` is missing)."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from relevansi.metrics.agreement.agreement import Table


def irrcac(coefficient: str, table: Table, labels: Sequence[int]) -> float:
    """The ``fleiss``, ``gwet`` or ``krippendorff`` of irrCAC, and ``pa`` for raw agreement.

    irrCAC must be told the labels: from pandas 3 on, what it finds by itself holds NaN.
    """
    raw = pytest.importorskip("irrCAC.raw", reason="irrCAC is not installed")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(_numbers(table), columns=[f"r{i}" for i in range(len(table[0]))])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # its own standard errors divide by zero
        measured: Any = raw.CAC(frame, categories=[float(x) for x in labels], digits=12)
        result = getattr(measured, "gwet" if coefficient == "pa" else coefficient)()["est"]
    return float(result["pa" if coefficient == "pa" else "coefficient_value"])


def krippendorff(table: Table, scale: str) -> float:
    """The alpha of the package krippendorff; NaN where one label only stands on shared items."""
    package = pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    columns = np.array(_numbers(table)).T
    with np.errstate(all="ignore"):
        return float(package.alpha(reliability_data=columns, level_of_measurement=scale))


def scikit_learn(
    table: Table, weights: str | None = None, labels: Sequence[int] | None = None
) -> float:
    """The (weighted) kappa of scikit-learn over items that both labelled; NaN for one label."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    both = [row for row in table if None not in row]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # it warns of a single label
        pairs = [row[0] for row in both], [row[1] for row in both]
        return float(metrics.cohen_kappa_score(*pairs, weights=weights, labels=labels))


def random_table(seed: int, *, raters: int, labels: int, missing: float, skew: float) -> Table:
    """A table of 5 to 60 items; label 0 has the extra probability `skew`."""
    draw = random.Random(seed)

    def cell() -> int | None:
        if draw.random() < missing:
            return None
        return 0 if draw.random() < skew else draw.randrange(labels)

    return [[cell() for _ in range(raters)] for _ in range(draw.randint(5, 60))]


def _numbers(table: Table) -> list[list[float]]:
    return [[math.nan if label is None else float(label) for label in row] for row in table]
