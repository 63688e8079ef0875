"""The number of one question that a figure averages, and places by value."""

from __future__ import annotations

from tests.metrics.comparisons.compared import compared
from webapp.metrics.comparisons.differences import counted, ranked, value_of


def test_equal_values_share_a_place() -> None:
    assert ranked({"a": 0.1 + 0.2, "b": 0.3, "c": None}) == (("a", "b"),)


def test_a_figure_averages_the_number_it_has_for_a_question() -> None:
    (listed, false_negative, failed, unreadable) = compared("a", "10", "f", "!", "~").queries

    assert counted(listed, "mean_precision_at_5") == 0.5
    assert [counted(query, "coverage") for query in (listed, false_negative, failed)] == [1, 0, 0]
    assert counted(unreadable, "coverage") is None
    assert counted(listed, "original_composite") is None  # it averages no numbers of questions


def test_a_false_negative_is_at_zero_only_where_that_is_asked_for() -> None:
    (false_negative, correct) = compared("a", "f", "c").queries

    figure = "mean_precision_at_5"
    assert value_of(false_negative, figure, false_negatives_at_zero=False) is None
    assert value_of(false_negative, figure, false_negatives_at_zero=True) == 0.0
    assert value_of(correct, figure, false_negatives_at_zero=True) is None
