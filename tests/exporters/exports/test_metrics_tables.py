from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from msgspec.structs import replace

from relevansi import labels
from relevansi.config import resource
from relevansi.exporters.exports.meanings import (
    chapters,
    measures_markdown,
    read_together,
    rounding,
)
from relevansi.exporters.exports.metrics_tables import (
    metrics_csv,
    metrics_json,
    metrics_markdown,
    runs_markdown,
)
from relevansi.exporters.frame.csv_cells import rounded
from relevansi.i18n import speaking
from relevansi.metrics.judging.figures import HEADLINES, RunReport
from relevansi.metrics.judging.registry import REFERENCES
from relevansi.notation import figure
from tests.exporters.explained import unexplained
from tests.exporters.reports import CORRECT_EMPTY, FAILED, UNREADABLE, report, row

RATED = report(row("NRR", 1, quality=4), row(CORRECT_EMPTY, 2), row("R.", 3), row(FAILED, 4))


SIMPLE = replace(row("NR", 1, quality=4), category="location_simple")


def document(run_report: RunReport) -> Any:
    return json.loads(json.dumps(metrics_json(run_report)))


def test_the_document_has_counts_and_unrounded_figures_with_bounds_and_n() -> None:
    """NRR: 2/3. R.: 1/2 to 1. So P@5 so far is 2/3, between (2/3 + 1/2)/2 and (2/3 + 1)/2."""
    printed = document(report(*RATED.rows, row(UNREADABLE, 5)))

    assert (printed["run"], printed["rule"], printed["n_queries"]) == ("r1", "rater Ani", 5)
    assert (printed["n_complete"], printed["n_with_results"]) == (3, 2)
    assert (printed["n_failed"], printed["n_unreadable"]) == (1, 1)
    assert printed["figures"]["mean_precision_at_5"] == {
        "value": 2 / 3,
        "lower": (2 / 3 + 1 / 2) / 2,
        "upper": (2 / 3 + 1) / 2,
        "n": 1,
    }
    assert printed["categories"] == {"location": printed["figures"]}


def test_a_query_shows_its_figures_once_it_is_complete() -> None:
    complete, empty, open_, failed = document(RATED)["queries"]

    assert complete == {
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
    assert (empty["mrr"], empty["success"], empty["empty_outcome"]) == (None, 1, "correct_empty")
    assert (open_["results_count"], open_["judged_count"], open_["complete"]) == (2, 1, False)
    assert {open_[name] for name in ("relevant_count", "mrr", "success", "precision_at_5")} == {
        None
    }
    assert (failed["success"], failed["mrr"], failed["precision_at_5"]) == (0, None, None)


def test_the_csv_has_the_numbers_of_the_json_to_four_decimals() -> None:
    lines = list(csv.DictReader(io.StringIO(metrics_csv(RATED).decode())))
    figures = document(RATED)["figures"]

    assert [line["figure"] for line in lines] == [*HEADLINES, *HEADLINES]
    for line in lines:
        result = figures[line["figure"]]  # 2/3 is 0.6667
        expected = {name: rounded(value) for name, value in result.items()}
        cells = {key: float(line[key]) if line[key] else None for key in expected}
        assert cells == expected


def test_markdown_rounds_at_display_and_shows_undefined_as_a_dash() -> None:
    with speaking("en"):
        result = metrics_markdown(RATED)
        nothing = metrics_markdown(report(row("R.")))

    assert result.startswith(
        "# Run r1 (Ani alone)\n\n3 of 4 questions complete · 1 answer not graded (provisional). "
        "4 questions: 2 with results,"
    )
    assert "| Precision@5 | 0.5833–0.8333 | 1 of 2 |\n" in result
    assert "| Precision@5 | 0.5000–1.0000 | 0 of 1 |\n" in nothing


def test_markdown_and_the_document_name_what_cannot_tell_is() -> None:
    counts = replace(RATED, cannot_tell="not_relevant")

    with speaking("en"):
        assert labels.CANNOT_TELL["left_out"] in metrics_markdown(RATED)
        assert labels.CANNOT_TELL["not_relevant"] in metrics_markdown(counts)
    assert document(RATED)["cannot_tell"] == "left_out"
    assert document(counts)["cannot_tell"] == "not_relevant"


def test_markdown_cells_cannot_break_out_of_their_table() -> None:
    with speaking("en"):
        result = metrics_markdown(RunReport("a|b\nc", "majority", ()))

    assert "# Run a\\|b c (Majority of all raters)\n" in result


def test_the_report_shows_the_figures_of_every_run_before_what_they_mean() -> None:
    simple = report(SIMPLE, row(CORRECT_EMPTY, 2))
    with speaking("en"):
        result = runs_markdown([("First", simple), ("Second", simple)]).decode()

    # One list of two, the second relevant: P@5 1/2 and RR 1/2; a correct empty is a success.
    assert result.count("| Precision@5 | 0.5000 | 1 |") == 2
    assert "| Location (location_simple) | 1 | 0.5000 |" in result
    headings = [line for line in result.splitlines() if line.startswith("#")]
    assert headings[1:3] == ["## Run First (Ani alone)", "## Run Second (Ani alone)"]
    assert headings[-1] == "## References"
    assert result.count("\n- ", result.rindex("## ")) == len(REFERENCES)


def test_the_committed_page_of_measures_is_the_registry_s() -> None:
    with speaking("en"):
        assert (resource("docs") / "figures.md").read_text("utf-8") == measures_markdown()


@pytest.mark.parametrize(("language", "down"), [("id", "0,63"), ("en", "0.63")])
def test_every_measure_is_explained_in_both_languages(language: str, down: str) -> None:
    measures = [measure for group in chapters() for measure in group.measures.values()]

    assert unexplained(measures, language) == []
    with speaking(language):
        assert figure(0.625) == down
        assert down in rounding()
        advice = [
            read_together(hint, group.measures).split(": ", maxsplit=1)[1]
            for group in chapters()
            for hint in group.advice
        ]
    assert [sentence for sentence in advice if not sentence[0].islower()] == []
