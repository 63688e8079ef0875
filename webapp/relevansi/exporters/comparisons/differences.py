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
    estimated,
    numbers,
    table_of,
    word_or_dash,
)
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.differences import Difference, SignedRank
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.registry import Unit

DIFFERENCE = (
    *("figure", "false_negatives_at_zero", "first", "second", "n", "first_value", "second_value"),
    *("mean", "interval", "d_z", "headline", "reverses_headline", "test", "exact", "p", "p_error"),
    *("p_holm", "pairs", "wins", "ties", "losses", "small"),
)
"""The keys of a difference in JSON, which are its attributes."""


def difference_table(
    name: str, differences: Sequence[Difference], notes: Sequence[str], *, is_tested: bool = True
) -> Table:
    """Return differences as the table `name`, with `notes` below it.

    Before all is judged nothing is tested, and the table has no columns of tests.
    """
    share = notation.percent(CONFIDENCE)
    runs = gettext("Runs with their values over the n questions")
    value_names = (gettext("Value of the first"), gettext("Value of the second"))
    parts = (gettext("Difference"), gettext("Lower"), gettext("Upper"))
    tests = [
        (gettext("Test"), _test_name),
        (numbers("p"), lambda difference: p_cell(difference.p)),
        (numbers(gettext("p after Holm")), lambda difference: p_cell(difference.p_holm)),
    ]
    return table_of(
        name,
        gettext("Differences by question, first run minus second"),
        differences,
        (
            (gettext("Figure"), difference_name),
            (
                Column(runs, parts=(gettext("First"), gettext("Second"), *value_names)),
                _runs_with_values,
            ),
            (numbers(gettext("Difference, %(share)s interval", share=share), *parts), _mean),
            (numbers("d"), lambda each: _signed(each.d_z, "coefficient")),
            (numbers("n"), lambda each: each.n),
            (
                numbers(
                    gettext("Wins/ties/losses"), gettext("Wins"), gettext("Ties"), gettext("Losses")
                ),
                _counts,
            ),
            *(tests if is_tested else ()),
            (
                numbers(gettext("Difference of the figures")),
                lambda each: _signed(each.headline, difference_unit(each)),
            ),
        ),
        *words.smallness(differences),
        gettext("d: Cohen's d of paired differences, mean by standard deviation."),
        *([words.settings()] if is_tested else []),
        *notes,
    )


def _runs_with_values(difference: Difference) -> Cell:
    """Return the runs of a difference with their means over the questions that both have."""
    unit, (first, second) = difference_unit(difference), difference.names
    text = gettext(
        "%(first)s %(one)s minus %(second)s %(other)s",
        first=first,
        one=notation.figure(difference.first_value, unit),
        second=second,
        other=notation.figure(difference.second_value, unit),
    )
    return Cell(text, (first, second, difference.first_value, difference.second_value))


def _mean(difference: Difference) -> Cell:
    bounds = difference.interval.lower, difference.interval.upper
    return estimated(difference.mean, *bounds, difference_unit(difference), is_difference=True)


def _signed(value: float | None, unit: Unit) -> Cell:
    return Cell(notation.difference(value, unit), (value,))


def _counts(difference: Difference) -> Cell:
    counts = (difference.wins, difference.ties, difference.losses)
    return Cell("/".join(map(notation.number, counts)), counts)


def _test_name(difference: Difference) -> Cell:
    name = words.name_of_test(difference.test, exact=difference.exact)
    return word_or_dash(None if difference.p is None else name)


def p_cell(p: float | None, *, is_strong: bool = False) -> Cell:
    """Return a cell with a p-value."""
    return Cell(notation.p_value(p), (p,), is_strong=is_strong)


def signed_rank_table(name: str, differences: Iterable[Difference], notes: Sequence[str]) -> Table:
    """Return Wilcoxon's test of differences as the table `name`."""
    tested = [(each, each.signed_rank) for each in differences if each.signed_rank]

    def runs(line: tuple[Difference, SignedRank]) -> Cell:
        first, second = line[0].names
        text = gettext("%(first)s minus %(second)s", first=first, second=second)
        return Cell(text, (first, second))

    def n_and_zeros(line: tuple[Difference, SignedRank]) -> Cell:
        n, zeros = line[1].n, line[1].zeros
        return Cell(f"{notation.number(n)} ({notation.number(zeros)})", (n, zeros))

    def rank_sums(line: tuple[Difference, SignedRank]) -> Cell:
        sums = (line[1].positive, line[1].negative)
        return Cell(" / ".join(map(notation.number, sums)), sums)

    note = gettext(
        "Given beside the randomisation test for readers who expect it. Two-sided. Differences of "
        "0 are left out (Wilcoxon's convention, not Pratt's); equal differences get the mean of "
        "their ranks. Exact over all signs. Holm's correction over the pairs of runs within each "
        "figure."
    )
    return table_of(
        name,
        gettext("Wilcoxon signed-rank test of the same differences"),
        tested,
        (
            (gettext("Figure"), lambda line: difference_name(line[0])),
            (Column(gettext("Runs"), parts=(gettext("First"), gettext("Second"))), runs),
            (numbers(gettext("n, zeros left out"), "n", gettext("Zeros")), n_and_zeros),
            (numbers(gettext("Rank sums W+ / W−"), "W+", "W−"), rank_sums),
            (
                gettext("Test"),
                lambda line: gettext("exact") if line[1].exact else gettext("drawn"),
            ),
            (numbers("p"), lambda line: p_cell(line[1].p)),
            (numbers(gettext("p after Holm")), lambda line: p_cell(line[0].signed_rank_p_holm)),
        ),
        note,
        *notes,
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
