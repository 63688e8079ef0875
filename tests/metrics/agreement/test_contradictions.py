"""Claims about verdicts by hand that runs contradict each other in."""

from __future__ import annotations

from webapp.metrics.agreement.report import (
    Contradiction,
    SelfContradiction,
    SignTest,
    VerdictByHand,
    conflicts,
)
from webapp.metrics.comparisons.differences import sign_test

RUNS = ["hybrid", "api_only", "vector_only"]


def verdicts(*rows: str) -> list[VerdictByHand]:
    """Verdicts from rows like ``hybrid 3 a pass``."""
    cells = [row.split() for row in rows]
    return [
        VerdictByHand(run, int(query), name, word == "pass") for run, query, name, word in cells
    ]


def test_only_opposite_verdicts_on_one_question_and_property_contradict() -> None:
    report = conflicts(
        verdicts(
            *("hybrid 1 a pass", "api_only 1 a fail"),  # these two
            *("hybrid 1 b pass", "api_only 1 b pass"),  # agree
            *("hybrid 2 c pass", "api_only 3 c fail"),  # other questions
            "hybrid 4 d fail",  # one run alone
        ),
        RUNS,
    )

    assert report.pairs_judged_more_than_once == 2
    assert report.contradictions == (Contradiction(1, "a", {"hybrid": True, "api_only": False}),)
    assert report.favours == {"hybrid": 1, "api_only": 0, "vector_only": 0}


def test_favours_counts_every_pass_and_the_sign_test_is_per_two_runs() -> None:
    report = conflicts(
        verdicts(
            *("hybrid 1 a pass", "api_only 1 a fail", "vector_only 1 a pass"),
            *("hybrid 1 b pass", "api_only 1 b fail"),
            *("hybrid 2 c fail", "vector_only 2 c pass"),
        ),
        RUNS,
    )

    assert report.favours == {"hybrid": 2, "api_only": 0, "vector_only": 2}
    assert report.sign_tests == (
        SignTest(("hybrid", "api_only"), 2, 0, 0.5),  # 2 x 1/4
        SignTest(("hybrid", "vector_only"), 0, 1, 1.0),
        SignTest(("api_only", "vector_only"), 0, 1, 1.0),
    )


def test_a_run_s_repetitions_are_one_verdict() -> None:
    report = conflicts(
        verdicts("hybrid 1 a pass", "hybrid 1 a pass", "api_only 1 a fail", "api_only 1 a fail"),
        RUNS,
    )

    assert report.pairs_judged_more_than_once == len(report.contradictions) == 1
    assert report.favours["hybrid"] == 1
    assert report.sign_tests[0] == SignTest(("hybrid", "api_only"), 1, 0, 1.0)


def test_repetitions_in_one_run_alone_are_not_judged_more_than_once() -> None:
    report = conflicts(verdicts("hybrid 1 a pass", "hybrid 1 a pass"), RUNS)

    assert report.pairs_judged_more_than_once == 0


def test_a_run_that_says_both_has_no_verdict_on_the_pair_and_is_named() -> None:
    report = conflicts(
        verdicts(
            *("hybrid 1 a pass", "hybrid 1 a fail"),
            *("api_only 1 a fail", "vector_only 1 a pass"),
            *("hybrid 2 b pass", "hybrid 2 b fail", "api_only 2 b fail"),
        ),
        RUNS,
    )

    assert report.self_contradictions == (
        SelfContradiction("hybrid", 1, "a"),
        SelfContradiction("hybrid", 2, "b"),
    )
    assert report.pairs_judged_more_than_once == 1
    assert [dict(c.verdicts) for c in report.contradictions] == [
        {"api_only": False, "vector_only": True}
    ]
    assert report.favours == {"hybrid": 0, "api_only": 0, "vector_only": 1}


def test_contradictions_are_in_order_of_question_and_property() -> None:
    shuffled = ["2 a", "10 b", "1 z", "10 a"]
    report = conflicts(
        verdicts(*(f"{run} {pair} {word}" for pair in shuffled
                   for run, word in (("hybrid", "pass"), ("api_only", "fail")))),
        RUNS,
    )  # fmt: skip

    assert [(c.query_id, c.property_id) for c in report.contradictions] == [
        (1, "z"),
        (2, "a"),
        (10, "a"),
        (10, "b"),
    ]


def test_without_verdicts_nothing_leans() -> None:
    report = conflicts([], RUNS)

    assert (report.pairs_judged_more_than_once, report.contradictions) == (0, ())
    assert report.favours == dict.fromkeys(RUNS, 0)
    assert [test.p for test in report.sign_tests] == [1.0, 1.0, 1.0]


def test_21_contradictions_of_which_all_favour_one_run() -> None:
    assert sign_test(21, 0) == 2 / 2**21
