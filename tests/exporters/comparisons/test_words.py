"""The sentences of a comparison: exact ones for small cases, and never a winner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.exporters.comparisons.comparisons import (
    CORRECT_EMPTY,
    FAILED,
    FALSE_NEGATIVE,
    QUICK,
    UNCLASSIFIED,
    UNREADABLE,
    comparison_report,
    run,
    three_runs,
)
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.document import document
from webapp.i18n import speaking
from webapp.metrics.comparisons.differences import Difference
from webapp.metrics.comparisons.resampling import Resampling
from webapp.metrics.comparisons.stability import Stability


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with speaking("en"):
        yield


def precision_difference(*judged: str, other: str = "N", settings: Resampling = QUICK) -> str:
    report = comparison_report(
        [run("a", *judged), run("b", *([other] * len(judged)))], settings=settings
    )
    return words.conclusion(report.comparison, report.comparison.differences[0])


def test_a_difference_that_chance_explains_is_not_distinguishable() -> None:
    # three questions, each 1 against 0: 2 of the 8 signs are as extreme, p = 0.25
    assert precision_difference("R", "R", "R") == (
        "Precision@5: a is 1.00 higher than b (95% interval [+1.00; +1.00], n = 3, p = 0.25, "
        "Holm 0.25): not distinguishable."
    )


def test_a_difference_beyond_chance_is_significant() -> None:
    # six questions: 2 of the 64 signs, p = 0.03125
    assert precision_difference(*"RRRRRR") == (
        "Precision@5: a is 1.00 higher than b (95% interval [+1.00; +1.00], n = 6, p = 0.03125, "
        "Holm 0.03125): significant at 5%."
    )


def test_the_higher_run_comes_first_and_the_interval_turns_with_it() -> None:
    said = precision_difference("N", "NR", other="RN")  # 0 - 0.5 and 0.5 - 0.5: mean -0.25

    assert "b is 0.25 higher than a" in said
    assert "[0.00; +0.50]" in said


def test_equal_runs_are_level() -> None:
    assert "a and b are equal" in precision_difference("R", "R", other="R")


def test_one_pair_has_no_interval() -> None:
    assert "too few for an interval, n = 1" in precision_difference("R")


def test_a_tiny_difference_is_not_called_zero() -> None:
    # 1 relevant of 400 against none is 0.0025 in overall precision
    report = comparison_report([run("a", "R" + "N" * 399), run("b", "N" * 400)])
    found = report.comparison.differences_of("mean_overall_precision")[0]

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


def test_nothing_that_is_said_names_a_winner() -> None:
    found = document(three_runs(), datetime(2026, 1, 1, tzinfo=UTC).date())
    said = " ".join(sentence for section in found.sections for sentence in section.sentences)

    assert "winner" not in said.lower()
    assert "best" not in said.lower()


@pytest.mark.parametrize(
    ("judged", "sentence"),
    [
        (".", "b is not rated: it has no figures yet and loses to no other run."),
        (UNREADABLE, "The answers of b to question 1 could not be read: they are in no"),
        (FAILED, "The calls of b for question 1 failed: they count as no success."),
        (None, "b was not asked question 1: no figure of it counts them."),
    ],
)
def test_what_a_run_lacks_is_said_plainly(judged: object, sentence: str) -> None:
    report = comparison_report([run("a", "R"), run("b", judged)])  # type: ignore[arg-type]

    said = list(words.lacks(report.comparison.contenders[1]))

    assert any(line.startswith(sentence) for line in said)


def test_open_questions_of_a_rated_run_are_listed() -> None:
    report = comparison_report([run("a", "R", "R", "R"), run("b", "R", ".", UNCLASSIFIED)])

    assert "b waits for verdicts on questions 2, 3: its figures are provisional." in list(
        words.lacks(report.comparison.contenders[1])
    )


def test_many_positions_are_counted_after_the_first() -> None:
    assert words.positions(range(1, 15)) == (
        "questions 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more"
    )


def test_a_complete_run_lacks_nothing() -> None:
    report = comparison_report([run("a", "R", CORRECT_EMPTY), run("b", "N", FALSE_NEGATIVE)])

    assert [list(words.lacks(c)) for c in report.comparison.contenders] == [[], []]


def test_the_order_that_survives_is_said_in_one_sentence() -> None:
    assert words.stability(Stability({}, ())) == "No other way of counting could be tried."
    report = comparison_report([run("a", *"RRRR"), run("b", *"NNNN")])

    assert words.stability(report.stability) == (
        f"The order of the runs stays the same in all {report.stability.tried} variations tried."
    )


def test_the_order_that_moves_says_how_often() -> None:
    # precision@1 turns the order round: 1 against 0, while P@5 is 1/3 against 2/3
    report = comparison_report([run("a", "RNN", "RNN"), run("b", "NRR", "NRR")])

    assert "two runs change places" in words.stability(report.stability)
    moved = {words.variation(v) for line in report.stability.lines for v in line.moved}
    assert "K = 1" in moved


def test_provenance_names_raters_rule_time_and_version() -> None:
    report = three_runs()

    assert words.provenance(report).startswith(
        "Rated by: Ani (1,200), Budi (34). Rule: Majority of all raters. Verdicts until: "
        "22 Jan 2026"
    )
    assert words.provenance(report).endswith("Relevansi 0.1.0.")
    nobody = replace(report, raters=(), judged_until=None)
    assert "nobody yet" in words.provenance(nobody)
    assert "no verdict yet" in words.provenance(nobody)


def test_settings_name_tests_resamples_seed_and_correction() -> None:
    said = words.settings(Resampling(resamples=10_000, seed=42))

    for part in ("bootstrap", "10,000", "randomisation", "McNemar", "Holm", "Seed 42"):
        assert part in said


def test_unblinding_is_said() -> None:
    report = replace(three_runs(), unblinded=(datetime(2026, 1, 5, 7, 0, tzinfo=UTC),))

    assert words.blindness(report).startswith("Blind; unblinded on 5 Jan 2026")
    assert words.blindness(replace(report, unblinded=(), blind=False)).startswith("Not blind")


def test_badges_shown_to_blind_raters_are_said() -> None:
    report = replace(three_runs(), badged=(datetime(2026, 1, 5, 7, 0, tzinfo=UTC),))

    said = words.blindness(report)
    assert said.startswith("Blind: raters saw neither run nor method. Constraint badges")
    assert "for blind raters on 5 Jan 2026" in said
    assert "badges" not in words.blindness(three_runs())


def test_that_raters_saw_the_record_is_said() -> None:
    report = replace(three_runs(), record_shown=(datetime(2026, 1, 5, 7, 0, tzinfo=UTC),))

    assert "record of a listing" in words.blindness(report)
    assert "record of a listing" not in words.blindness(three_runs())


@pytest.mark.parametrize(
    ("p_holm", "significant"), [(None, False), (0.05, True), (0.0501, False), (0.0, True)]
)
def test_significance_goes_by_the_corrected_p(p_holm: float | None, significant: bool) -> None:
    report = three_runs()
    found: Difference = replace(report.comparison.differences[0], p=0.001, p_holm=p_holm)

    assert words.significant(report.comparison, found) is significant


def test_few_pairs_are_called_small() -> None:
    assert (words.smallness(three_runs().comparison) or "").startswith("Small: with 1 to 6 pairs")
    many = comparison_report([run("a", *["R"] * 50), run("b", *["N"] * 50)])
    assert words.smallness(many.comparison) is None


def test_sentences_come_in_indonesian_with_decimal_commas() -> None:
    with speaking("id"):
        assert precision_difference("R", "R", "R") == (
            "Precision@5: a lebih tinggi 1,00 daripada b (interval 95% [+1,00; +1,00], n = 3, "
            "p = 0,25, Holm 0,25): tidak dapat dibedakan."
        )
