from __future__ import annotations

import csv
import io
import json
from typing import Any

from msgspec.structs import replace

from tests.exporters.reports import CORRECT_EMPTY, FAILED, UNREADABLE, report, row
from webapp import labels
from webapp.exporters.exports.metrics_tables import metrics_csv, metrics_json, metrics_markdown
from webapp.exporters.frame.csv_cells import rounded
from webapp.i18n import speaking
from webapp.metrics.judging.figures import HEADLINES, RunReport

RATED = report(row("NRR", 1, quality=4), row(CORRECT_EMPTY, 2), row("R.", 3), row(FAILED, 4))


def document(found: RunReport) -> Any:
    return json.loads(json.dumps(metrics_json(found)))


def test_the_document_has_the_promised_keys_in_their_order() -> None:
    found = document(RATED)

    assert list(found) == [
        "run",
        "rule",
        "cannot_tell",
        "n_queries",
        "n_complete",
        "n_with_results",
        "n_failed",
        "n_unreadable",
        "figures",
        "categories",
        "queries",
    ]
    assert list(found["figures"]) == list(HEADLINES)
    assert list(found["categories"]) == ["location"]
    assert found["categories"]["location"] == found["figures"]


def test_counts_are_of_queries() -> None:
    found = document(report(*RATED.rows, row(UNREADABLE, 5)))

    assert (found["run"], found["rule"], found["n_queries"]) == ("r1", "rater Ani", 5)
    assert (found["n_complete"], found["n_with_results"]) == (3, 2)
    assert (found["n_failed"], found["n_unreadable"]) == (1, 1)


def test_figures_are_unrounded_with_bounds_and_n() -> None:
    """NRR: 2/3. R.: 1/2 to 1. So P@5 so far is 2/3, between (2/3 + 1/2)/2 and (2/3 + 1)/2."""
    assert document(RATED)["figures"]["mean_precision_at_5"] == {
        "value": 2 / 3,
        "lower": (2 / 3 + 1 / 2) / 2,
        "upper": (2 / 3 + 1) / 2,
        "n": 1,
    }


def test_a_complete_query_shows_its_figures() -> None:
    assert document(RATED)["queries"][0] == {
        "query_id": 1,
        "question": "cari rumah",
        "category": "location",
        "results_count": 3,
        "judged_count": 3,
        "relevant_count": 2,
        "first_relevant_rank": 2,
        "overall_precision": 2 / 3,
        "precision_at_5": 2 / 3,
        "mrr": 0.5,
        "success": 1,
        "response_quality": 4,
        "empty_outcome": None,
        "notes": "",
        "complete": True,
    }


def test_the_reciprocal_rank_of_a_correct_empty_is_null_not_0() -> None:
    found = document(RATED)["queries"][1]

    assert (found["mrr"], found["success"], found["empty_outcome"]) == (None, 1, "correct_empty")


def test_an_incomplete_query_shows_no_figures_but_how_much_is_judged() -> None:
    found = document(RATED)["queries"][2]

    assert (found["results_count"], found["judged_count"], found["complete"]) == (2, 1, False)
    assert found["relevant_count"] is found["first_relevant_rank"] is found["success"] is None
    assert found["overall_precision"] is found["precision_at_5"] is found["mrr"] is None


def test_a_failed_call_is_no_success_and_has_nothing_else() -> None:
    found = document(RATED)["queries"][3]

    assert (found["success"], found["mrr"], found["precision_at_5"]) == (0, None, None)


def test_the_csv_has_the_numbers_of_the_json_to_four_decimals() -> None:
    lines = list(csv.DictReader(io.StringIO(metrics_csv(RATED).decode())))
    figures = document(RATED)["figures"]

    assert [line["figure"] for line in lines] == [*HEADLINES, *HEADLINES]
    for line in lines:
        expected = rounded(figures[line["figure"]])  # 2/3 is 0.6667
        given = {key: float(line[key]) if line[key] else None for key in expected}
        assert given == expected


def test_markdown_rounds_at_display_and_shows_undefined_as_a_dash() -> None:
    with speaking("en"):
        found = metrics_markdown(RATED)
        nothing = metrics_markdown(report(row("R.")))

    assert found.startswith("# Run r1 (Ani alone)\n\n3 of 4 questions complete; 2 with results,")
    assert "| Precision@5 | 0.6667 | 0.5833 | 0.8333 | 1 of 2 |\n" in found
    assert "| Precision@5 | - | 0.5000 | 1.0000 | 0 of 1 |\n" in nothing


def test_markdown_and_the_document_name_what_cannot_tell_is() -> None:
    counted = replace(RATED, cannot_tell="not_relevant")

    with speaking("en"):
        assert labels.CANNOT_TELL["left_out"] in metrics_markdown(RATED)
        assert labels.CANNOT_TELL["not_relevant"] in metrics_markdown(counted)
    assert document(RATED)["cannot_tell"] == "left_out"
    assert document(counted)["cannot_tell"] == "not_relevant"


def test_markdown_in_indonesian_has_a_decimal_comma() -> None:
    with speaking("id"):
        assert "| 0,6667 | 0,5833 | 0,8333 | 1 dari 2 |\n" in metrics_markdown(RATED)


def test_markdown_cells_cannot_break_out_of_their_table() -> None:
    with speaking("en"):
        found = metrics_markdown(RunReport("a|b\nc", "majority", ()))

    assert "# Run a\\|b c (Majority of all raters)\n" in found
