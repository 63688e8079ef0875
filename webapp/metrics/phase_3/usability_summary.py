"""The usability scores of a few people summed up: mean, interval, and the adjective for it.

References: Brooke (1996), see ``usability``; Bangor, Kortum & Miller (2009), Determining What
Individual SUS Scores Mean: Adding an Adjective Rating Scale. Journal of Usability Studies
4(3), 114-123 (the adjectives' means, the school grades and the acceptable range); Sauro &
Lewis (2016), Quantifying the User Experience, 2nd ed., chapter 3 (the t interval).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, fsum, pi, sin, sqrt, tan

from msgspec import Struct

from webapp.i18n import mark
from webapp.metrics.comparisons.significance import MIN_UNITS, NO_INTERVAL, Interval

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
