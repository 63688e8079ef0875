"""The conclusions about two runs: how far they are apart, and how sure that is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.exporters.comparisons.comparisons import (
    CORRECT_EMPTY,
    QUICK,
    comparison_report,
    run,
    three_runs,
)
from tests.metrics.comparisons.compared import differences_of
from webapp.exporters.comparisons import document, words
from webapp.exporters.comparisons.json_file import comparison_json
from webapp.i18n import speaking
from webapp.metrics.comparisons.differences import Difference
from webapp.metrics.comparisons.significance import Resampling

pytestmark = pytest.mark.usefixtures("english")


def precision_difference(*judged: str, other: str = "N", settings: Resampling = QUICK) -> str:
    report = comparison_report(
        [run("a", *judged), run("b", *([other] * len(judged)))], settings=settings
    )
    return words.conclusion(report.comparison, report.comparison.differences[0])


def test_a_difference_that_chance_explains_is_not_distinguishable() -> None:
    # three questions, each 1 against 0: 2 of the 8 signs are as extreme, p = 0.25
    assert precision_difference("R", "R", "R") == (
        "Precision@5 over the 3 questions where both have a value: a 1.00, b 0.00; a is 1.00 "
        "higher than b (95% interval [+1.00; +1.00], p = 0.25, Holm 0.25): not distinguishable."
    )


def test_a_difference_beyond_chance_is_significant() -> None:
    # six questions: 2 of the 64 signs, p = 0.03125
    assert precision_difference(*"RRRRRR") == (
        "Precision@5 over the 6 questions where both have a value: a 1.00, b 0.00; a is 1.00 "
        "higher than b (95% interval [+1.00; +1.00], p = 0.03125, Holm 0.03125): significant at 5%."
    )


def test_the_higher_run_comes_first_and_the_interval_turns_with_it() -> None:
    said = precision_difference("N", "NR", other="RN")  # 0 - 0.5 and 0.5 - 0.5: mean -0.25

    assert "b is 0.25 higher than a" in said
    assert "[0.00; +0.50]" in said


def test_equal_runs_are_level() -> None:
    assert "a and b are equal" in precision_difference("R", "R", other="R")


def test_one_pair_has_no_interval() -> None:
    said = precision_difference("R")

    assert "over the 1 question where" in said
    assert "(too few for an interval, p = 1" in said


def test_an_order_that_pairing_turns_round_is_said_beside_both() -> None:
    report = comparison_report(
        [
            run("a", "R", "N", "N", "R"),  # (1 + 0 + 0 + 1) / 4 = 0.5
            run("b", "RN", CORRECT_EMPTY, CORRECT_EMPTY, "RRN"),  # (1/2 + 2/3) / 2 = 0.5833
        ]
    )
    found = report.comparison.differences[0]
    said = words.conclusion(report.comparison, found)

    assert found.headline == pytest.approx(0.5 - 7 / 12)
    assert found.reverses_headline
    assert "over the 2 questions where both have a value: a 1.00, b 0.58; a is 0.42 higher" in said
    assert "the other way round" in said
    summary = " ".join(document.summary(report).notes)
    assert "over the 2 questions where both have a value: a 1.00, b 0.58" in summary
    as_json = comparison_json(report)["differences"][0]
    assert as_json["reverses_headline"] is True
    assert (as_json["first_value"], as_json["second_value"]) == pytest.approx((1.0, 7 / 12))


def test_an_order_that_pairing_keeps_needs_no_remark() -> None:
    assert "the other way round" not in precision_difference("R", "N")


def test_a_tiny_difference_is_not_called_zero() -> None:
    # 1 relevant of 400 against none is 0.0025 in overall precision
    report = comparison_report([run("a", "R" + "N" * 399), run("b", "N" * 400)])
    found = differences_of(report.comparison, "mean_overall_precision")[0]

    assert "a is 0.0025 higher than b" in words.conclusion(report.comparison, found)


def test_runs_without_a_shared_value_are_not_compared() -> None:
    report = comparison_report([run("a", "R"), run("b", ".")])

    assert words.conclusion(report.comparison, report.comparison.differences[0]) == (
        "Precision@5: a and b share no question with a value; nothing can be said about them."
    )


def test_a_conclusion_about_a_partial_run_is_provisional() -> None:
    report = comparison_report([run("a", "R", "R"), run("b", "N", ".")])

    said = words.conclusion(report.comparison, report.comparison.differences[0])

    assert said.endswith("Provisional: not everything is rated.")


@pytest.mark.parametrize(
    ("p_holm", "significant"), [(None, False), (0.05, True), (0.0501, False), (0.0, True)]
)
def test_significance_goes_by_the_corrected_p(p_holm: float | None, significant: bool) -> None:
    report = three_runs()
    found: Difference = replace(report.comparison.differences[0], p=0.001, p_holm=p_holm)

    assert words.significant(report.comparison, found) is significant


def test_sentences_come_in_indonesian_with_decimal_commas() -> None:
    with speaking("id"):
        assert precision_difference("R", "R", "R") == (
            "Precision@5 atas 3 pertanyaan yang bernilai pada keduanya: a 1,00, b 0,00; a lebih "
            "tinggi 1,00 daripada b (interval 95% [+1,00; +1,00], p = 0,25, Holm 0,25): tidak "
            "dapat dibedakan."
        )
