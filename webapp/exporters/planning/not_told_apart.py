"""The smallest differences that a comparison could have shown, where it shows none."""

from __future__ import annotations

from collections.abc import Sequence

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.differences import Difference
from webapp.metrics.planning.power import Demand, smallest_difference


def of_one(difference: Difference, level: float) -> str:
    """Return the smallest difference that these questions can show, in words; "" where unknown."""
    shown = _shown(difference, level)
    if shown is None:
        return ""
    return ngettext(
        "%(n)s question can show differences from %(difference)s up (power %(power)s).",
        "%(n)s questions can show differences from %(difference)s up (power %(power)s).",
        difference.n,
        difference=notation.amount(shown, words.difference_unit(difference)),
        power=notation.percent(Demand().power),
    )


def of_all(differences: Sequence[Difference], level: float) -> str:
    """Return the same as a clause on several tests: of each figure the pair that varies most."""
    found: dict[str, str] = {}
    by_size = sorted(
        ((shown, one) for one in differences if (shown := _shown(one, level)) is not None),
        key=lambda pair: -pair[0],
    )
    for shown, one in by_size:
        amount = notation.amount(shown, words.difference_unit(one))
        found.setdefault(words.difference_name(one), amount)
    if not found:
        return ""
    names = dict.fromkeys(map(words.difference_name, differences))
    amounts = [
        gettext("%(difference)s on %(figure)s", difference=found[name], figure=name)
        for name in names
        if name in found
    ]
    return gettext(
        "which have a power of %(power)s to show a difference of %(differences)s",
        power=notation.percent(Demand().power),
        differences=words.joined(amounts, gettext("and")),
    )


def _shown(difference: Difference, level: float) -> float | None:
    """The smallest difference that its questions show; ``None`` where nothing varies."""
    if not difference.deviation or difference.deviation <= 1e-12:
        return None
    return smallest_difference(difference.n, difference.deviation, Demand(level=round(level, 12)))
