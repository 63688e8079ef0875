"""Agreement is taken apart, a rater agrees with themselves, and runs contradict each other."""

from __future__ import annotations

from datetime import timedelta

from tests.conftest import NOW
from tests.metrics.agreement.agreement_oracles import FEW
from webapp.metrics.agreement.agreement import Scale, agreement
from webapp.metrics.agreement.report import (
    CannotTell,
    ItemKind,
    LabelledItem,
    SignTest,
    VerdictByHand,
    conflicts,
    consistency,
    of_kind,
)


def test_over_time_the_first_judged_come_first_in_parts_of_ten_or_more() -> None:
    items = [
        LabelledItem(
            "area", {"Ani": "1", "Budi": "1" if number < 12 else "0"}, NOW - timedelta(number)
        )
        for number in range(25)
    ]
    parts = of_kind(ItemKind.CARDS, ["Ani", "Budi"], items, FEW).over_time

    # 25 items make two parts, 13 and 12. Number 24 was judged first; 24 to 12 disagree.
    assert [(n_items, found.raw.value) for *_, n_items, found in parts] == [(13, 0), (12, 1)]
    assert parts[0][:2] == (NOW - timedelta(24), NOW - timedelta(12))


def test_each_kind_names_its_raters_pairs_and_categories_and_who_cannot_tell() -> None:
    items = [
        LabelledItem("area", {"Ani": "1", "Budi": "unsure"}),
        LabelledItem("price", {"Ani": "0", "Budi": "0"}),
        LabelledItem("area", {"Ani": "1", "Budi": "0"}),
        LabelledItem("price", {}),
    ]
    found = of_kind(ItemKind.CARDS, ["Ani", "Budi", "Citra"], items, FEW)

    assert (found.raters, found.n_items) == (("Ani", "Budi"), 3)  # Citra judged nothing
    assert found.cannot_tell == CannotTell(1, 6)
    assert found.cannot_tell_by["Budi"] == CannotTell(1, 3)
    assert (found.overall.raw.value, found.n_shared) == (0.5, 2)
    assert list(found.pairs) == [("Ani", "Budi")]
    assert {name: n for name, (n, _) in found.categories.items()} == {"area": 2, "price": 1}
    assert found.over_time == ()  # nobody knows when


def test_only_cards_can_be_undecided() -> None:
    items = [LabelledItem("area", {"Ani": 4.0, "Budi": 2.0})]
    found = of_kind(ItemKind.QUALITY, ["Ani", "Budi"], items, FEW)

    assert (found.cannot_tell, dict(found.cannot_tell_by)) == (None, {})
    assert found.overall == agreement([[4, 2]], scale=Scale.ORDINAL, labels=range(6), bootstrap=FEW)


def test_a_repeat_without_a_second_verdict_is_asked_and_not_answered() -> None:
    repeats = [("1", "1"), ("0", "1"), ("1", "unsure"), ("0", None)]
    found = consistency("Ani", ItemKind.CARDS, repeats, FEW)

    assert (found.asked, found.answered) == (4, 3)
    assert (found.agreement.raw.value, found.agreement.raw.n) == (0.5, 2)  # decided both times


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
            *("hybrid 10 a pass", "api_only 10 a fail", "vector_only 10 a pass"),
            *("hybrid 1 a pass", "api_only 1 a fail"),
            *("hybrid 1 b pass", "api_only 1 b pass"),  # agree
            *("hybrid 2 c pass", "api_only 3 c fail"),  # other questions
            *("hybrid 4 d fail", "hybrid 4 d fail"),  # one run alone
            *("hybrid 5 e fail", "vector_only 5 e pass", "vector_only 5 e pass"),
        ),
        RUNS,
    )

    assert report.pairs_judged_more_than_once == 4
    assert list(report.contradictions) == [(1, "a"), (5, "e"), (10, "a")]
    assert report.contradictions[1, "a"] == {"hybrid": True, "api_only": False}
    assert report.favours == {"hybrid": 2, "api_only": 0, "vector_only": 2}
    assert report.sign_tests == (
        SignTest(("hybrid", "api_only"), 2, 0, 0.5),  # 2 x 1/4
        SignTest(("hybrid", "vector_only"), 0, 1, 1.0),
        SignTest(("api_only", "vector_only"), 0, 1, 1.0),
    )


def test_a_run_that_says_both_has_no_verdict_on_the_pair_and_is_named() -> None:
    report = conflicts(
        verdicts(
            *("hybrid 1 a pass", "hybrid 1 a fail"),
            *("api_only 1 a fail", "vector_only 1 a pass"),
            *("hybrid 2 b pass", "hybrid 2 b fail", "api_only 2 b fail"),
        ),
        RUNS,
    )

    assert report.self_contradictions == (("hybrid", 1, "a"), ("hybrid", 2, "b"))
    assert report.pairs_judged_more_than_once == 1
    assert report.contradictions == {(1, "a"): {"api_only": False, "vector_only": True}}
    assert report.favours == {"hybrid": 0, "api_only": 0, "vector_only": 1}


def test_without_verdicts_nothing_leans() -> None:
    report = conflicts([], RUNS)

    assert (report.pairs_judged_more_than_once, report.contradictions) == (0, {})
    assert [test.p for test in report.sign_tests] == [1.0, 1.0, 1.0]
