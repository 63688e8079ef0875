"""JSON is unrounded, null where undefined, and the same in every language."""

from __future__ import annotations

import json

from tests.exporters.comparisons.comparisons import (
    DAY,
    comparison_report,
    run,
    three_runs,
)
from tests.exporters.comparisons.read_files import (
    rendered,
)
from webapp.exporters.comparisons.files import FORMATS
from webapp.exporters.comparisons.json_file import comparison_json
from webapp.i18n import speaking


def test_json_is_unrounded_and_null_where_undefined() -> None:
    # P@5 of "RNN" is 1/3; an unrated run has nothing
    document = comparison_json(comparison_report([run("a", "RNN"), run("b", ".")]))

    assert document["runs"][0]["figures"]["mean_precision_at_5"]["value"] == 1 / 3
    unrated = document["runs"][1]
    assert not unrated["rated"]
    assert unrated["partial"]
    assert unrated["figures"]["mean_precision_at_5"]["value"] is None
    assert unrated["missing"]["incomplete"] == [1]
    assert document["differences"][0]["mean"] is None
    assert document["differences"][0]["p"] is None


def test_json_is_the_same_in_every_language() -> None:
    found = set()
    for code in ("id", "en"):
        with speaking(code):
            found.add(FORMATS["json"].render(three_runs(), DAY))

    assert len(found) == 1


def test_a_question_that_was_not_run_is_null_and_said() -> None:
    report = three_runs()

    assert comparison_json(report)["questions"][5]["answers"]["vector_only"] is None
    with speaking("en"):
        assert "vector_only was not asked question 6" in rendered(report, "markdown")


def test_json_is_one_document() -> None:
    assert json.loads(FORMATS["json"].render(three_runs(), DAY))["phase"] == 1
