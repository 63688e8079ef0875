"""The answer of a comparison in two sentences: who is ahead, what cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from webapp.exporters.comparisons.words import answer
from webapp.i18n import speaking
from webapp.metrics.comparisons.differences import Difference
from webapp.metrics.comparisons.significance import Interval, Resampling

pytestmark = pytest.mark.usefixtures("english")

TESTED = "tests at 5% after Holm's correction over"
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
        f"Api cannot be told apart from Vector on MRR, in {TESTED} 28 to 30 questions.",
    )


def test_runs_alike_on_several_figures_are_named_once() -> None:
    pairs = (("api", "vector"), ("api", "hybrid"), ("vector", "hybrid"))
    found = answer(
        Runs(
            tuple(
                apart(figure, *pair, 0.1, 0.01 if (figure, pair) == ("mrr", pairs[2]) else 0.5)
                for pair in pairs
                for figure in MAIN
            )
        ),
        MAIN,
    )

    rest = f"nor Vector from Hybrid on Precision@5, in {TESTED} 30 questions"
    assert found == (
        "Vector is ahead of Hybrid on MRR.",
        f"Api cannot be told apart from Vector or Hybrid on Precision@5 and MRR, {rest}.",
    )


def test_where_all_are_told_apart_the_second_sentence_says_how_sure_that_is() -> None:
    found = answer(
        Runs(
            (
                apart("mrr", "api", "hybrid", 0.1, 0.01),
                apart("mrr", "api", "vector", 0.1, 0.01),
                apart("mrr", "hybrid", "vector", 0.1, 0.01),
            )
        ),
        MAIN,
    )

    assert found == (
        "Api is ahead of Hybrid and Vector on MRR; Hybrid is ahead of Vector on MRR.",
        f"Every difference is significant in {TESTED} 30 questions.",
    )


def test_where_nobody_is_ahead_two_runs_are_named_and_more_are_not() -> None:
    two = (
        apart("mean_precision_at_5", "api", "hybrid", 0.1, 0.5),
        apart("mrr", "api", "hybrid", 0, 1),
    )
    three = (*two, apart("mrr", "api", "vector", 0.1, 1.0))
    alike = f"They cannot be told apart in {TESTED} 30 questions."

    assert answer(Runs(two), MAIN) == (
        "Neither Api nor Hybrid is ahead on Precision@5 or MRR.",
        alike,
    )
    assert answer(Runs(three), MAIN) == (
        "No run is ahead of another on Precision@5 or MRR.",
        alike,
    )


def test_runs_without_a_question_in_common_are_not_said_to_be_alike() -> None:
    found = answer(
        Runs(
            (apart("mrr", "api", "hybrid", 0.1, 1.0), apart("mrr", "api", "vector", None, 1.0, n=0))
        ),
        MAIN,
    )

    assert found == (
        "Neither Api nor Hybrid is ahead on MRR.",
        f"Api cannot be told apart from Hybrid on MRR, in {TESTED} 30 questions.",
    )


def test_a_run_that_is_not_finished_makes_the_answer_provisional() -> None:
    found = answer(Runs((apart("mrr", "api", "hybrid", 0.1, 0.01),), partial="hybrid"), MAIN)

    assert found == (
        "Api is ahead of Hybrid on MRR; this is provisional, as not everything is rated.",
        f"Every difference is significant in {TESTED} 30 questions.",
    )


def test_runs_that_share_no_question_conclude_nothing() -> None:
    found = answer(Runs((apart("mrr", "api", "hybrid", None, 1.0, n=0),)), MAIN)

    assert found == ("Nothing can be concluded yet: no two runs share a rated question.",)
    assert answer(Runs(()), MAIN) == found


def test_of_many_runs_and_pairs_the_rest_is_counted() -> None:
    ahead = apart("mean_precision_at_5", "api", "run 1", 0.1, 0.01)
    star = tuple(apart("mrr", "api", f"run {n}", 0.1, 1.0) for n in range(8))
    chain = tuple(apart("mrr", f"run {n}", f"run {n + 1}", 0.1, 1.0) for n in range(8))
    listed = ", ".join(f"Run {n}" for n in range(6))
    chained = ", nor ".join(f"Run {n} from Run {n + 1} on MRR" for n in range(1, 6))

    assert answer(Runs((ahead, *star)), MAIN)[1] == (
        f"Api cannot be told apart from {listed} and 2 more on MRR, in {TESTED} 30 questions."
    )
    assert answer(Runs((ahead, *chain)), MAIN)[1] == (
        f"Run 0 cannot be told apart from Run 1 on MRR, nor {chained}, nor 2 further pairs, in "
        f"{TESTED} 30 questions."
    )


def test_both_sentences_are_said_in_indonesian() -> None:
    differences = (
        apart("mean_precision_at_5", "api", "hybrid", -0.2, 0.01),
        apart("mrr", "api", "hybrid", -0.1, 0.2),
        apart("mrr", "api", "vector", 0.1, 0.3),
        apart("mrr", "hybrid", "vector", 0.1, 0.3),
    )
    provisional = "ini sementara, karena belum semuanya dinilai"
    rest = "begitu pula Hybrid dari Vector pada MRR"
    tested = "dalam uji pada taraf 5% setelah koreksi Holm atas 30 pertanyaan"
    with speaking("id"):
        found = answer(Runs(differences, partial="api"), MAIN)
        nobody = answer(Runs(differences[1:2]), MAIN)

    assert found == (
        f"Hybrid lebih unggul dari Api pada Precision@5; {provisional}.",
        f"Api tidak dapat dibedakan dari Hybrid atau Vector pada MRR, {rest}, {tested}.",
    )
    assert nobody == (
        "Baik Api maupun Hybrid tidak lebih unggul pada MRR.",
        f"Run-run ini tidak dapat dibedakan {tested}.",
    )
