"""The languages in which files are written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relevansi.i18n import speaking


@pytest.fixture(params=["id", "en"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    with speaking(request.param):
        yield request.param


@pytest.fixture
def english() -> Iterator[None]:
    with speaking("en"):
        yield
