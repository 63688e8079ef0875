"""Laws of people with a machine's help that hold for every sample and every machine."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webapp.metrics.planning.assisted import (
    AssistedMean,
    MeanEstimate,
    Moments,
    assisted_mean,
    needed,
)

SHARES = st.integers(0, 20).map(lambda parts: parts / 20)
SAMPLED = st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=15)
UNSAMPLED = st.lists(SHARES, min_size=1, max_size=15)


class TestPeopleAlone:
    """People alone are their mean, whatever the machine says."""

    @given(SAMPLED, UNSAMPLED)
    def test_the_mean_is_that_of_the_sample(
        self, sampled: list[tuple[float, float]], unsampled: list[float]
    ) -> None:
        people, machine = zip(*sampled, strict=True)
        found = assisted_mean(people, machine, unsampled)

        assert found.alone is not None
        assert found.alone.value == pytest.approx(sum(people) / len(people))

    @given(SAMPLED, UNSAMPLED)
    def test_a_machine_without_weight_changes_nothing(
        self, sampled: list[tuple[float, float]], unsampled: list[float]
    ) -> None:
        people, machine = zip(*sampled, strict=True)
        found = assisted_mean(people, machine, unsampled)
        assume(found.weight == 0)

        assert found.assisted is not None
        assert found.alone is not None
        assert found.assisted.value == pytest.approx(found.alone.value)
        assert found.assisted.width == pytest.approx(found.alone.width)


class TestAgreeingMachine:
    """A machine that says what people say is weighed by the share of questions it adds."""

    @given(st.lists(SHARES, min_size=2, max_size=15), st.integers(1, 5))
    def test_with_the_same_values_unsampled_the_mean_is_theirs(
        self, people: list[float], times: int
    ) -> None:
        assume(len(set(people)) > 1)
        found = assisted_mean(people, people, people * times)

        assert found.assisted is not None
        assert found.weight is not None
        assert found.assisted.value == pytest.approx(sum(people) / len(people))
        # cov / var: divided by n and by n + N - 1, of equal values.
        of = len(people) * (times + 1)
        assert found.weight == pytest.approx((of - 1) / of * times / (times + 1))
        assert found.correlation == pytest.approx(1)
        assert found.share_saved is not None
        assert found.share_saved > 0


class TestShift:
    """A machine that is off by the same amount everywhere helps as much as one that is not."""

    @given(SAMPLED, UNSAMPLED, st.sampled_from([-0.5, 0.25, 1.0]))
    def test_the_estimate_does_not_move(
        self, sampled: list[tuple[float, float]], unsampled: list[float], shift: float
    ) -> None:
        people, machine = zip(*sampled, strict=True)
        found = assisted_mean(people, machine, unsampled)
        assume(found.assisted is not None)
        moved = assisted_mean(people, [f + shift for f in machine], [f + shift for f in unsampled])

        assert moved.assisted is not None
        assert found.assisted is not None
        assert moved.assisted.value == pytest.approx(found.assisted.value)
        assert moved.assisted.width == pytest.approx(found.assisted.width)
        assert 0 <= (found.weight or 0) <= 1


class TestNeeded:
    """A machine's help never asks people for more, and a wider interval never for more."""

    @given(SHARES, SHARES, st.floats(-1, 1), st.integers(3, 200), st.sampled_from([0.05, 0.2, 0.5]))
    def test_help_and_width_never_cost(
        self, people: float, machine: float, correlation: float, of: int, width: float
    ) -> None:
        moments = Moments(people, machine, correlation * (people * machine) ** 0.5)
        found = AssistedMean(10, of, 0.95, alone=MeanEstimate(0.5, 0.1, 0.0, 1.0), moments=moments)
        helped = needed(found, width=width) or of
        alone = needed(found, width=width, help_given=False) or of
        wider = needed(found, width=2 * width) or of

        assert wider <= helped <= alone
