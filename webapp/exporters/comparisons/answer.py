"""The answer of a comparison: who is ahead on what, what cannot be told apart, how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from webapp import notation
from webapp.exporters.comparisons import conclusions, words
from webapp.exporters.planning import not_told_apart
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.differences import Difference, RunDifferences

MOST_NAMED = 6
"""The most runs, figures or groups of pairs that are named one by one; the rest are counted."""


def answer(comparison: RunDifferences, figures: Collection[str]) -> tuple[str, ...]:
    """Return two sentences on `figures`: who is ahead; what cannot be told apart, and how sure.

    The first says so where the answer is provisional, since a run is not rated to its end. Where
    no two runs share a question with a value, one sentence says that.
    """
    asked = [
        one
        for one in comparison.differences
        if one.figure in figures and not one.false_negatives_at_zero
    ]
    paired = [one for one in asked if one.mean is not None]
    if not paired:
        return (gettext("Nothing can be concluded yet: no two runs share a rated question."),)
    apart = [one for one in paired if conclusions.significant(comparison, one)]
    ahead = _ahead(comparison, apart) if apart else _nobody(comparison, paired)
    if any(comparison.is_partial(run) for one in asked for run in (one.first, one.second)):
        ahead = gettext("%(ahead)s; this is provisional, as not everything is rated", ahead=ahead)
    tested = _tested(comparison, paired)
    if len(apart) == len(paired):
        rest = gettext("Every difference is significant in %(tests)s", tests=tested)
    elif not apart and len(paired) == len(asked):
        rest = gettext("They cannot be told apart in %(tests)s", tests=tested)
    else:
        rest = gettext("%(alike)s, in %(tests)s", alike=_alike(comparison, paired), tests=tested)
    return (f"{ahead}.", f"{rest}.")


def _ahead(comparison: RunDifferences, apart: Sequence[Difference]) -> str:
    """Return which run is ahead of which on which figures."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in apart:
        pair = (one.first, one.second) if (one.mean or 0) > 0 else (one.second, one.first)
        found.setdefault(pair, []).append(words.difference_name(one))
    behind: dict[tuple[str, str], list[str]] = {}
    for (higher, lower), figures in found.items():
        on = (comparison.name(higher), _listed(figures, gettext("and")))
        behind.setdefault(on, []).append(comparison.name(lower))
    parts = [
        gettext(
            "%(higher)s is ahead of %(lower)s on %(figures)s",
            higher=higher,
            lower=_listed(lower, gettext("and")),
            figures=figures,
        )
        for (higher, figures), lower in behind.items()
    ]
    return "; ".join(parts)


def _nobody(comparison: RunDifferences, paired: Sequence[Difference]) -> str:
    """Return that no run is ahead on any of the figures; of two runs by their names."""
    figures = _listed(list(dict.fromkeys(map(words.difference_name, paired))), gettext("or"))
    pairs = {(one.first, one.second) for one in paired}
    if len(pairs) > 1:
        return gettext("No run is ahead of another on %(figures)s", figures=figures)
    ((first, second),) = pairs
    return gettext(
        "Neither %(first)s nor %(second)s is ahead on %(figures)s",
        first=comparison.name(first),
        second=comparison.name(second),
        figures=figures,
    )


def _alike(comparison: RunDifferences, paired: Sequence[Difference]) -> str:
    """Return which run cannot be told apart from which others on which figures."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in paired:
        if not conclusions.significant(comparison, one):
            found.setdefault((one.first, one.second), []).append(words.difference_name(one))
    others: dict[tuple[str, str], list[str]] = {}
    for (left, right), alike in found.items():
        on = (comparison.name(left), _listed(alike, gettext("and")))
        others.setdefault(on, []).append(comparison.name(right))
    named = list(others.items())
    parts = [
        gettext(
            "%(first)s from %(others)s on %(figures)s",
            first=first,
            others=_listed(seconds, gettext("or")),
            figures=figures,
        )
        for (first, figures), seconds in named[1:MOST_NAMED]
    ]
    more = sum(len(seconds) for _, seconds in named[MOST_NAMED:])
    if more:
        parts.append(ngettext("%(n)s further pair", "%(n)s further pairs", more))
    (first, figures), seconds = named[0]
    first_part = gettext(
        "%(first)s cannot be told apart from %(others)s on %(figures)s",
        first=first,
        others=_listed(seconds, gettext("or")),
        figures=figures,
    )
    return gettext(", nor ").join([first_part, *parts])


def _tested(comparison: RunDifferences, paired: Sequence[Difference]) -> str:
    """Return the tests, and the differences that they could have shown."""
    level = 1 - comparison.settings.confidence
    tests = gettext(
        "tests at %(level)s after Holm's correction over %(pairs)s",
        level=notation.percent(level),
        pairs=_questions(paired),
    )
    alike = [one for one in paired if not conclusions.significant(comparison, one)]
    return ", ".join(filter(None, (tests, not_told_apart.of_all(alike, level))))


def _listed(names: Sequence[str], word: str) -> str:
    """Return the names as a list with `word` before the last; of many, how many more there are."""
    rest = len(names) - MOST_NAMED
    if rest > 0:
        listed = ", ".join(names[:MOST_NAMED])
        return gettext("%(listed)s and %(n)s more", listed=listed, n=notation.number(rest))
    return words.joined(names, word)


def _questions(paired: Sequence[Difference]) -> str:
    """Return the number of questions of the differences, or the smallest and the largest."""
    least, most = (notation.number(find(one.n for one in paired)) for find in (min, max))
    if least == most:
        return ngettext("%(n)s question", "%(n)s questions", paired[0].n)
    return gettext("%(low)s to %(high)s questions", low=least, high=most)
