"""The paired differences of a comparison as tables and as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import asdict

from relevansi import notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.figure_names import difference_name, difference_unit
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Table,
    numbers,
    stacked,
    whole_number,
    word,
    word_or_dash,
)
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.differences import Difference, RunDifferences
from relevansi.metrics.intervals import CONFIDENCE

DIFFERENCE = (
    *("figure", "false_negatives_at_zero", "first", "second", "n", "first_value", "second_value"),
    *("mean", "interval", "d_z", "headline", "reverses_headline", "test", "exact", "p", "p_error"),
    *("p_holm", "pairs", "wins", "ties", "losses", "small"),
)
"""The keys of a difference in JSON, which are its attributes."""

TESTS = (6, 7, 8)
"""The places of the columns with a test in the table of differences."""


def difference_table(
    name: str, comparison: RunDifferences, notes: Sequence[str], *, is_tested: bool = True
) -> Table:
    """Return the differences of a comparison as the table `name`, with `notes` below it.

    Before all is judged nothing is tested, and the table has no columns of tests.
    """
    share = notation.percent(CONFIDENCE)
    runs = gettext("Runs with their values over the n questions")
    value_names = (gettext("Value of the first"), gettext("Value of the second"))
    counts = (gettext("Wins"), gettext("Ties"), gettext("Losses"))
    columns = (
        Column(gettext("Figure")),
        Column(runs, parts=(gettext("First"), gettext("Second"), *value_names)),
        numbers(
            gettext("Difference, %(share)s interval", share=share),
            *(gettext("Difference"), gettext("Lower"), gettext("Upper")),
        ),
        numbers("d"),
        numbers("n"),
        numbers(gettext("Wins/ties/losses"), *counts),
        Column(gettext("Test")),
        numbers("p"),
        numbers(gettext("p after Holm")),
        numbers(gettext("Difference of the figures")),
    )
    rows = [_difference(comparison, difference) for difference in comparison.differences]
    places = [place for place in range(len(columns)) if is_tested or place not in TESTS]
    return Table(
        name,
        gettext("Differences by question, first run minus second"),
        tuple(columns[place] for place in places),
        tuple(tuple(row[place] for place in places) for row in rows),
        (
            *words.smallness(comparison),
            gettext("d: Cohen's d of paired differences, mean by standard deviation."),
            *([words.settings()] if is_tested else []),
            *notes,
        ),
    )


def signed_rank_table(name: str, comparison: RunDifferences, notes: Sequence[str]) -> Table:
    """Return Wilcoxon's test of the differences of a comparison as the table `name`."""
    rows = []
    for difference in comparison.differences:
        test = difference.signed_rank
        if test is None:
            continue
        first, second = comparison.names[difference.first], comparison.names[difference.second]
        runs = gettext("%(first)s minus %(second)s", first=first, second=second)
        sums = (test.positive, test.negative)
        p_holm = difference.signed_rank_p_holm
        n, zeros = notation.number(test.n), notation.number(test.zeros)
        rows.append(
            (
                word(difference_name(difference)),
                Cell(runs, (first, second)),
                Cell(f"{n} ({zeros})", (test.n, test.zeros)),
                Cell(" / ".join(map(notation.number, sums)), sums),
                word(gettext("exact") if test.exact else gettext("drawn")),
                Cell(notation.p_value(test.p), (test.p,)),
                Cell(notation.p_value(p_holm), (p_holm,)),
            )
        )
    note = gettext(
        "Given beside the randomisation test for readers who expect it. Two-sided. Differences of "
        "0 are left out (Wilcoxon's convention, not Pratt's); equal differences get the mean of "
        "their ranks. Exact over all signs. Holm's correction over the pairs of runs within each "
        "figure."
    )
    columns = (
        Column(gettext("Figure")),
        Column(gettext("Runs"), parts=(gettext("First"), gettext("Second"))),
        numbers(gettext("n, zeros left out"), "n", gettext("Zeros")),
        numbers(gettext("Rank sums W+ / W−"), "W+", "W−"),
        Column(gettext("Test")),
        numbers("p"),
        numbers(gettext("p after Holm")),
    )
    title = gettext("Wilcoxon signed-rank test of the same differences")
    return Table(name, title, columns, tuple(rows), (note, *notes))


def _difference(comparison: RunDifferences, difference: Difference) -> tuple[Cell, ...]:
    """Return the cells of a difference, under the columns of ``difference_table``."""
    unit = difference_unit(difference)
    first, second = comparison.names[difference.first], comparison.names[difference.second]
    runs = gettext(
        "%(first)s %(one)s minus %(second)s %(other)s",
        first=first,
        one=notation.figure(difference.first_value, unit),
        second=second,
        other=notation.figure(difference.second_value, unit),
    )
    lower, upper = difference.interval.lower, difference.interval.upper
    mean = notation.difference(difference.mean, unit)
    bounds = notation.interval(lower, upper, unit, signed=True)
    counts = (difference.wins, difference.ties, difference.losses)
    test = words.name_of_test(difference.test, exact=difference.exact)
    return (
        word(difference_name(difference)),
        Cell(runs, (first, second, difference.first_value, difference.second_value)),
        stacked((mean,) if lower is None else (mean, bounds), (difference.mean, lower, upper)),
        Cell(notation.difference(difference.d_z, "coefficient"), (difference.d_z,)),
        whole_number(difference.n),
        Cell("/".join(notation.number(count) for count in counts), counts),
        word_or_dash(None if difference.p is None else test),
        Cell(notation.p_value(difference.p), (difference.p,)),
        Cell(notation.p_value(difference.p_holm), (difference.p_holm,)),
        Cell(notation.difference(difference.headline, unit), (difference.headline,)),
    )


def difference_json(difference: Difference) -> dict[str, Any]:
    """Return a difference as plain values, its interval as {lower, upper}."""
    return fields(difference, *DIFFERENCE) | {"interval": asdict(difference.interval)}


def signed_ranks_json(differences: Iterable[Difference]) -> list[dict[str, Any]]:
    """Return Wilcoxon's test of each difference that has one, as plain values."""
    return [
        {
            **fields(difference, "figure", "false_negatives_at_zero", "first", "second"),
            **asdict(difference.signed_rank),
            "exact": difference.signed_rank.exact,
            "p_holm": difference.signed_rank_p_holm,
        }
        for difference in differences
        if difference.signed_rank is not None
    ]
