"""Amounts as people type them into a form: "800 juta", "1,5 M", "1M an", "di bawah 800jt".

M is milyar, as the questions have it; "bn" and "million" are understood too.
"""

from __future__ import annotations

import re
from fractions import Fraction

from webapp.importers.runs.prices import HIGHEST_PRICE, NUMBER, UNITS, read_number

_UNIT = "|".join(sorted(UNITS, key=len, reverse=True))
_AMOUNT = re.compile(rf"(?:rp\.? ?|idr ?)?(?P<number>{NUMBER}) ?(?P<unit>{_UNIT})?", re.IGNORECASE)
_ROUGHLY = re.compile(r" ?-? ?an", re.IGNORECASE)
_JOINED = re.compile(r" ?(?:-|\u2013|\u2014|s\.?/?d\.?|sampai|hingga|to|dan|and) ?", re.IGNORECASE)
_AT_MOST = re.compile(
    r"(?:di ?bawah|kurang dari|paling banyak|paling mahal|maksimal|maksimum|maks\.?|max\.?|"
    r"sampai|hingga|at most|under|below|up to|<=?|\u2264) ?",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(?:di ?atas|lebih dari|paling sedikit|paling murah|minimal|minimum|min\.?|mulai(?: dari)?|"
    r"at least|above|over|from|>=?|\u2265) ?",
    re.IGNORECASE,
)
_SMALLEST_BARE = 100_000
"""A bare number below this takes the unit of the other end of its range: 500 - 800 juta."""


class UnreadableAmount(ValueError):
    """The text names no amount of money."""


Span = tuple[Fraction | None, Fraction | None]
"""From one amount to another in rupiah, ends included; ``None`` is open."""


def read_amount(text: str) -> Fraction:
    """The amount that `text` names, in rupiah; raises ``UnreadableAmount``.

    >>> read_amount("800 juta"), read_amount("Rp 1,5 M"), read_amount("1.500.000.000")
    (Fraction(800000000, 1), Fraction(1500000000, 1), Fraction(1500000000, 1))
    """
    squeezed = " ".join(text.split())
    match, value, _ = _amount(squeezed, 0)
    if match.end() != len(squeezed):
        raise UnreadableAmount(text)
    return value


def read_span(text: str) -> Span:
    """Return the range of amounts that `text` names; raises ``UnreadableAmount``.

    An amount alone is both ends. With "an" it is the amounts that begin with the same
    digits, to one hundredth below the next: 1M an is 1 to 1.99 M, 800 jutaan 800 to 899
    juta, 1,5M an 1.5 to 1.599 M.

    >>> [int(end) for end in read_span("1M an")]
    [1000000000, 1990000000]
    """
    squeezed = " ".join(text.split())
    if bound := _AT_MOST.match(squeezed):
        return None, read_amount(squeezed[bound.end() :])
    if bound := _AT_LEAST.match(squeezed):
        return read_amount(squeezed[bound.end() :]), None
    match, low, step = _amount(squeezed, 0)
    if match.end() == len(squeezed):
        return low, low
    if _ROUGHLY.fullmatch(squeezed, match.end()):
        return low, low + step - step / 100
    joined = _JOINED.match(squeezed, match.end())
    other, high, _ = _amount(squeezed, joined.end() if joined else len(squeezed))
    if other.end() != len(squeezed):
        raise UnreadableAmount(text)
    if not match["unit"] and other["unit"] and low < _SMALLEST_BARE:
        low *= UNITS[other["unit"].casefold()]
    if low > high:
        raise UnreadableAmount(text)
    return low, high


def _amount(text: str, start: int) -> tuple[re.Match[str], Fraction, Fraction]:
    """Return the match, the amount, and one in its last digit that is not 0."""
    match = _AMOUNT.match(text, start)
    if match is None:
        raise UnreadableAmount(text)
    unit = UNITS[match["unit"].casefold()] if match["unit"] else 1
    number = read_number(match["number"], single_mark_is_decimal=unit >= 10**9)
    if number is None or number * unit > HIGHEST_PRICE:
        raise UnreadableAmount(text)
    exponent = number.normalize().as_tuple().exponent
    step = Fraction(10) ** (exponent if isinstance(exponent, int) else 0)
    return match, Fraction(number) * unit, step * unit
