"""The paired differences of a comparison as sentences, as tables and as plain values.

A sentence states the result of one test at its level, in words with one meaning: a run is "ahead"
where the difference is significant after Holm; two runs are "equal" where no question differs; what
the test does not reject is "no difference shown". Only the settled orders say "order fixed": open
verdicts cannot change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import asdict

from relevansi import notation
from relevansi.exporters.comparisons.figure_names import difference_name, difference_unit
from relevansi.exporters.comparisons.words import settings
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    ColumnOf,
    Line,
    Table,
    estimated,
    numbers,
    table_of,
    word_or_dash,
)
from relevansi.exporters.planning import detectable
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.comparisons.comparisons import Comparison
from relevansi.metrics.comparisons.differences import MCNEMAR, Difference, SignedRank
from relevansi.metrics.intervals import CONFIDENCE, LEVEL
from relevansi.metrics.judging.registry import Unit

DIFFERENCE = (
    *("figure", "false_negatives_at_zero", "first", "second", "n", "first_value", "second_value"),
    *("mean", "interval", "d_z", "headline", "reverses_headline", "test", "exact", "p", "p_error"),
    *("p_holm", "pairs", "wins", "ties", "losses", "small"),
)
"""The keys of a difference in JSON, which are its attributes."""


def finding(difference: Difference, *, is_same_pair: bool) -> str:
    """Return a significant difference in a sentence, shorter where the pair was named before."""
    unit, bounds = difference_unit(difference), difference.interval_in_order
    details = {
        "figure": difference_name(difference),
        "difference": notation.amount(difference.mean or 0, unit),
        "interval": notation.interval(bounds.lower, bounds.upper, unit, signed=True),
        "p": notation.p_equals(difference.p_holm),
    }
    if is_same_pair:
        return gettext(
            "On %(figure)s the difference is %(difference)s (%(interval)s; %(p)s).", **details
        )
    higher, lower = difference.in_order
    return ngettext(
        "%(higher)s reaches a mean %(figure)s of %(one)s and %(lower)s %(other)s on the "
        "%(n)s question where both have a value; the difference is %(difference)s (%(share)s "
        "interval %(interval)s; %(p)s after Holm's correction).",
        "%(higher)s reaches a mean %(figure)s of %(one)s and %(lower)s %(other)s on the "
        "%(n)s questions where both have a value; the difference is %(difference)s (%(share)s "
        "interval %(interval)s; %(p)s after Holm's correction).",
        difference.n,
        higher=higher.name,
        one=notation.figure(higher.value, unit),
        lower=lower.name,
        other=notation.figure(lower.value, unit),
        share=notation.percent(CONFIDENCE),
        **details,
    )


def conclusion(difference: Difference) -> str:
    """Return what the test of a difference shows, its interval, and what limits it."""
    first, second = difference.names
    if difference.mean is None:
        return gettext(
            "%(figure)s: %(first)s and %(second)s share no question with a value; nothing can be "
            "said about them.",
            figure=difference_name(difference),
            first=first,
            second=second,
        )
    return " ".join(_conclusion(difference))


def _conclusion(difference: Difference) -> Iterator[str]:
    """Yield what the test shows, then what limits it: order, correction, size, open rating."""
    unit = difference_unit(difference)
    lower, upper = difference.interval_in_order.lower, difference.interval_in_order.upper
    interval = gettext("too few for an interval")
    if lower is not None and upper is not None:
        interval = gettext(
            "%(share)s interval %(interval)s",
            share=notation.percent(CONFIDENCE),
            interval=notation.interval(lower, upper, unit, signed=True),
        )
    worth = gettext("no difference shown")
    if difference.significant:
        worth = gettext("significant at %(level)s", level=notation.percent(LEVEL))
    tests = f"{notation.p_equals(difference.p)}, Holm {notation.p_value(difference.p_holm)}"
    yield gettext(
        "%(values)s; %(apart)s (%(details)s): %(worth)s.",
        values=paired_values(difference),
        apart=_apart(difference),
        details=f"{interval}, {tests}",
        worth=worth,
    )
    if difference.reverses_headline:
        yield gettext(
            "The figures of the two runs are the other way round: each is over all questions of "
            "its run that have a value, the difference only over those both share."
        )
    excludes_0 = lower is not None and upper is not None and not lower <= 0 <= upper
    if excludes_0 and not difference.significant:
        yield gettext(
            "The interval is of this pair alone, without correction: that it leaves out 0 does not "
            "show a difference."
        )
    differs = difference.wins or difference.losses
    if differs and not difference.significant and (limit := detectable.shown_by_one(difference)):
        yield limit
    if difference.is_partial:
        yield gettext("Provisional: not everything is rated.")


def _apart(difference: Difference) -> str:
    """Return how far apart the means of two runs are, in words."""
    first, second = difference.names
    mean = difference.mean or 0.0
    if not difference.wins and not difference.losses:
        return gettext("%(first)s and %(second)s are equal", first=first, second=second)
    if round(mean, 9) == 0:
        return gettext("%(first)s and %(second)s have the same mean", first=first, second=second)
    higher, lower = difference.in_order
    return gettext(
        "%(higher)s is %(amount)s higher than %(lower)s",
        higher=higher.name,
        lower=lower.name,
        amount=notation.amount(mean, difference_unit(difference)),
    )


def paired_values(difference: Difference) -> str:
    """Return both runs' values over the questions where both have one, the higher first."""
    unit = difference_unit(difference)
    higher, lower = difference.in_order
    return ngettext(
        "%(figure)s over the %(n)s question where both have a value: %(first)s %(one)s, "
        "%(second)s %(other)s",
        "%(figure)s over the %(n)s questions where both have a value: %(first)s %(one)s, "
        "%(second)s %(other)s",
        difference.n,
        figure=difference_name(difference),
        first=higher.name,
        one=notation.figure(higher.value, unit),
        second=lower.name,
        other=notation.figure(lower.value, unit),
    )


