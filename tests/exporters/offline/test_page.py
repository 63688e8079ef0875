"""The page without a server writes what the importer of ratings reads."""

from __future__ import annotations

from webapp.exporters.offline import page
from webapp.importers.runs import ratings as offline_ratings


def test_the_page_and_the_reader_mean_the_same_format() -> None:
    assert page.FORMAT == offline_ratings.FORMAT
    assert page.VERSION == offline_ratings.VERSION
