"""The answer of a comparison in two sentences."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from webapp.exporters.comparisons.answer import answer
from webapp.metrics.comparisons.differences import Difference
from webapp.metrics.comparisons.intervals import Interval
from webapp.metrics.comparisons.resampling import Resampling

pytestmark = pytest.mark.usefixtures("english")

TESTED = "tests at 5% after Holm's correction"
MAIN = ("mean_precision_at_5", "mrr")


@dataclass(frozen=True)
class Runs:
    """Runs with the differences that a test gives them."""

    differences: tuple[Difference, ...]
    partial: str = ""
    settings: Resampling = field(default_factory=Resampling)

    def name(self, run: str) -> str:
        """The name of a run."""
        return run.capitalize()

    def is_partial(self, run: str) -> bool:
        """Whether a run is the one that is not rated to its end."""
        return run == self.partial


def apart(
    figure: str, first: str, second: str, mean: float | None, p: float, n: int = 30
) -> Difference:
    """A difference with its corrected p-value."""
    nothing = Interval(None, None, 0)
    return Difference(
        figure, False, first, second, n, mean, nothing, mean, "test", True, p, p, 0, 0, 0
    )


def test_a_significant_difference_says_who_is_ahead_on_what() -> None:
    found = answer(
        Runs(
            (
                apart("mean_precision_at_5", "api", "hybrid", -0.2, 0.01),
                apart("mrr", "api", "hybrid", -0.1, 0.05, n=28),
                apart("mrr", "api", "vector", 0.1, 0.051),
            )
        ),
        MAIN,
    )

    assert found == (
        "Hybrid is ahead of Api on Precision@5 and MRR.",
        f"Cannot be told apart on MRR: Api – Vector ({TESTED}, over 28 to 30 questions).",
    )


def test_a_run_that_is_not_finished_makes_the_answer_provisional() -> None:
    found = answer(Runs((apart("mrr", "api", "hybrid", 0.1, 0.01),), partial="hybrid"), MAIN)

    assert found == (
        "Api is ahead of Hybrid on MRR.",
        "Every difference is significant (tests at 5% after Holm's correction, over 30 questions).",
        "Provisional: not everything is rated.",
    )


def test_runs_that_share_no_question_conclude_nothing() -> None:
    found = answer(Runs((apart("mrr", "api", "hybrid", None, 1.0, n=0),)), MAIN)

    assert found == ("Nothing can be concluded yet: no two runs share a rated question.",)


def test_of_many_pairs_the_rest_is_counted() -> None:
    pairs = tuple(apart("mrr", "api", f"run {n}", 0.1, 1.0) for n in range(8))
    listed = ", ".join(f"Api – Run {n}" for n in range(6))
    assert answer(Runs(pairs), MAIN)[1] == (
        f"Cannot be told apart on MRR: {listed} and 2 more ({TESTED}, over 30 questions)."
    )