def reversed_orders(comparison: Comparison) -> Iterator[str]:
    """Yield where the paired values of two runs are in another order than their figures."""
    for difference in comparison.differences:
        if difference.is_of_headline and difference.reverses_headline:
            values = paired_values(difference)
            yield gettext("Paired, the order is another: %(values)s.", values=values)


def further_differences(n: int) -> str:
    """Return that so many more differences are significant than were named."""
    return ngettext(
        "%(n)s further difference is significant.", "%(n)s further differences are significant.", n
    )


def smallness(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield the warning that some differences are over few questions, if they are."""
    few = [entry.n for entry in differences if entry.small and entry.n]
    if not few:
        return
    least, most = notation.number(min(few)), notation.number(max(few))
    pairs = least if least == most else gettext("%(low)s to %(high)s", low=least, high=most)
    yield gettext(
        "Small: with %(pairs)s pairs of questions only large differences can show. Where none is "
        "shown the runs need not be equal.",
        pairs=pairs,
    )


def name_of_test(test: str, *, exact: bool) -> str:
    """Return the name of a test of differences, and whether it tried every way."""
    if test == MCNEMAR:
        return gettext("McNemar, exact")
    return gettext("randomisation, exact") if exact else gettext("randomisation, drawn")


def test_table(tests: Iterable[Difference]) -> Table:
    """Return the tested differences of the figures that decide."""

    def difference(test: Difference) -> Cell:
        text = notation.difference(test.mean, difference_unit(test))
        return Cell(text, (test.mean,), is_strong=test.significant)

    def interval(test: Difference) -> Cell:
        bounds = test.interval.lower, test.interval.upper
        return Cell(notation.interval(*bounds, difference_unit(test), signed=True), bounds)

    interval_heading = gettext("%(share)s interval", share=notation.percent(CONFIDENCE))
    return table_of(
        "tests",
        gettext(
            "Differences by question, first run minus second; p after Holm's correction, bold: "
            "significant at %(level)s.",
            level=notation.percent(LEVEL),
        ),
        tests,
        (
            (gettext("Figure"), difference_name),
            pair_column(lambda test: test.names),
            (numbers(gettext("Difference")), difference),
            (numbers(interval_heading, gettext("Lower"), gettext("Upper")), interval),
            (numbers("n"), lambda test: test.n),
            (numbers("p"), lambda test: p_cell(test.p_holm, is_strong=test.significant)),
        ),
    )


def pair_column(names: Callable[[Line], tuple[str, str]]) -> ColumnOf[Line]:
    """Return the column of the two runs that a line is about, by their `names`."""

    def cell(line: Line) -> Cell:
        first, second = names(line)
        return Cell(f"{first} − {second}", (first, second))

    return Column(gettext("Pair"), parts=(gettext("First"), gettext("Second"))), cell


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
        *smallness(differences),
        gettext("d: Cohen's d of paired differences, mean by standard deviation."),
        *([settings()] if is_tested else []),
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
    name = name_of_test(difference.test, exact=difference.exact)
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
