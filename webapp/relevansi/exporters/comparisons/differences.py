"""The paired differences of a comparison as tables and as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import asdict, replace

from relevansi import notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.figure_names import difference_name, difference_unit
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Table,
    stacked,
    whole_number,
    word,
    word_or_dash,
)
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.differences import Difference, RunDifferences, SignedRank
from relevansi.metrics.intervals import CONFIDENCE, Interval

DIFFERENCE = (
    *("figure", "false_negatives_at_zero", "first", "second", "n", "first_value", "second_value"),
    *("mean", "interval", "d_z", "headline", "reverses_headline", "test", "exact", "p", "p_error"),
    *("p_holm", "pairs"),
    *("wins", "ties", "losses", "small"),
)

TESTS = (6, 7, 8)
"""The columns of the table of differences that are of tests."""


def difference_table(
    name: str, comparison: RunDifferences, notes: Sequence[str], *, is_tested: bool = True
) -> Table:
    """Return the differences of a comparison as the table `name`, with `notes` at its end.

    Before all is judged they are not tested.
    """
    share = notation.percent(CONFIDENCE)
    table = Table(
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
            Column("d", numeric=True),
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
            gettext("d: Cohen's d of paired differences, mean by standard deviation."),
            words.settings(),
            *notes,
        ),
    )
    if is_tested:
        return table
    places = [place for place in range(len(table.columns)) if place not in TESTS]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
        notes=(*table.notes[:-2], *notes),
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
        (
            gettext(
                "Given beside the randomisation test for readers who expect it. Two-sided. "
                "Differences of 0 are left out (Wilcoxon's convention, not Pratt's); equal "
                "differences get the mean of their ranks. Exact over all signs. Holm's correction "
                "over the pairs of runs within each figure."
            ),
            *notes,
        ),
    )


def _difference(comparison: RunDifferences, difference: Difference) -> tuple[Cell, ...]:
    lower, upper = difference.interval.lower, difference.interval.upper
    counts = (difference.wins, difference.ties, difference.losses)
    unit = difference_unit(difference)
    test = words.name_of_test(difference.test, exact=difference.exact)
    apart = notation.difference(difference.mean, unit)
    bounds = notation.interval(lower, upper, unit, signed=True)
    first, second = comparison.names[difference.first], comparison.names[difference.second]
    values = difference.first_value, difference.second_value
    first_value, second_value = (notation.figure(value, unit) for value in values)
    runs = gettext(
        "%(first)s %(one)s minus %(second)s %(other)s",
        first=first,
        one=first_value,
        second=second,
        other=second_value,
    )
    return (
        word(difference_name(difference)),
        Cell(runs, (first, second, *values)),
        stacked((apart,) if lower is None else (apart, bounds), (difference.mean, lower, upper)),
        Cell(notation.difference(difference.d_z, "coefficient"), (difference.d_z,)),
        whole_number(difference.n),
        Cell("/".join(notation.number(count) for count in counts), counts),
        word_or_dash(None if difference.p is None else test),
        Cell(notation.p_value(difference.p), (difference.p,)),
        Cell(notation.p_value(difference.p_holm), (difference.p_holm,)),
        Cell(notation.difference(difference.headline, unit), (difference.headline,)),
    )


def _signed_rank(
    comparison: RunDifferences, difference: Difference, test: SignedRank
) -> tuple[Cell, ...]:
    p_holm = difference.signed_rank_p_holm
    first, second = comparison.names[difference.first], comparison.names[difference.second]
    runs = gettext("%(first)s minus %(second)s", first=first, second=second)
    zeros = notation.number(test.zeros)
    sums = (test.positive, test.negative)
    return (
        word(difference_name(difference)),
        Cell(runs, (first, second)),
        Cell(f"{notation.number(test.n)} ({zeros})", (test.n, test.zeros)),
        Cell(" / ".join(map(notation.number, sums)), sums),
        word(gettext("exact") if test.exact else gettext("drawn")),
        Cell(notation.p_value(test.p), (test.p,)),
        Cell(notation.p_value(p_holm), (p_holm,)),
    )


def difference_json(difference: Difference) -> dict[str, Any]:
    values = {name: getattr(difference, name) for name in DIFFERENCE}
    return {**values, "interval": interval_json(difference.interval)}


def signed_ranks_json(differences: Iterable[Difference]) -> list[dict[str, Any]]:
    return [
        {
            "figure": difference.figure,
            "false_negatives_at_zero": difference.false_negatives_at_zero,
            "first": difference.first,
            "second": difference.second,
            **asdict(difference.signed_rank),
            "exact": difference.signed_rank.exact,
            "p_holm": difference.signed_rank_p_holm,
        }
        for difference in differences
        if difference.signed_rank is not None
    ]


def interval_json(interval: Interval) -> dict[str, float | None]:
    return {"lower": interval.lower, "upper": interval.upper}
