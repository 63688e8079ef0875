"""A sample can be drawn again from its seed and the draws that made it."""

from __future__ import annotations

from collections import Counter

import pytest

from webapp.metrics.planning import draws
from webapp.metrics.planning.draws import SampleDraw
from webapp.metrics.planning.sampling import random_order

CATEGORIES = {n: "b" if n % 3 == 0 else "a" for n in range(1, 13)}


def numbers(*made: SampleDraw, seed: int = 7) -> list[int]:
    return [one.question for one in draws.drawn_again(CATEGORIES, made, seed)]


def test_without_strata_a_sample_is_the_beginning_of_one_random_order() -> None:
    order = random_order(tuple(CATEGORIES), 7)

    assert numbers(SampleDraw(5)) == list(order[:5])
    assert numbers(SampleDraw(2), SampleDraw(1), SampleDraw(2)) == list(order[:5])
    assert numbers(SampleDraw(99)) == list(order)


def test_each_category_has_its_share_and_one_can_have_more() -> None:
    # Of 12 questions 8 are of "a": 3 have 2 and 1; two more of "b", then 2 more in proportion.
    shares = [SampleDraw(3, stratified=True)]
    assert Counter(CATEGORIES[one] for one in numbers(*shares)) == {"a": 2, "b": 1}
    shares.append(SampleDraw(2, stratified=True, category="b"))
    assert Counter(CATEGORIES[one] for one in numbers(*shares)) == {"a": 2, "b": 3}
    assert numbers(*shares)[:3] == numbers(*shares[:1])
    shares.append(SampleDraw(2, stratified=True))
    # 7 in proportion are 4.67 and 2.33, so 5 and 2: "b" keeps its 3.
    assert Counter(CATEGORIES[one] for one in numbers(*shares)) == {"a": 5, "b": 3}


def test_draws_are_read_as_they_were_written() -> None:
    made = (SampleDraw(3, stratified=True), SampleDraw(2, category="b"))

    assert draws.from_settings({"draws": draws.to_settings(made)}) == made
    assert draws.from_settings({"size": 4}) == (SampleDraw(4),)
    assert draws.from_settings({"size": 4, "stratified": True}) == (SampleDraw(4, stratified=True),)


@pytest.mark.parametrize(
    "wrong",
    [3, "draws", [3], [{}], [{"n": -1}], [{"n": True}], [{"n": "3"}], [{"n": 3, "stratified": 1}],
     [{"n": 3, "category": 4}], [{"n": 1}] * (draws.MOST_DRAWS + 1)],
)  # fmt: skip
def test_other_values_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="draws"):
        draws.from_settings({"draws": wrong})
