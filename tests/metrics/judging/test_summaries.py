from __future__ import annotations

import subprocess
import sys

from tests.metrics.judging.verdicts import failed, listed
from webapp.metrics.judging.figures import QueryRow, RunReport, Totals, category_totals, totals

REPORT = RunReport(
    run="a",
    rule="rater Ani",
    rows=(
        QueryRow(1, "rumah di cemara", "location_simple", "", listed("RN")),
        QueryRow(2, "gudang di KIM", "property_type", "", failed()),
        QueryRow(3, "rumah di ringroad", "location_simple", "", listed("R")),
    ),
)


def test_totals_of_a_report_cover_all_its_rows() -> None:
    assert totals(REPORT).n_queries == 3


def test_categories_keep_their_order_of_first_appearance_and_add_up() -> None:
    found = category_totals(REPORT)

    assert list(found) == ["location_simple", "property_type"]
    assert sum(found.values(), start=Totals()) == totals(REPORT)


def test_the_metrics_load_neither_web_nor_database_nor_tables() -> None:
    code = (
        "import sys, webapp.metrics.judging.figures, webapp.metrics.judging.registry;"
        "print({'flask', 'sqlalchemy', 'pandas', 'babel'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "set()"
