"""The sentences of a comparison: exact ones for small cases, and never a winner."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from tests.exporters.comparisons.comparisons import (
    CORRECT_EMPTY,
    FAILED,
    FALSE_NEGATIVE,
    UNCLASSIFIED,
    UNREADABLE,
    comparison_report,
    run,
    three_runs,
)
from webapp import labels
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.document import document
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.comparisons.stability import Stability
from webapp.records import Blindness, GivenOn

pytestmark = pytest.mark.usefixtures("english")


def test_nothing_that_is_said_names_a_winner() -> None:
    found = document(three_runs(), datetime(2026, 1, 1, tzinfo=UTC).date())
    said = " ".join(sentence for section in found.sections for sentence in section.sentences)

    assert "winner" not in said.lower()
    assert "best" not in said.lower()


@pytest.mark.parametrize(
    ("judged", "sentence"),
    [
        (".", "b is not rated: it has no figures yet and loses to no other run."),
        (UNREADABLE, "The answer of b to question 1 could not be read: it is in no denominator."),
        (FAILED, "The call of b for question 1 failed: it counts as no success."),
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
    counted = words.provenance(replace(report, cannot_tell="left_out"))
    assert counted.endswith(labels.CANNOT_TELL["left_out"])
    nobody = replace(report, raters=(), judged_until=None)
    assert "nobody yet" in words.provenance(nobody)
    assert "no verdict yet" in words.provenance(nobody)


def test_settings_name_tests_resamples_seed_and_correction() -> None:
    said = words.settings(Resampling(resamples=10_000, seed=42))

    for part in ("bootstrap", "10,000", "randomisation", "McNemar", "Holm", "Seed 42"):
        assert part in said


def test_blind_open_and_unrecorded_verdicts_are_counted() -> None:
    """30 cards were judged blind; 80 cards and 2 empty lists with the method in the page's head."""
    until = datetime(2026, 11, 24, 11, 48, tzinfo=UTC)
    found = Blindness(GivenOn(112, 30, 82, until), GivenOn(30, 28, 1, until))

    assert words.blindness(replace(three_runs(), blindness=found)).startswith(
        "30 of 112 verdicts were given blind (names of run and method hidden); "
        "82 with the method visible, until 24 Nov 2026, 11:48 (+00:00). "
        "28 of 30 grades of response quality were given blind; "
        "1 with the method visible, until 24 Nov 2026, 11:48 (+00:00); for 1 it is not recorded."
    )


def test_before_the_first_verdict_nothing_is_called_blind() -> None:
    said = words.blindness(replace(three_runs(), blindness=Blindness()))

    assert said == "No verdict has been given yet."


def test_badges_shown_to_blind_raters_are_said() -> None:
    report = replace(three_runs(), badged=(datetime(2026, 1, 5, 7, 0, tzinfo=UTC),))

    said = words.blindness(report)
    assert ". Constraint badges on the cards" in said
    assert "for blind raters on 5 Jan 2026" in said
    assert "badges" not in words.blindness(three_runs())


def test_that_raters_saw_the_record_is_said() -> None:
    report = replace(three_runs(), record_shown=(datetime(2026, 1, 5, 7, 0, tzinfo=UTC),))

    assert "record of a listing" in words.blindness(report)


def test_that_blind_raters_were_offered_a_grade_is_said() -> None:
    report = replace(three_runs(), suggested=(datetime(2026, 1, 5, 7, 0, tzinfo=UTC),))

    assert "A grade suggested" in words.blindness(report)
    assert "suggested" not in words.blindness(three_runs())
    assert "record of a listing" not in words.blindness(three_runs())


def test_few_pairs_are_called_small() -> None:
    assert (words.smallness(three_runs().comparison) or "").startswith("Small: with 1 to 6 pairs")
    many = comparison_report([run("a", *["R"] * 50), run("b", *["N"] * 50)])
    assert words.smallness(many.comparison) is None
