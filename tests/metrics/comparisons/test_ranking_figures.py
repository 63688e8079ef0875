"""Ranking figures compared: what is paired, what decides, which orders are watched."""

from __future__ import annotations

import pytest

from relevansi.metrics.comparisons.comparisons import compare
from relevansi.metrics.comparisons.differences import PAIRED, ComparedRun, leading, paired
from relevansi.metrics.comparisons.stability import WATCHED, stability
from relevansi.metrics.intervals import mean_interval
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.queries import Span
from relevansi.records import Scale
from tests.metrics.comparisons.compared import compared

NAMES = ("nDCG@10", "success@10", "mrr", "Judged@10", "AP")


def ranked(name: str, *values: float | None) -> ComparedRun:
    """A run with these values of nDCG@10, whose other figures follow from them."""
    run = compared(name, *("10" for _ in values))
    queries = []
    for query, value in zip(run.queries, values, strict=True):
        result = 1.0 if value else 0.0
        further = {
            "nDCG@10": Span(value, None, None),
            "success@10": Span.settled(result),
            "Judged@10": Span.settled(0.5),
            "AP": Span(value, None, None),
            "Judged@1000": Span.settled(0.5),
        }
        queries.append(
            type(query)(
                *(query.position, query.query_id, query.question, f"c{query.position % 2}"),
                query.summary.with_figures(further),
            )
        )
    return type(run)(run.run, run.name, run.search_method, run.llm, tuple(queries))


def test_a_headline_decides_what_is_compared() -> None:
    runs = [ranked("a", 1.0, 0.5, None, 0.75), ranked("b", 0.5, 0.25, 1.0, 0.0)]
    comparison = compare(runs, rule="majority", headline=NAMES, scale=Scale(3, 2))

    first, _ = comparison.contenders
    names = [*NAMES[:4], "AP", "Judged@1000"]
    assert list(first.estimates) == names
    estimate = first.estimates["nDCG@10"]
    assert (estimate.figure.value, estimate.figure.n, estimate.figure.lower) == (0.75, 3, None)
    assert estimate.interval == mean_interval([1.0, 0.5, 0.75])
    assert first.categories["c0"]["nDCG@10"].value == 0.625
    by_figure = {difference.figure: difference for difference in comparison.differences}
    assert list(by_figure) == ["nDCG@10", "success@10", "mrr", "AP"]
    assert by_figure["nDCG@10"].values == ((1.0, 0.5), (0.5, 0.25), (0.75, 0.0))
    assert by_figure["nDCG@10"].test == "randomisation"
    assert by_figure["success@10"].test == "McNemar"
    assert by_figure["success@10"].scale == Scale(3, 2)
    assert comparison.lead == "nDCG@10"
    assert [line.spread for line in comparison.questions] == [0.5, 0.25, None, 0.75]


def test_stability_watches_the_first_four() -> None:
    runs = [ranked("a", 1.0, 0.5, 0.25), ranked("b", 0.0, 0.75, 0.5)]
    result = stability(runs, headline=NAMES)

    assert list(result.orders) == list(NAMES[:4])
    assert result.orders["nDCG@10"] == (("a",), ("b",))
    (line,) = (
        line
        for line in result.lines
        if (str(line.change), line.figure) == ("question left out", "nDCG@10")
    )
    assert [variation.what for variation in line.moved] == ["1"]


@pytest.mark.parametrize("headline", [HEADLINES, [*HEADLINES]])
def test_a_study_of_the_method_compares_as_before(headline: list[str]) -> None:
    assert paired(headline) == PAIRED
    assert leading(headline) == ("mean_precision_at_5", "mrr", "success_rate")
    assert tuple(stability([compared("a", "10"), compared("b", "01")]).orders) == WATCHED
