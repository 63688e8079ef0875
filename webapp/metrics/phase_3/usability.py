"""How usable a system was to somebody: the System Usability Scale.

References: Brooke (1996), SUS: A "quick and dirty" usability scale. In: Jordan et al. (eds.),
Usability Evaluation in Industry, 189-194. An Indonesian version was found reliable
(Cronbach's alpha 0.841) by Sharfina & Santoso (2016), An Indonesian Adaptation of the System
Usability Scale (SUS), ICACSIS; the Indonesian wording here is our own translation.
"""

from __future__ import annotations

from collections.abc import Sequence

from webapp.i18n import mark
from webapp.metrics.judging.queries import Undefined

ITEMS = (
    mark("I think that I would like to use this system frequently."),
    mark("I found the system unnecessarily complex."),
    mark("I thought the system was easy to use."),
    mark(
        "I think that I would need the support of a technical person to be able to use this system."
    ),
    mark("I found the various functions in this system were well integrated."),
    mark("I thought there was too much inconsistency in this system."),
    mark("I would imagine that most people would learn to use this system very quickly."),
    mark("I found the system very cumbersome to use."),
    mark("I felt very confident using the system."),
    mark("I needed to learn a lot of things before I could get going with this system."),
)
"""The ten items in their standard wording and order, as message ids."""

LEAST, MOST = 1, 5
"""Strongly disagree and strongly agree."""


def usability_score(answers: Sequence[int | None]) -> float | Undefined:
    """The SUS score of one person, 0 to 100, from the answers (1 to 5) to the ten items.

    ``SUS = 2.5 * (sum of (a - 1) over items 1, 3, 5, 7, 9 + sum of (5 - a) over items 2, 4, 6,
    8, 10)``: *a* the answer to an item; the odd items praise and the even ones complain
    (Brooke 1996). It is not a percentage. An item without an answer makes it ``INCOMPLETE``.
    Raises ``ValueError`` for another number of items or an answer outside 1 to 5.

    >>> usability_score([4, 2, 4, 1, 4, 2, 5, 2, 4, 2])
    80.0
    >>> usability_score([4, 2, 4, 1, 4, 2, 5, 2, 4, None])
    <Undefined.INCOMPLETE: 'incomplete'>
    """
    if len(answers) != len(ITEMS):
        raise ValueError(f"{len(answers)} answers; the scale has {len(ITEMS)} items")
    given = [answer for answer in answers if answer is not None]
    if not all(LEAST <= answer <= MOST for answer in given):
        raise ValueError(f"an answer is outside {LEAST} to {MOST}: {given}")
    if len(given) < len(answers):
        return Undefined.INCOMPLETE
    praise = sum(answer - LEAST for answer in given[::2])
    complaint = sum(MOST - answer for answer in given[1::2])
    return 2.5 * (praise + complaint)
