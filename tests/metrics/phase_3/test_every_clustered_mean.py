"""Laws of a bootstrap over participants that hold for every set of answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webapp.metrics.comparisons.significance import Resampling, mean_intervals
from webapp.metrics.judging.figures import Sum
from webapp.metrics.phase_3.user_study import clustered_mean

SETTINGS = Resampling(resamples=200)
SHARES = st.floats(0, 1, allow_nan=False)
PEOPLE = st.lists(st.lists(SHARES, min_size=1, max_size=10), min_size=2, max_size=12)


class TestOneQuestionEach:
    """Where each participant asked one question, it is the plain bootstrap over questions."""

    @given(st.lists(SHARES, min_size=2, max_size=30))
    def test_the_interval_is_the_plain_one(self, values: list[float]) -> None:
        (plain,) = mean_intervals([values], SETTINGS)

        assert clustered_mean([Sum(value, 1) for value in values], SETTINGS).interval == plain


class TestWithinWhatPeopleGave:
    """No resample's mean leaves the range from the least to the best served participant."""

    @given(PEOPLE)
    def test_the_interval_lies_between_the_extremes(self, people: list[list[float]]) -> None:
        found = clustered_mean([Sum(sum(own), len(own)) for own in people], SETTINGS)

        means = [sum(own) / len(own) for own in people]
        assert found.interval.lower is not None
        assert found.interval.upper is not None
        assert min(means) - 1e-9 <= found.interval.lower <= found.interval.upper
        assert found.interval.upper <= max(means) + 1e-9


class TestEverybodyTwice:
    """Each answer given twice by each participant changes neither the mean nor the interval."""

    @given(PEOPLE)
    def test_repeating_answers_narrows_nothing(self, people: list[list[float]]) -> None:
        once = clustered_mean([Sum(sum(own), len(own)) for own in people], SETTINGS)
        twice = clustered_mean([Sum(2 * sum(own), 2 * len(own)) for own in people], SETTINGS)

        assert twice.interval == once.interval
        assert (twice.value, twice.clusters, twice.n) == (once.value, once.clusters, 2 * once.n)
