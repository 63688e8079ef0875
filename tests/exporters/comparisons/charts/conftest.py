"""Pictures are drawn in English unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from webapp.i18n import speaking


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with speaking("en"):
        yield
