"""Every document of a comparison says who rated, by which rule and until when."""

from __future__ import annotations

from tests.exporters.comparisons.comparisons import (
    three_runs,
)
from tests.exporters.comparisons.read_files import (
    all_tables,
    rendered,
)
from webapp.i18n import speaking


def test_every_table_says_who_rated_by_which_rule_until_when_with_which_version() -> None:
    with speaking("en"):
        for table in all_tables(three_runs()):
            said = " ".join([*table.notes, *(c.text for row in table.rows for c in row)])
            for part in ("Ani (1,200)", "Majority of all raters", "22 Jan 2026", "0.1.0"):
                assert part in said, table.name


def test_the_composite_is_named_as_the_original_s() -> None:
    with speaking("en"):
        for name in ("markdown", "latex", "html"):
            text = rendered(three_runs(), name)
            assert "Composite of the original comparison" in text
            assert "It decides nothing" in text
