"""Numbers as Indonesian and English texts write them: 1.670.000.000 and 1,500,000 and 1,5."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

NUMBER = r"[0-9][0-9.,]*+"
"""A pattern for one written number, possessive so that no search ever goes back over it."""

_LONGEST = 25
"""Characters a written number may have; the cut keeps arithmetic cheap and exact."""

_LONGEST_EXACT = 30
_HUGE_EXPONENT = re.compile(r"[eE][-+]?[0-9_]{4}")
"""One that would be written out in more digits than any memory holds."""


def read_number(written: str, *, single_mark_is_decimal: bool = False) -> Decimal | None:
    """The number written with points and commas, or ``None`` if the groups make no sense.

    Two different marks: the last one is the decimal mark. One mark repeated: thousands.
    One mark once: thousands when exactly three digits follow (1.500), else decimal (1.5);
    `single_mark_is_decimal` makes it decimal always (1,250 M is 1.25 milyar).

    >>> read_number("1.670.000.000"), read_number("1,250.5"), read_number("105.0")
    (Decimal('1670000000'), Decimal('1250.5'), Decimal('105.0'))
    """
    written = written.strip(".,")
    if not written or len(written) > _LONGEST:
        return None
    whole, mark, decimals = _split(written, single_mark_is_decimal)
    groups = whole.replace(",", ".").split(".")
    if (mark and mark in whole) or len(set(whole) & {".", ","}) > 1 or not _are_thousands(groups):
        return None
    return Decimal("".join(groups) + "." + (decimals or "0")) if mark else Decimal("".join(groups))


def exact_number(written: str) -> Fraction | None:
    """The exact number as programs write it; ``None`` if it is not a number or far too large.

    >>> exact_number("0.1"), exact_number("1e3"), exact_number("1e999999999"), exact_number("x")
    (Fraction(1, 10), Fraction(1000, 1), None, None)
    """
    written = written.strip()
    if len(written) > _LONGEST_EXACT or _HUGE_EXPONENT.search(written):
        return None
    try:
        number = Fraction(written)
        float(number)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return number


def _split(written: str, single_mark_is_decimal: bool) -> tuple[str, str, str]:
    """The whole part, the decimal mark ("" without one) and the decimals."""
    last = max(written.rfind("."), written.rfind(","))
    if last < 0:
        return written, "", ""
    whole, mark, decimals = written[:last], written[last], written[last + 1 :]
    other_mark = "." if mark == "," else ","
    alone = mark not in whole
    grouping = len(decimals) == 3 and whole != "0" and not single_mark_is_decimal
    if (alone and other_mark in whole) or (alone and not grouping):
        return whole, mark, decimals
    return written, "", ""


def _are_thousands(groups: list[str]) -> bool:
    first, *rest = groups
    return not rest or (1 <= len(first) <= 3 and all(len(group) == 3 for group in rest))
