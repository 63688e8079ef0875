"""How usable a system was to somebody: the System Usability Scale.

References: Brooke (1996), SUS: A "quick and dirty" usability scale. In: Jordan et al. (eds.),
Usability Evaluation in Industry, 189-194. An Indonesian version was found reliable
(Cronbach's alpha 0.841) by Sharfina & Santoso (2016), An Indonesian Adaptation of the System
Usability Scale (SUS), ICACSIS; the Indonesian wording here is our own translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, fsum, pi, sin, sqrt, tan

from msgspec import Struct

from webapp.i18n import mark
from webapp.metrics.comparisons.significance import MIN_UNITS, NO_INTERVAL, Interval
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


LOWEST, HIGHEST = 0.0, 100.0

ADJECTIVES = (
    (12.5, mark("worst imaginable")),
    (20.3, mark("awful")),
    (35.7, mark("poor")),
    (50.9, mark("OK")),
    (71.4, mark("good")),
    (85.5, mark("excellent")),
    (90.9, mark("best imaginable")),
)
"""The mean score of those who chose each adjective (Bangor et al. 2009), as message ids."""

GRADES = ((90.0, "A"), (80.0, "B"), (70.0, "C"), (60.0, "D"), (LOWEST, "F"))
"""The lowest score of each school grade (Bangor et al. 2009)."""

TOO_FEW_SCORES = mark("Fewer than two people answered all ten items.")


class UsabilitySummary(Struct, frozen=True):
    """The mean of `n` scores with its t interval, the adjective nearest to it and the grade.

    All are ``None`` without a score; the interval is empty of fewer than two. Adjective and
    grade are a rule of thumb for the mean, and say nothing of how sure it is.
    """

    n: int
    mean: float | None
    interval: Interval
    adjective: str | None
    grade: str | None


def usability_summary(scores: Sequence[float], *, confidence: float = 0.95) -> UsabilitySummary:
    """The mean of SUS scores with its two-sided t interval, which ends where the scale ends.

    ``m +- t(n - 1) * s / sqrt(n)``: *m* the mean, *s* the standard deviation of the sample,
    *t* the ``(1 + confidence) / 2`` quantile of Student's distribution. With 5 to 10 people
    the t interval is wider than a bootstrap over them, which at such sizes is too narrow.

    >>> found = usability_summary([80.0, 70.0, 75.0])
    >>> found.mean, found.adjective, found.grade
    (75.0, 'good', 'C')
    >>> round(found.interval.lower, 2), round(found.interval.upper, 2)  # 75 +- 4.303 x 5 / 1.732
    (62.58, 87.42)
    """
    n = len(scores)
    if not n:
        return UsabilitySummary(0, None, NO_INTERVAL, None, None)
    mean = fsum(scores) / n
    return UsabilitySummary(n, mean, _interval(scores, confidence), adjective(mean), grade(mean))


def adjective(mean: float) -> str:
    """The adjective whose mean is nearest to `mean`, as a message id; of two, the lower.

    >>> adjective(61.0), adjective(62.0)  # halfway between OK and good is 61.15
    ('OK', 'good')
    """
    return min(ADJECTIVES, key=lambda known: abs(known[0] - mean))[1]


def grade(mean: float) -> str:
    """The school grade of a mean score: A from 90, B from 80, C from 70, D from 60, else F.

    >>> grade(90.0), grade(89.9), grade(12.0)
    ('A', 'B', 'F')
    """
    return next(name for lowest, name in GRADES if mean >= lowest)


def student_quantile(share: float, degrees: int) -> float:
    """The value below which `share` (above 0.5) of Student's distribution lies.

    The distribution function has a closed form for whole degrees of freedom (Abramowitz &
    Stegun 1964, 26.7.3 and 26.7.4); it is turned round by halving the angle's range.

    >>> round(student_quantile(0.975, 9), 6)
    2.262157
    """
    low, high = 0.0, pi / 2
    for _ in range(200):
        middle = (low + high) / 2
        if (1 + _within(middle, degrees)) / 2 < share:
            low = middle
        else:
            high = middle
    return sqrt(degrees) * tan((low + high) / 2)


def _within(angle: float, degrees: int) -> float:
    """The probability that ``|t|`` is at most ``sqrt(degrees) * tan(angle)``."""
    cosine = cos(angle)
    odd = degrees % 2
    term, terms = (cosine if odd else 1.0), []
    for step in range(3 if odd else 2, degrees + 1, 2):
        terms.append(term)
        term *= cosine**2 * (step - 1) / step
    if odd:
        return 2 / pi * (angle + sin(angle) * fsum(terms))
    return sin(angle) * fsum(terms)


def _interval(scores: Sequence[float], confidence: float) -> Interval:
    n = len(scores)
    if n < MIN_UNITS:
        return NO_INTERVAL
    mean = fsum(scores) / n
    spread = sqrt(fsum((score - mean) ** 2 for score in scores) / (n - 1))
    reach = student_quantile((1 + confidence) / 2, n - 1) * spread / sqrt(n)
    return Interval(max(LOWEST, mean - reach), min(HIGHEST, mean + reach), 0)
