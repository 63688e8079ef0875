"""Why items are not relevant, run by run: sentences, tables and plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from relevansi import labels, notation
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Section,
    Table,
    numbers,
    stacked,
    table_of,
    whole_number,
    word,
)
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.comparisons.reasons import ReasonComparison, ReasonCounts, TimeSpent


def section(compared: ReasonComparison) -> Section:
    """Return why items are not relevant, by run, by category and against the gold constraints."""
    tables = [_by_run(compared), _by_category(compared)]
    if compared.contradictions:
        tables.append(_against_gold(compared))
    title = gettext("Why not relevant")
    return Section("reasons", title, tuple(_sentences(compared)), tuple(tables))


def _sentences(compared: ReasonComparison) -> Iterator[str]:
    """Yield the commonest reason of each run, how reasons are counted, and the time they take."""
    for run in compared.contenders:
        most = max(run.counts.values(), default=0)
        if most:
            top = [reason for reason in compared.reasons if run.counts.get(reason) == most]
            yield gettext(
                "%(run)s: most often %(reason)s (%(share)s).",
                run=run.name,
                reason=", ".join(map(labels.reason, top)),
                share=notation.percent(most / run.total),
            )
    yield gettext(
        "Each rater's verdict counts once for every run that lists its item, whatever the merged "
        "label is. Shares are of the verdicts with a reason, which nobody has to give."
    )
    yield ngettext(
        "Reasons were given by %(n)s rater.", "Reasons were given by %(n)s raters.", compared.raters
    )
    times = {"with": compared.seconds_with, "without": compared.seconds_without}
    if any(spent.n for spent in times.values()):
        yield gettext(
            "Median time to the next verdict after not relevant: %(with)s with a reason, "
            "%(without)s without one.",
            **{name: _seconds(spent) for name, spent in times.items()},
        )
    if compared.contradictions is not None and not compared.contradictions:
        yield gettext("No reason contradicts the gold constraints.")


def _seconds(spent: TimeSpent) -> str:
    n = notation.number(spent.n)
    if spent.median is None:
        return gettext("too few (n = %(n)s)", n=n)
    return f"{notation.seconds(1000 * spent.median)} (n = {n})"


def _by_run(compared: ReasonComparison) -> Table:
    parts = (gettext("Value"), "n")
    runs = tuple(numbers(each.name, *parts) for each in compared.contenders)
    rows = [
        (_reason(reason), *(_cell(each, reason) for each in compared.contenders))
        for reason in compared.reasons
    ]
    totals = {
        gettext("With a reason"): [each.total for each in compared.contenders],
        gettext("Not relevant without a reason"): [each.without for each in compared.contenders],
    }
    for name, counts in totals.items():
        rows.append((word(name), *(Cell(notation.number(n), (None, n)) for n in counts)))
    title = gettext("Reasons by run: share and n")
    return Table("reasons", title, (Column(gettext("Reason")), *runs), tuple(rows), ())


def _reason(reason: str) -> Cell:
    return Cell(labels.reason(reason), (reason,))


def _cell(run: ReasonCounts, reason: str) -> Cell:
    n = run.counts.get(reason, 0)
    if not run.total:
        return Cell(notation.UNDEFINED, (None, 0))
    share = n / run.total
    return stacked((notation.percent(share), f"n = {notation.number(n)}"), (share, n))


def _by_category(compared: ReasonComparison) -> Table:
    rows = []
    for category in compared.categories:
        counts: Counter[str] = Counter()
        for each in compared.contenders:
            counts.update(each.by_category.get(category, {}))
        name = labels.with_label(labels.category(category), category)
        cells = (whole_number(counts[reason]) for reason in compared.reasons)
        rows.append((Cell(name, (category,)), *cells))
    columns = (numbers(labels.reason(reason)) for reason in compared.reasons)
    title = gettext("Reasons by category, all runs together: n")
    first = Column(gettext("Category"))
    return Table("reasons_by_category", title, (first, *columns), tuple(rows), ())


def _against_gold(compared: ReasonComparison) -> Table:
    return table_of(
        "reasons_against_gold",
        gettext("Reasons whose gold constraint is met"),
        compared.contradictions or (),
        (
            (gettext("Run"), lambda each: Cell(each.name, (each.run,))),
            (numbers(gettext("No.")), lambda each: each.position),
            (gettext("Item"), lambda each: each.title),
            (gettext("Reason"), lambda each: _reason(each.reason)),
            (numbers(gettext("Raters")), lambda each: each.raters),
        ),
    )


def part_json(compared: ReasonComparison) -> dict[str, Any]:
    """Return the reasons as plain values; a time is {median, n}, seconds to the next verdict."""
    contradictions = compared.contradictions
    return {
        "raters": compared.raters,
        "runs": [
            {"id": each.run, "name": each.name, "given": dict(each.counts), "without": each.without}
            | {"categories": {name: dict(n) for name, n in each.by_category.items()}}
            for each in compared.contenders
        ],
        "seconds": {
            "with": compared.seconds_with._asdict(),
            "without": compared.seconds_without._asdict(),
        },
        "contradictions": (
            None if contradictions is None else [each._asdict() for each in contradictions]
        ),
    }
