"""Rated CSVs are compared by their counts, question by question."""

from __future__ import annotations

import pytest

from tests.metrics.comparisons.compared import differences_of
from webapp.records import Blindness
from webapp.services.comparisons import rated_comparisons
from webapp.services.comparisons.chosen_runs import DifferentQuestions
from webapp.services.comparisons.rated_comparisons import RatedCsv

HEADER = (
    "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
    "overall_precision,precision_at_5,mrr,success,response_quality,notes\n"
)


def rated(name: str, *lines: str, label: str | None = None) -> RatedCsv:
    """Return a rated CSV with `lines`, each from results_count on; questions 1, 2 and so on."""
    rows = (f"{n},Rumah {n}?,lokasi,{line}\n" for n, line in enumerate(lines, 1))
    return RatedCsv(name, (HEADER + "".join(rows)).encode(), label)


HYBRID = rated("hybrid/rated.csv", "5,4,1,,,,,4,", "5,3,2,,,,,3,")
API = rated("api_only/rated.csv", "5,2,1,,,,,2,", "5,3,1,,,,,3,")


def test_the_mean_difference_is_that_of_the_questions_both_have() -> None:
    report, problems = rated_comparisons.compare_files([HYBRID, API])

    (precision,) = (
        one
        for one in differences_of(report.comparison, "mean_precision_at_5")
        if not one.false_negatives_at_zero
    )
    (rank,) = differences_of(report.comparison, "mrr")
    assert precision.n == rank.n == 2
    assert precision.mean == pytest.approx(0.2)  # (.8 - .4 + .6 - .6) / 2
    assert rank.mean == pytest.approx(-0.25)  # (1 - 1 + 1/2 - 1) / 2
    assert problems == []
    assert report.files == ("hybrid/rated.csv", "api_only/rated.csv")
    assert (report.raters, report.blindness) == ((), Blindness())


def test_files_that_count_cannot_tell_differently_are_compared_with_a_warning() -> None:
    as_before = rated("hybrid/rated.csv", "5,2,1,,,,,4,cannot tell: rank 5")
    as_seed = rated("api_only/rated.csv", "5,2,1,,,,,4,cannot tell (not relevant): rank 5")
    report, problems = rated_comparisons.compare_files([as_before, as_seed])

    (precision, _) = differences_of(report.comparison, "mean_precision_at_5")
    assert precision.mean == pytest.approx(2 / 4 - 2 / 5)
    assert [one.code for one in problems] == ["csv_cannot_tell_differs"]
    assert report.cannot_tell is None
    alike, none = rated_comparisons.compare_files([as_seed, rated("x/rated.csv", "5,2,1,,,,,4,")])
    assert (none, alike.cannot_tell) == ([], "not_relevant")


def test_files_of_one_name_are_told_apart_by_their_paths_and_at_last_by_a_number() -> None:
    names = rated_comparisons.names_of([HYBRID, API, RatedCsv("old/hybrid/rated.csv", b"")])
    assert names == ["hybrid/rated.csv", "API Only", "old/hybrid/rated.csv"]
    assert rated_comparisons.names_of([HYBRID, HYBRID]) == [
        "hybrid/rated.csv",
        "hybrid/rated.csv (2)",
    ]
    labelled = RatedCsv(HYBRID.name, HYBRID.data, label="Mine")
    assert rated_comparisons.names_of([labelled, API]) == ["Mine", "API Only"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("hybrid/evaluation_rated_20260125.csv", "hybrid"),
        ("x/evaluation_rated_api_only_20260125_101500.csv", "api_only"),
        ("x/exported-vector-latest.csv", "vector"),
        ("rated.csv", "rated"),
    ],
)
def test_a_method_is_read_from_the_file_s_name_else_from_its_folder(path: str, name: str) -> None:
    assert rated_comparisons.method_name(path) == name


def test_a_file_may_lack_questions_of_the_longest_but_have_no_others() -> None:
    shorter = rated("api_only/rated.csv", "5,2,1,,,,,2,")
    assert len(rated_comparisons.compare_files([HYBRID, shorter])[0].comparison.contenders) == 2

    other = RatedCsv("x.csv", API.data.replace(b"Rumah 2?", b"Ruko 2?"))
    with pytest.raises(DifferentQuestions) as refused:
        rated_comparisons.compare_files([HYBRID, other])
    assert refused.value.only == {"Hybrid": ((2, "Rumah 2?"),), "x": ((2, "Ruko 2?"),)}
