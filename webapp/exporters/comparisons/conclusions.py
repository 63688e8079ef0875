"""The conclusions of a comparison: a sentence for each difference, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.planning import not_told_apart
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.comparisons import Comparison
from webapp.metrics.comparisons.differences import Difference, RunDifferences
from webapp.metrics.judging.figures import HEADLINES
from webapp.metrics.judging.registry import Unit


def every(comparison: Comparison, figures: Sequence[str] = HEADLINES) -> tuple[str, ...]:
    """Return a sentence for each of `figures` and each pair of runs.

    False negatives count as the figure itself has them.
    """
    return tuple(conclusion(comparison, difference) for difference in of(comparison, figures))


def of(comparison: RunDifferences, figures: Sequence[str] = HEADLINES) -> tuple[Difference, ...]:
    """Return the differences on `figures`, with false negatives as each figure has them."""
    return tuple(
        difference
        for difference in comparison.differences
        if difference.figure in figures
        and (difference.figure == "mrr_answerable" or not difference.false_negatives_at_zero)
    )


def counted(comparison: RunDifferences, differences: Sequence[Difference]) -> str:
    """Return in words how many of `differences` are significant."""
    return ngettext(
        "%(n)s difference, %(significant)s significant at %(level)s",
        "%(n)s differences, %(significant)s of them significant at %(level)s",
        len(differences),
        significant=sum(significant(comparison, difference) for difference in differences),
        level=notation.percent(1 - comparison.settings.confidence),
    )


def significant(comparison: RunDifferences, difference: Difference) -> bool:
    """Whether the corrected p-value is at most what the confidence leaves to chance."""
    level = 1 - comparison.settings.confidence
    return difference.p_holm is not None and difference.p_holm <= level + 1e-12


def conclusion(comparison: RunDifferences, difference: Difference) -> str:
    """Return one sentence: the difference of two runs on a figure and its significance."""
    names = {
        "figure": words.difference_name(difference),
        "first": comparison.name(difference.first),
        "second": comparison.name(difference.second),
    }
    if difference.mean is None:
        return gettext(
            "%(figure)s: %(first)s and %(second)s share no question with a value; nothing can be "
            "said about them.",
            **names,
        )
    said = gettext(
        "%(values)s; %(apart)s (%(details)s): %(worth)s.",
        values=paired_values(comparison, difference),
        apart=_apart(difference, difference.mean, names["first"], names["second"]),
        details=_details(comparison, difference),
        worth=_worth(comparison, difference),
    )
    sentences = [said]
    if difference.reverses_headline:
        sentences.append(
            gettext(
                "The figures of the two runs are the other way round: each is over all questions "
                "of its run that have a value, the difference only over those both share."
            )
        )
    if not significant(comparison, difference):
        level = 1 - comparison.settings.confidence
        sentences += filter(None, [not_told_apart.of_one(difference, level)])
    if _partial(comparison, difference):
        sentences.append(gettext("Provisional: not everything is rated."))
    return " ".join(sentences)


def paired_values(comparison: RunDifferences, difference: Difference) -> str:
    """Return both runs' values over the questions where both have one, the higher first."""
    unit = words.difference_unit(difference)
    values = [
        (comparison.name(difference.first), difference.first_value),
        (comparison.name(difference.second), difference.second_value),
    ]
    if (difference.mean or 0) < 0:
        values.reverse()
    (first, one), (second, other) = values
    return ngettext(
        "%(figure)s over the %(n)s question where both have a value: %(first)s %(one)s, "
        "%(second)s %(other)s",
        "%(figure)s over the %(n)s questions where both have a value: %(first)s %(one)s, "
        "%(second)s %(other)s",
        difference.n,
        figure=words.difference_name(difference),
        first=first,
        one=notation.figure(one, unit),
        second=second,
        other=notation.figure(other, unit),
    )


def reversed_orders(
    comparison: RunDifferences, figures: Sequence[str] = HEADLINES
) -> Iterator[str]:
    """Yield where the paired values of two runs are in another order than their figures."""
    for one in of(comparison, figures):
        if one.reverses_headline:
            yield gettext(
                "Paired, the order is another: %(values)s.", values=paired_values(comparison, one)
            )


def _apart(difference: Difference, mean: float, first: str, second: str) -> str:
    if round(mean, 9) == 0:
        return gettext("%(first)s and %(second)s are equal", first=first, second=second)
    higher, lower = (first, second) if mean > 0 else (second, first)
    return gettext(
        "%(higher)s is %(amount)s higher than %(lower)s",
        higher=higher,
        lower=lower,
        amount=notation.amount(mean, words.difference_unit(difference)),
    )


def _details(comparison: RunDifferences, difference: Difference) -> str:
    """The interval and the p-values; the interval is that of the higher run minus the lower."""
    lower, upper = difference.interval.lower, difference.interval.upper
    if difference.mean is not None and difference.mean < 0:
        lower, upper = (None if b is None else -b for b in (upper, lower))
    return ", ".join(
        [
            _interval(comparison, lower, upper, words.difference_unit(difference)),
            f"p = {notation.p_value(difference.p)}",
            f"Holm {notation.p_value(difference.p_holm)}",
        ]
    )


def _interval(
    comparison: RunDifferences, lower: float | None, upper: float | None, unit: Unit
) -> str:
    if lower is None or upper is None:
        return gettext("too few for an interval")
    return gettext(
        "%(share)s interval %(interval)s",
        share=notation.percent(comparison.settings.confidence),
        interval=notation.interval(lower, upper, unit, signed=True),
    )


def _worth(comparison: RunDifferences, difference: Difference) -> str:
    if significant(comparison, difference):
        return gettext(
            "significant at %(level)s",
            level=notation.percent(1 - comparison.settings.confidence),
        )
    return gettext("not distinguishable")


def _partial(comparison: RunDifferences, difference: Difference) -> bool:
    return comparison.is_partial(difference.first) or comparison.is_partial(difference.second)
