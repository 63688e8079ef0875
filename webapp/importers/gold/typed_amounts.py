"""Amounts as people type them into a form: "800 juta", "1,5 M", "1M an", "di bawah 800jt".

M is milyar, as the questions have it; "bn" and "million" are understood too.
"""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from webapp.importers.runs.prices import HIGHEST_PRICE, NUMBER, read_number

_UNITS = {
    **dict.fromkeys(("triliun", "trilyun", "t"), 10**12),
    **dict.fromkeys(("milyard", "milyar", "miliar", "billion", "bn", "m"), 10**9),
    **dict.fromkeys(("juta", "jt", "million"), 10**6),
    **dict.fromkeys(("ribu", "rb"), 10**3),
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
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


class AmountSpan(Struct, frozen=True):
    """From ``low`` to ``high`` rupiah, ends included; ``None`` is open."""

    low: Fraction | None
    high: Fraction | None


class _Amount(Struct, frozen=True):
    value: Fraction
    number: Fraction
    unit: int | None
    step: Fraction
    end: int


def read_amount(text: str) -> Fraction:
    """The amount that `text` names, in rupiah; raises ``UnreadableAmount``.

    >>> read_amount("800 juta"), read_amount("Rp 1,5 M"), read_amount("1.500.000.000")
    (Fraction(800000000, 1), Fraction(1500000000, 1), Fraction(1500000000, 1))
    """
    squeezed = " ".join(text.split())
    found = _amount(squeezed, 0)
    if found is None or found.end != len(squeezed):
        raise UnreadableAmount(text)
    return found.value


def read_span(text: str) -> AmountSpan:
    """The range of amounts that `text` names; raises ``UnreadableAmount``.

    An amount alone is both ends. With "an" it is the amounts that begin with the same
    digits, to one hundredth below the next: 1M an is 1 to 1.99 M, 800 jutaan 800 to 899
    juta, 1,5M an 1.5 to 1.599 M.

    >>> span = read_span("1M an")
    >>> int(span.low), int(span.high)
    (1000000000, 1990000000)
    """
    squeezed = " ".join(text.split())
    for pattern, is_upper in ((_AT_MOST, True), (_AT_LEAST, False)):
        bound = pattern.match(squeezed)
        if bound:
            value = read_amount(squeezed[bound.end() :])
            return AmountSpan(None, value) if is_upper else AmountSpan(value, None)
    low = _amount(squeezed, 0)
    if low is None:
        raise UnreadableAmount(text)
    if low.end == len(squeezed):
        return AmountSpan(low.value, low.value)
    if _ROUGHLY.fullmatch(squeezed, low.end):
        return AmountSpan(low.value, low.value + low.step - low.step / 100)
    return _between(squeezed, low)


def _between(text: str, low: _Amount) -> AmountSpan:
    joined = _JOINED.match(text, low.end)
    high = _amount(text, joined.end()) if joined else None
    if high is None or high.end != len(text):
        raise UnreadableAmount(text)
    first = low.value
    if low.unit is None and high.unit is not None and low.number < _SMALLEST_BARE:
        first = low.number * high.unit
    if first > high.value:
        raise UnreadableAmount(text)
    return AmountSpan(first, high.value)


def _amount(text: str, start: int) -> _Amount | None:
    """The amount that begins at `start`; ``step`` is one in its last digit that is not 0."""
    found = _AMOUNT.match(text, start)
    if found is None:
        return None
    unit = _UNITS[found["unit"].casefold()] if found["unit"] else None
    number = read_number(found["number"], single_mark_is_decimal=(unit or 0) >= 10**9)
    if number is None or number * (unit or 1) > HIGHEST_PRICE:
        return None
    exponent = number.normalize().as_tuple().exponent
    step = Fraction(10) ** (exponent if isinstance(exponent, int) else 0)
    exact = Fraction(number)
    return _Amount(exact * (unit or 1), exact, unit, step * (unit or 1), found.end())
