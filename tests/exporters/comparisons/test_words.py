"""The sentences of a comparison: exact ones for small cases, and never a winner."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from relevansi import labels
from relevansi.exporters.comparisons import differences, document, words
from relevansi.metrics.comparisons import differences as pairs
from relevansi.metrics.comparisons.differences import PairedValues
from relevansi.metrics.comparisons.stability import Stability
from relevansi.records import Blindness
from tests.exporters.comparisons.comparisons import (
    CORRECT_EMPTY,
    FAILED,
    FALSE_NEGATIVE,
    UNCLASSIFIED,
    UNREADABLE,
    Judged,
    comparison_report,
    run,
    three_runs,
)

pytestmark = pytest.mark.usefixtures("english")
WHEN = datetime(2026, 1, 5, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("judged", "sentences"),
    [
        ([UNREADABLE, "R"], ["The answer of b to question 1 could not be read: it is in no denom"]),
        ([FAILED, "R"], ["The call of b for question 1 failed: it counts as no success."]),
        ([None, "R"], ["b was not asked question 1: no figure of it counts them."]),
        (["R", ".", UNCLASSIFIED], ["b waits for verdicts on questions 2, 3: its figures are"]),
        (["."], ["b is not rated: it has no figures yet and loses to no other run."]),
        ([FALSE_NEGATIVE], []),
    ],
)
def test_what_a_run_lacks_is_a_sentence(judged: list[Judged], sentences: list[str]) -> None:
    first = run("a", *("R", CORRECT_EMPTY, "R")[: len(judged)])
    report = comparison_report([first, run("b", *judged)])
    missing = words.missing_parts(report.comparison.contenders[1])
    about_cards = [sentence for sentence in missing if "grade" not in sentence]

    assert len(about_cards) == len(sentences)
    assert all(map(str.startswith, about_cards, sentences))
    assert words.positions(range(1, 15)) == (
        "questions 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more"
    )


def test_whether_the_order_survives_is_one_sentence() -> None:
    report = comparison_report([run("a", *"RRRR"), run("b", *"NNNN")])
    # precision@1 turns the order round: 1 against 0, while P@5 is 1/3 against 2/3
    turned = comparison_report([run("a", "RNN", "RNN"), run("b", "NRR", "NRR")]).stability

    assert words.stability(Stability({}, ())) == "No other way of counting could be tried."
    assert words.stability(report.stability) == (
        f"The order of the runs stays the same in all {report.stability.tried} variations tried."
    )
    assert "two runs change places" in words.stability(turned)
    assert "K = 1" in {words.variation(v) for line in turned.lines for v in line.moved}


def test_provenance_names_raters_rule_time_and_version() -> None:
    report = three_runs()

    assert words.provenance(report).startswith(
        "Rated by: Ani (1,200), Budi (34). Rule: Majority of all raters. Verdicts until: "
        "22 Jan 2026"
    )
    assert words.provenance(report).endswith("Relevansi 0.1.0.")
    counts = words.provenance(replace(report, cannot_tell="left_out"))
    assert counts.endswith(labels.CANNOT_TELL["left_out"])
    nobody = replace(report, raters=(), judged_until=None)
    assert "nobody yet" in words.provenance(nobody)
    assert "no verdict yet" in words.provenance(nobody)


def test_what_raters_saw_beyond_the_cards_is_reported() -> None:
    report = three_runs()
    visible = replace(report, badged=(WHEN,), record_shown=(WHEN,), suggested=(WHEN,))
    sentences = words.blindness(visible)

    for part in ("Constraint badges on the cards", "record of a listing", "A grade suggested"):
        assert part in sentences
        assert part not in words.blindness(report)
    assert "for blind raters on 5 Jan 2026" in sentences
    nothing = words.blindness(replace(report, blindness=Blindness()))
    assert nothing == "No verdict has been given yet."


def precision_difference(*judged: str, second: str = "N") -> str:
    report = comparison_report([run("a", *judged), run("b", *([second] * len(judged)))])
    return differences.conclusion(report.comparison.differences[0])


@pytest.mark.parametrize(
    ("judged", "second", "parts"),
    [
        (  # three questions, each 1 against 0: 2 of the 8 signs are as extreme, p = 0.25
            ["R", "R", "R"],
            "N",
            [
                "Precision@5 over the 3 questions where both have a value: a 1.00, b 0.00; ",
                "a is 1.00 higher than b (95% interval [−0.12; +1.00], p = 0.25, Holm 0.25): no",
            ],
        ),
        (["R"] * 6, "N", ["p = 0.031, Holm 0.031): significant at 5%."]),  # 2 of 64 signs
        # 0 - 0.5 and 0.5 - 0.5: mean -0.25; the interval turns with the order
        (["N", "NR"], "RN", ["b is 0.25 higher than a", "[−0.30; +0.51]"]),
        (["R", "R"], "R", ["a and b are equal"]),
        (["R"], "N", ["over the 1 question where", "(too few for an interval, p = 1"]),
        (["R"], ".", ["Precision@5: a and b share no question with a value"]),
    ],
)
def test_a_conclusion_has_the_difference_its_interval_and_its_p(
    judged: list[str], second: str, parts: list[str]
) -> None:
    sentence = precision_difference(*judged, second=second)

    assert [part for part in parts if part not in sentence] == []
    assert "the other way round" not in sentence


def test_an_interval_without_0_beside_a_corrected_test_that_does_not_reject_is_explained() -> None:
    # 8 of 12 questions won, none lost: p = 2 / 2^8; of ten runs with 45 pairs Holm is 0.35.
    values = tuple((1.0, float(n >= 8)) for n in range(12))
    (result,) = pairs.paired_differences([PairedValues("mrr", "a", "b", values, None)], together=45)
    result = replace(result, p_holm=45 * (result.p or 0))
    sentence = differences.conclusion(result)
    assert result.interval.lower is not None
    assert result.interval.lower > 0
    assert "no difference shown" in sentence
    assert "The interval is of this pair alone" in sentence
    assert "of this pair alone" not in differences.conclusion(replace(result, p_holm=0.01))


def test_an_order_that_pairing_reverses_is_reported() -> None:
    report = comparison_report(
        [
            run("a", "R", "N", "N", "R"),  # (1 + 0 + 0 + 1) / 4 = 0.5
            run("b", "RN", CORRECT_EMPTY, CORRECT_EMPTY, "RRN"),  # (1/2 + 2/3) / 2 = 0.5833
        ]
    )
    result = report.comparison.differences[0]
    sentence = differences.conclusion(result)

    assert result.headline == pytest.approx(0.5 - 7 / 12)
    assert result.reverses_headline
    assert (
        "over the 2 questions where both have a value: a 1.00, b 0.58; a is 0.42 higher" in sentence
    )
    assert "the other way round" in sentence
    limits = document.limits(report)
    assert "over the 2 questions where both have a value: a 1.00, b 0.58" in limits


def test_a_conclusion_about_a_partial_run_is_provisional_and_significance_goes_by_holm() -> None:
    report = comparison_report([run("a", "R", "R"), run("b", "N", ".")])
    result = report.comparison.differences[0]

    sentence = differences.conclusion(result)
    assert sentence.endswith("Provisional: not everything is rated.")
    for p_holm, significant in ((None, False), (0.05, True), (0.0501, False), (0.0, True)):
        corrected = replace(result, p=0.001, p_holm=p_holm)
        assert corrected.significant is significant
