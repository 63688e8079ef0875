"""The answer of a comparison: a winner only by a test, and nothing before all is judged."""

from __future__ import annotations

from itertools import pairwise

import pytest
from markupsafe import Markup
from msgspec.structs import replace

from relevansi.exporters.comparisons import answers
from relevansi.exporters.frame.charts import State as Drawn
from relevansi.metrics.comparisons import differences as pairs
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.metrics.comparisons.differences import Difference, PairedValues
from relevansi.records import State
from tests.exporters.comparisons.comparisons import comparison_report, run

pytestmark = pytest.mark.usefixtures("english")
EVERY = ("api", "vector", "hybrid")


def apart(figure: str, first: str, second: str, mean: float | None, p: float) -> Difference:
    """A difference with its corrected p-value."""
    (result,) = pairs.paired_differences([PairedValues(figure, first, second, ((0.0, 0.0),), mean)])
    return replace(result, mean=mean, p=p, p_holm=p, n=30)


def verdicts(*tests: Difference, names: tuple[str, ...] = EVERY) -> str:
    tested = [test for test in tests if test.mean is not None]
    return " ".join(answers.verdicts(tested, {run: run.capitalize() for run in names}))


NOTHING = (apart("mrr", "api", "vector", 0.1, 0.5), apart("mrr", "api", "hybrid", 0.2, 0.06))
LAST = apart("mrr", "vector", "hybrid", -0.2, 0.05)


@pytest.mark.parametrize(
    ("tests", "sentences"),
    [
        (
            (*NOTHING, LAST),
            "Hybrid is ahead of Vector on MRR. Api cannot be told apart from either.",
        ),
        (
            (*NOTHING, replace(LAST, p_holm=0.051)),
            "No difference between Api, Vector and Hybrid could be shown.",
        ),
        (
            (*NOTHING, LAST, apart("mean_precision_at_5", "vector", "hybrid", -0.1, 0.01)),
            (
                "Hybrid is ahead of Vector on MRR and Precision@5. "
                "Api cannot be told apart from either."
            ),
        ),
        (  # one ahead of both others, which are not told apart
            (*(replace(test, p_holm=0.01) for test in NOTHING), replace(LAST, p_holm=0.3)),
            (
                "Api is ahead of Vector and Hybrid on MRR. "
                "No difference between Vector and Hybrid could be shown."
            ),
        ),
        (
            (*NOTHING, apart("mrr", "vector", "hybrid", None, 1.0)),  # share no question
            "Api cannot be told apart from either.",
        ),
        ((), "Nothing can be concluded yet: no two runs share a rated question."),
    ],
)
def test_only_a_test_puts_a_method_ahead(tests: tuple[Difference, ...], sentences: str) -> None:
    assert verdicts(*tests) == sentences


def test_many_pairs_are_counted() -> None:
    names = ("a", "b", "c", "d", "e", "f")
    tests = [apart("mrr", "a", "b", 0.1, 0.01)]
    tests += [apart("mrr", first, second, 0.1, 1) for first, second in pairwise(names)]

    assert "Between 4 further pairs no difference could be shown." in verdicts(*tests, names=names)


def two_runs(*judged: str, state: State | None = None) -> ComparisonReport:
    """A run of hits only against the rows of `judged`."""
    hits = run("a", *("RRRRR" for _ in judged))
    return replace(comparison_report([hits, run("b", *judged)]), state=state)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (State(30, 16, cards=53), "No answer yet: 14 of 30 questions are still to be rated."),
        (State(30, 30, ties=17), "No answer yet: 17 ties are still to be decided."),
        (State(30, 30, behind={"Ani": 2}), "No answer yet. Still rating: Ani."),
        (State(30, 30, answers=1), "No answer yet: 1 answer is still to be graded."),
        (None, "No answer yet: 1 of 10 questions is still to be rated."),
    ],
)
def test_nothing_is_claimed_before_all_is_judged(state: State | None, sentence: str) -> None:
    report = two_runs(*["NNNNN"] * 9, ".....", state=state)
    groups, _ = answers.forest(report)

    assert answers.answer(report.comparison, report.state).title == sentence
    assert not any(row.ahead_of for group in answers.panel(report) for row in group.rows)
    assert not any(row.is_shown for group in groups for row in group.rows)
    precision = answers.panel(report)[0].rows[1].figure
    assert (precision.state, precision.low, precision.high) == (Drawn.PROVISIONAL, 0, 0.1)


def test_a_rater_who_is_still_rating_is_named_without_markup() -> None:
    report = two_runs(*["NNNNN"] * 10, state=State(10, 10, behind={"<b>Ani</b>": 2}))
    title = Markup.escape(answers.marked_answer(report).title)

    assert title == "No answer yet. Still rating: &lt;b&gt;Ani&lt;/b&gt;."


def test_the_marked_answer_is_the_same_sentence_with_shapes() -> None:
    report = two_runs(*["NNNNN"] * 10, state=State(10, 10))
    plain, marked = (answers.answer(report.comparison, report.state), answers.marked_answer(report))

    assert plain.title == "a is ahead of b on Precision@5, MRR and Success rate."
    assert marked.title.count("<use") == 2
    assert marked.title.striptags() == plain.title  # type: ignore[attr-defined]
    first, *_ = answers.panel(report)
    assert [bool(row.ahead_of) for row in first.rows] == [True, False]
    (group, *_), left_out = answers.forest(report)
    assert (group.rows[0].figure.mark, group.rows[0].is_shown, left_out) == (1, True, 0)
