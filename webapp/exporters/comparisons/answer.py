"""The answer of a comparison: who is ahead on what, what cannot be told apart, how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from webapp import notation, rooms
from webapp.exporters.comparisons import conclusions, words
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.differences import Difference, RunDifferences

MOST_NAMED = 6
"""The most runs or pairs of runs that are named one by one; the rest are counted."""


def answer(comparison: RunDifferences, figures: Collection[str]) -> tuple[str, ...]:
    """Return sentences on the differences of `figures`: the significant ones, then the others.

    Wings add sentences on those that are not significant. Where no two runs share a question with a
    value, one sentence says so. Where a run is not rated to its end, a last sentence says that the
    answer is provisional.
    """
    asked = [
        one
        for one in comparison.differences
        if one.figure in figures and not one.false_negatives_at_zero
    ]
    paired = [one for one in asked if one.mean is not None]
    if not paired:
        return (gettext("Nothing can be concluded yet: no two runs share a rated question."),)
    said = [_ahead(comparison, paired), _rest(comparison, paired)]
    said += _why_alike(comparison, paired)
    if any(comparison.is_partial(run) for one in asked for run in (one.first, one.second)):
        said.append(gettext("Provisional: not everything is rated."))
    return tuple(said)


def _ahead(comparison: RunDifferences, paired: Sequence[Difference]) -> str:
    """Return which run is ahead of which on which figures, or that no run is ahead."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in paired:
        if conclusions.significant(comparison, one):
            pair = (one.first, one.second) if (one.mean or 0) > 0 else (one.second, one.first)
            found.setdefault(pair, []).append(words.difference_name(one))
    if not found:
        return gettext(
            "No run is ahead of another on %(figures)s.",
            figures=_joined(list(dict.fromkeys(map(words.difference_name, paired))), gettext("or")),
        )
    behind: dict[tuple[str, str], list[str]] = {}
    for (higher, lower), figures in found.items():
        on = (comparison.name(higher), _joined(figures, gettext("and")))
        behind.setdefault(on, []).append(comparison.name(lower))
    parts = [
        gettext(
            "%(higher)s is ahead of %(lower)s on %(figures)s",
            higher=higher,
            lower=_named(lower),
            figures=figures,
        )
        for (higher, figures), lower in behind.items()
    ]
    return f"{'; '.join(parts)}."


def _rest(comparison: RunDifferences, paired: Sequence[Difference]) -> str:
    """Return which runs cannot be told apart on which figures, and how sure the answer is."""
    found: dict[str, list[str]] = {}
    for one in paired:
        if not conclusions.significant(comparison, one):
            pair = f"{comparison.name(one.first)} – {comparison.name(one.second)}"
            found.setdefault(pair, []).append(words.difference_name(one))
    sure = gettext(
        "tests at %(level)s after Holm's correction, over %(pairs)s",
        level=notation.percent(1 - comparison.settings.confidence),
        pairs=_questions(paired),
    )
    if not found:
        return gettext("Every difference is significant (%(sure)s).", sure=sure)
    alike: dict[str, list[str]] = {}
    for pair, figures in found.items():
        alike.setdefault(_joined(figures, gettext("and")), []).append(pair)
    parts = [
        gettext("on %(figures)s: %(pairs)s", figures=figures, pairs=_named(pairs))
        for figures, pairs in alike.items()
    ]
    return gettext("Cannot be told apart %(on)s (%(sure)s).", on="; ".join(parts), sure=sure)


def _why_alike(comparison: RunDifferences, paired: Sequence[Difference]) -> list[str]:
    """Return what wings say of the differences that are not significant."""
    alike = [one for one in paired if not conclusions.significant(comparison, one)]
    level = 1 - comparison.settings.confidence
    modules = rooms.contributions("exporters", "not_told_apart")
    return [said for wing in modules if (said := wing.of_all(alike, level))]


def _named(names: Sequence[str]) -> str:
    """Return the names as a list; of many, the first and how many more."""
    listed, rest = ", ".join(names[:MOST_NAMED]), len(names) - MOST_NAMED
    if rest > 0:
        return gettext("%(listed)s and %(n)s more", listed=listed, n=notation.number(rest))
    return listed


def _questions(paired: Sequence[Difference]) -> str:
    """Return the number of questions of the differences, or the smallest and the largest."""
    least, most = (notation.number(find(one.n for one in paired)) for find in (min, max))
    if least == most:
        return ngettext("%(n)s question", "%(n)s questions", paired[0].n)
    return gettext("%(low)s to %(high)s questions", low=least, high=most)


def _joined(names: Sequence[str], word: str) -> str:
    """Return the names as a list, with `word` before the last."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
