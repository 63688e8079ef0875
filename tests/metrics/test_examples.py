from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from relevansi import metrics
from relevansi.metrics.judging import queries

MODULES = [module.name for module in pkgutil.walk_packages(metrics.__path__, "relevansi.metrics.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(
    "name", ["precision_at", "reciprocal_rank", "success", "suggested_quality"]
)
def test_every_figure_of_a_list_shows_an_example(name: str) -> None:
    assert ">>> " in (getattr(queries, name).__doc__ or "")
