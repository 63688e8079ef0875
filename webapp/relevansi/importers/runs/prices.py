"""Prices as chatbots write them: an amount or a range, a note (sale, rent), a period."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct

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
    if written.isdecimal():
        return Decimal(written)
    last = max(written.rfind("."), written.rfind(","))
    integer_part, mark, decimals = written[:last], written[last : last + 1], written[last + 1 :]
    other_mark = "." if mark == "," else ","
    is_grouping = len(decimals) == 3 and integer_part != "0" and not single_mark_is_decimal
    if last < 0 or mark in integer_part or (other_mark not in integer_part and is_grouping):
        integer_part, mark, decimals = written, "", ""
    first, *groups = integer_part.replace(",", ".").split(".")
    are_thousands = 1 <= len(first) <= 3 and all(len(group) == 3 for group in groups)
    if len(set(integer_part) & {".", ","}) > 1 or (groups and not are_thousands):
        return None
    return Decimal("".join([first, *groups]) + (f".{decimals or 0}" if mark else ""))


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


HIGHEST_PRICE = 10**15
"""In whole rupiah; anything above is a slip of the pen, not a price."""

UNITS = {
    **dict.fromkeys(("triliun", "trilyun", "t"), 10**12),
    **dict.fromkeys(("milyar", "miliar", "milyard", "billion", "bn", "m"), 10**9),
    **dict.fromkeys(("juta", "jt", "million"), 10**6),
    **dict.fromkeys(("ribu", "rb"), 10**3),
}
SMALLEST_IN_FULL = 10_000
"""At the start of a range a number below this, without a unit, leaves its unit to the end's."""

_UNIT = rf"(?:{'|'.join(sorted(UNITS, key=len, reverse=True))})\b"
_CURRENCY = r"(?:\brp\.? ?|\bidr ?)"
_JOINED = r" ?(?:-|\u2013|\u2014|~|s\.?/?d\.?|sampai|hingga|to) ?"
_REST = (
    rf"(?P<low>{NUMBER}) ?(?P<unit>{_UNIT})?"
    rf"(?:{_JOINED}{_CURRENCY}?(?P<high>{NUMBER}) ?(?P<high_unit>{_UNIT})?)?"
)
_WITH_CURRENCY = re.compile(_CURRENCY + _REST)
_ANY = re.compile(_REST)
_PER_AREA = re.compile(r" ?(?:/|per) ?(?:m²|m2|meter)")
_SALE = re.compile(r"\b(?:sale|jual|dijual)\b")
_RENT = re.compile(r"\b(?:rent|rental|sewa|disewa|disewakan)\b")
_PERIOD = re.compile(
    r"(?:/ ?|\bper ?)(?:(?P<year>tahun|thn|th|year|yr)|(?P<month>bulan|bln|bl|month|mo))\b",
)


class Price(Struct, frozen=True):
    """The price in a price line; whole rupiah, ``high`` only for a range."""

    low: int | None = None
    high: int | None = None
    note: str | None = None
    period: str | None = None


def read_price(text: str) -> Price:
    """The price in `text`; blanks in it must be single.

    A price of 0 is unknown, and so is a price per square metre: it is not what the
    property costs. A period means rent unless the text says sale. The first number of a range
    may leave out its unit: it is the largest, not above the second's, that keeps it below the
    second. A number of five digits or more is meant as it is written.

    >>> read_price("Rp 800 - 1,2 M (sale)")
    Price(low=800000000, high=1200000000, note='sale', period=None)
    """
    text = text.lower()  # patterns that ignore case take several times as long
    low, high = _amounts(text)
    period, note = _PERIOD.search(text), read_note(text)
    if period:
        note = "sale" if _SALE.search(text) and not _RENT.search(text) else "rent"
    return Price(low, high, note, period.lastgroup if period else None)


def read_note(text: str) -> str | None:
    """The note in the words of `text`, "sale" or "rent"; ``None`` for neither or both."""
    text = text.lower()
    sale, rent = _SALE.search(text), _RENT.search(text)
    if bool(sale) == bool(rent):
        return None
    return "sale" if sale else "rent"


def _amounts(text: str) -> tuple[int | None, int | None]:
    amounts = _WITH_CURRENCY.search(text) or _ANY.search(text)
    if amounts is None or _PER_AREA.match(text, amounts.end()):
        return None, None
    unit, high_unit = _factor(amounts["unit"]), _factor(amounts["high_unit"])
    high = _rupiah(amounts["high"], high_unit) if amounts["high"] else None
    if high_unit > unit == 1:
        unit = _factor_left_out(amounts["low"], high_unit, high)
    low = _rupiah(amounts["low"], unit)
    if low is None:
        return high, None
    return low, high if high is not None and high > low else None


def _factor(unit: str | None) -> int:
    return UNITS[unit.casefold()] if unit else 1


def _factor_left_out(written: str, largest: int, high: int | None) -> int:
    number = read_number(written)
    if number is None or number >= SMALLEST_IN_FULL:
        return 1
    if high is None:
        return largest
    factors = sorted({factor for factor in UNITS.values() if factor <= largest}, reverse=True)
    return next((factor for factor in factors if (_rupiah(written, factor) or high) < high), 1)


def _rupiah(written: str, factor: int) -> int | None:
    number = read_number(written, single_mark_is_decimal=factor >= 10**9)
    if number is None:
        return None
    amount = number * factor
    if factor == 1 and amount != amount.to_integral_value():
        return None
    return int(amount.to_integral_value()) if 0 < amount <= Decimal(HIGHEST_PRICE) else None


_SIGNS = frozenset({"-", "--", "–", "—", "−", "?", "n/a", "na", "n.a.", "nan", "null"})
_BLANKS = _SIGNS | {"", "nil", "none", "tidak ada", "kosong"}


def content_of(text: str) -> str:
    """`text` without the blanks around it, or empty where it only says that there is nothing.

    >>> [content_of(text) for text in (" tidak ada datanya ", "Tidak Ada", "N/A", "-")]
    ['tidak ada datanya', '', '', '']
    """
    words = text.strip()
    return "" if " ".join(words.casefold().split()) in _BLANKS else words


def is_placeholder(value: object) -> bool:
    """Whether `value` is a text that only says that there is nothing.

    >>> is_placeholder("-"), is_placeholder(""), is_placeholder("0"), is_placeholder(None)
    (True, True, False, False)
    """
    return isinstance(value, str) and not content_of(value)


def is_blank_sign(value: object) -> bool:
    """Whether `value` is only a blank sign, in a field that may hold a whole answer.

    "Tidak ada" and "none" can be the answer to a question, and an empty text is one.

    >>> is_blank_sign(" - "), is_blank_sign("N/A"), is_blank_sign("Tidak ada"), is_blank_sign("")
    (True, True, False, False)
    """
    return isinstance(value, str) and value.strip().casefold() in _SIGNS
