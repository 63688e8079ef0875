"""The tables of paired differences, and of Wilcoxon's test of the same differences."""

from __future__ import annotations

from collections.abc import Sequence

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.frame.tables import (
    Cell,
    Column,
    Table,
    stacked,
    whole_number,
    word,
    word_or_dash,
)
from webapp.i18n import gettext
from webapp.metrics.comparisons.differences import Difference, RunDifferences
from webapp.metrics.comparisons.report import ComparisonReport
from webapp.metrics.comparisons.signed_rank import SignedRank


def differences(report: ComparisonReport) -> Table:
    """Return every paired difference with its interval, n, counts, test and p-values."""
    return difference_table("differences", report.comparison, (words.provenance(report),))


def signed_ranks(report: ComparisonReport) -> Table:
    """Return Wilcoxon's test of every paired difference, beside the randomisation test."""
    return signed_rank_table("signed_rank", report.comparison, (words.provenance(report),))


def difference_table(name: str, comparison: RunDifferences, notes: Sequence[str]) -> Table:
    """Return the differences of a comparison as the table `name`, with `notes` at its end."""
    share = notation.percent(comparison.settings.confidence)
    return Table(
        name,
        gettext("Differences by question, first run minus second"),
        (
            Column(gettext("Figure")),
            Column(
                gettext("Runs with their values over the n questions"),
                parts=(
                    gettext("First"),
                    gettext("Second"),
                    gettext("Value of the first"),
                    gettext("Value of the second"),
                ),
            ),
            Column(
                gettext("Difference, %(share)s interval", share=share),
                numeric=True,
                parts=(gettext("Difference"), gettext("Lower"), gettext("Upper")),
            ),
            Column("n", numeric=True),
            Column(
                gettext("Wins/ties/losses"),
                numeric=True,
                parts=(gettext("Wins"), gettext("Ties"), gettext("Losses")),
            ),
            Column(gettext("Test")),
            Column("p", numeric=True),
            Column(gettext("p after Holm"), numeric=True),
            Column(gettext("Difference of the figures"), numeric=True),
        ),
        tuple(_difference(comparison, difference) for difference in comparison.differences),
        (
            *filter(None, [words.smallness(comparison)]),
            words.settings(comparison.settings),
            *notes,
        ),
    )


def signed_rank_table(name: str, comparison: RunDifferences, notes: Sequence[str]) -> Table:
    """Return Wilcoxon's test of the differences of a comparison as the table `name`."""
    return Table(
        name,
        gettext("Wilcoxon signed-rank test of the same differences"),
        (
            Column(gettext("Figure")),
            Column(gettext("Runs"), parts=(gettext("First"), gettext("Second"))),
            Column(gettext("n, zeros left out"), numeric=True, parts=("n", gettext("Zeros"))),
            Column(gettext("Rank sums W+ / W−"), numeric=True, parts=("W+", "W−")),
            Column(gettext("Test")),
            Column("p", numeric=True),
            Column(gettext("p after Holm"), numeric=True),
        ),
        tuple(
            _signed_rank(comparison, difference, difference.signed_rank)
            for difference in comparison.differences
            if difference.signed_rank is not None
        ),
        (words.signed_rank_note(), *notes),
    )


def _difference(comparison: RunDifferences, difference: Difference) -> tuple[Cell, ...]:
    lower, upper = difference.interval.lower, difference.interval.upper
    counts = (difference.wins, difference.ties, difference.losses)
    unit = words.difference_unit(difference)
    apart = notation.difference(difference.mean, unit)
    bounds = notation.interval(lower, upper, unit, signed=True)
    return (
        word(words.difference_name(difference)),
        _valued_runs(comparison, difference),
        stacked((apart,) if lower is None else (apart, bounds), (difference.mean, lower, upper)),
        whole_number(difference.n),
        Cell("/".join(notation.number(count) for count in counts), counts),
        word_or_dash(None if difference.p is None else words.test_name(difference)),
        Cell(notation.p_value(difference.p), (difference.p,)),
        Cell(notation.p_value(difference.p_holm), (difference.p_holm,)),
        Cell(notation.difference(difference.headline, unit), (difference.headline,)),
    )


def _signed_rank(
    comparison: RunDifferences, difference: Difference, test: SignedRank
) -> tuple[Cell, ...]:
    p_holm = difference.signed_rank_p_holm
    zeros = notation.number(test.zeros)
    sums = (test.positive, test.negative)
    return (
        word(words.difference_name(difference)),
        _runs(comparison, difference),
        Cell(f"{notation.number(test.n)} ({zeros})", (test.n, test.zeros)),
        Cell(" / ".join(map(notation.number, sums)), sums),
        word(gettext("exact") if test.exact else gettext("normal approximation")),
        Cell(notation.p_value(test.p), (test.p,)),
        Cell(notation.p_value(p_holm), (p_holm,)),
    )


def _runs(comparison: RunDifferences, difference: Difference) -> Cell:
    first, second = comparison.name(difference.first), comparison.name(difference.second)
    return Cell(gettext("%(first)s minus %(second)s", first=first, second=second), (first, second))


def _valued_runs(comparison: RunDifferences, difference: Difference) -> Cell:
    """Both runs with their values over the questions where both have one."""
    first, second = comparison.name(difference.first), comparison.name(difference.second)
    values = (difference.first_value, difference.second_value)
    one, other = (notation.figure(value, words.difference_unit(difference)) for value in values)
    said = gettext(
        "%(first)s %(one)s minus %(second)s %(other)s",
        first=first,
        one=one,
        second=second,
        other=other,
    )
    return Cell(said, (first, second, *values))
