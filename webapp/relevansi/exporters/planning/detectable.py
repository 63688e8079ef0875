"""What the tests of a comparison could have shown with so many questions, in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from relevansi import notation
from relevansi.exporters.comparisons.figure_names import difference_unit
from relevansi.i18n import ngettext
from relevansi.metrics.comparisons.differences import Difference, highest_value
from relevansi.metrics.comparisons.significance import smallest_p
from relevansi.metrics.intervals import LEVEL
from relevansi.metrics.planning.power import Demand, difference_shown, mixture


def shown_by_one(difference: Difference) -> str:
    """Return the smallest difference that these questions can show, in words; "" where unknown."""
    if too_few(difference):
        return smallest_p_of(difference)
    smallest = _smallest_difference(difference)
    if smallest is None:
        return ""
    return ngettext(
        "%(n)s question can show differences from %(difference)s up (power %(power)s, this test).",
        "%(n)s questions can show differences from %(difference)s up (power %(power)s, this test).",
        difference.n,
        difference=notation.amount(smallest, difference_unit(difference)),
        power=notation.percent(Demand().power),
    )


def too_few(difference: Difference) -> bool:
    """Whether no outcome of so few questions could be significant after Holm's correction."""
    return difference.pairs * smallest_p(difference.n) > LEVEL


def smallest_p_of(difference: Difference) -> str:
    """Return the smallest p of so few questions in words: no outcome could be significant."""
    n, pairs, least = difference.n, difference.pairs, smallest_p(difference.n)
    if pairs == 1:
        return ngettext(
            "With %(n)s question the smallest p is %(p)s: no outcome could be significant.",
            "With %(n)s questions the smallest p is %(p)s: no outcome could be significant.",
            n,
            p=notation.four(least, "probability"),
        )
    return ngettext(
        "With %(n)s question the smallest p is %(p)s, %(holm)s after Holm over %(pairs)s pairs: no "
        "outcome could be significant.",
        "With %(n)s questions the smallest p is %(p)s, %(holm)s after Holm over %(pairs)s pairs: "
        "no outcome could be significant.",
        n,
        p=notation.four(least, "probability"),
        holm=notation.four(min(1.0, pairs * least), "probability"),
        pairs=notation.number(pairs),
    )


def smallest_shown(differences: Sequence[Difference]) -> tuple[float, int] | None:
    """Return the smallest difference that every test can show, and of how many questions."""
    amounts = []
    for difference in differences:
        smallest = _smallest_difference(difference)
        if smallest is not None:
            amounts.append((smallest, difference.n))
    return max(amounts, default=None)


def _smallest_difference(difference: Difference) -> float | None:
    return _simulated(tuple(difference.differences), difference.pairs, difference.figure)


@lru_cache(maxsize=512)  # a page of three runs would be a second of simulation each time
def _simulated(differences: tuple[float, ...], pairs: int, figure: str) -> float | None:
    mixed = mixture(differences)
    if mixed is None:
        return None
    demand, highest = Demand(level=LEVEL / pairs), highest_value(figure)
    return difference_shown(len(differences), mixed, demand, highest=highest)
