"""The page without a server writes what the importer of ratings reads."""

from __future__ import annotations

from webapp.config import resource
from webapp.exporters.frame.scripts import imported
from webapp.exporters.offline import page
from webapp.importers.runs import ratings as offline_ratings


def test_the_page_and_the_reader_mean_the_same_format() -> None:
    assert page.FORMAT == offline_ratings.FORMAT
    assert page.VERSION == offline_ratings.VERSION


def test_every_script_comes_after_those_that_it_imports() -> None:
    before: set[str] = set()
    for name, file in page.SCRIPTS.items():
        needed = imported((resource("static") / file).read_text("utf-8"))
        assert {one.rpartition("/")[2] for one in needed} <= before, name
        before.add(name)
