"""Agreement is taken apart by time, and a rater agrees with themselves."""

from __future__ import annotations

from datetime import timedelta

from tests.conftest import NOW
from tests.metrics.agreement.tables import FEW
from webapp.metrics.agreement.agreement import Scale
from webapp.metrics.agreement.report import CannotTell, ItemKind, LabelledItem, consistency, of_kind


def test_over_time_the_first_judged_come_first_in_parts_of_ten_or_more() -> None:
    items = [
        LabelledItem(
            "area", {"Ani": "1", "Budi": "1" if number < 12 else "0"}, NOW - timedelta(number)
        )
        for number in range(25)
    ]
    parts = of_kind(ItemKind.CARDS, ["Ani", "Budi"], items, FEW).over_time

    # 25 items make two parts, 13 and 12. Number 24 was judged first; 24 to 12 disagree.
    assert [part.n_items for part in parts] == [13, 12]
    assert [part.agreement.raw.value for part in parts] == [0, 1]
    assert parts[0].first == NOW - timedelta(24)
    assert parts[0].last == NOW - timedelta(12)


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
    assert [pair.raters for pair in found.pairs] == [("Ani", "Budi")]
    assert [(one.category, one.n_items) for one in found.categories] == [("area", 2), ("price", 1)]
    assert found.over_time == ()  # nobody knows when


def test_only_cards_can_be_undecided() -> None:
    items = [LabelledItem("area", {"Ani": 4.0, "Budi": 2.0})]
    found = of_kind(ItemKind.QUALITY, ["Ani", "Budi"], items, FEW)

    assert (found.cannot_tell, dict(found.cannot_tell_by)) == (None, {})
    assert (found.kind.scale, found.kind.labels) == (Scale.ORDINAL, (0, 1, 2, 3, 4, 5))


def test_a_repeat_without_a_second_verdict_is_asked_and_not_answered() -> None:
    repeats = [("1", "1"), ("0", "1"), ("1", "unsure"), ("0", None)]
    found = consistency("Ani", ItemKind.CARDS, repeats, FEW)

    assert (found.asked, found.answered) == (4, 3)
    assert (found.agreement.raw.value, found.agreement.raw.n) == (0.5, 2)  # decided both times
