"""Which questions are asked again follows from the secret and the share, and never changes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.services.rating import pool
from webapp.services.rating.pool import Unit


def plan_of(rater: Rater, in_order: Sequence[Unit], again: Sequence[Unit] = ()) -> dict[Unit, int]:
    return pool.planned(rater, in_order, set(in_order), set(again))


@pytest.mark.parametrize("percent", [0, 5, 33, 100])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 30])
def test_the_plan_holds_from_the_first_question_to_the_last(size: int, percent: int) -> None:
    """Walked through for many seeds: as planned at first, never too soon, all of it at the end."""
    for seed in range(20):
        rater = Rater(id=7, study=Study(order_secret=f"{seed:064x}", repeat_percent=percent))
        free = [Unit(number) for number in range(size)]
        given: list[Unit] = []
        again: list[Unit] = []
        walk: list[Unit] = []
        promised = plan_of(rater, free)
        assert len(promised) == pool.count(size, percent)
        while True:
            plan = plan_of(rater, [*given, *free], again)
            assert plan == {unit: after for unit, after in promised.items() if unit not in again}
            unit = next(iter(plan), None)
            if unit is not None and plan[unit] <= len(given):
                assert len(walk) - walk.index(unit) > pool.TASKS_BETWEEN
                again.append(unit)
            elif free:
                unit = free.pop(0)
                given.append(unit)
            else:
                break
            walk.append(unit)
        assert len(again) == len(promised)


def test_the_share_of_another_rater_draws_other_questions() -> None:
    study = Study(order_secret=f"{1:064x}", repeat_percent=10)
    free = [Unit(number) for number in range(60)]
    plans = [plan_of(Rater(id=number, study=study), free).keys() for number in (1, 2)]

    assert [len(plan) for plan in plans] == [6, 6]
    assert plans[0] != plans[1]


def test_a_question_whose_run_was_deleted_is_not_asked_again() -> None:
    rater = Rater(id=7, study=Study(order_secret=f"{3:064x}", repeat_percent=100))
    in_order = [Unit(number) for number in range(8)]
    left = set(in_order[3:])

    plan = pool.planned(rater, in_order, left, set())

    assert set(plan) == {Unit(3), Unit(4), Unit(5)}
