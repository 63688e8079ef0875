"""Numbers and times as the reader's language writes them: one notation for pages and reports."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache

from babel.dates import format_date, format_datetime
from babel.numbers import format_decimal, get_decimal_symbol

from webapp.i18n import language

UNDEFINED = "-"
MINUS = "−"
SMALLEST_PLAIN = 0.0001
SMALLEST_SHOWN = 0.005
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def figure(value: float | None) -> str:
    """Return a figure with two decimals; undefined is "-", never 0.

    >>> figure(0.9375), figure(None)
    ('0,94', '-')
    """
    if value is None:
        return UNDEFINED
    # Babel's "0.00" writes the same in ten times the time, and a page has sixty of them.
    return f"{Decimal(str(value)):.2f}".replace(".", _mark(language()))


def four(value: Fraction | float | None) -> str:
    """Return a figure with the four decimals of a report; undefined is "-".

    >>> four(Fraction(2, 3)), four(None)
    ('0.6667', '-')
    """
    if value is None:
        return UNDEFINED
    return format_decimal(round(float(value), 4), format="0.0000", locale=language())


@cache
def _mark(code: str) -> str:
    """Return what stands before the decimals in a language."""
    return get_decimal_symbol(code)


def number(value: float) -> str:
    """Return a count or a size with its thousands apart and no needless decimals.

    >>> number(1670000000), number(105.5)
    ('1.670.000.000', '105,5')
    """
    return format_decimal(value, locale=language())


def difference(value: float | None) -> str:
    """Return a difference with two decimals and its sign; undefined is "-".

    >>> difference(0.125), difference(-0.5), difference(0.001), difference(None)
    ('+0,12', '−0,50', '0,00', '-')
    """
    if value is None:
        return UNDEFINED
    size = figure(abs(value))
    if size == figure(0.0):
        return size
    return f"{'+' if value > 0 else MINUS}{size}"


def amount(value: float) -> str:
    """Return how large a difference is: two decimals, or four digits where they would be 0.

    >>> amount(-0.125), amount(0.00123456)
    ('0,12', '0,001235')
    """
    size = abs(value)
    return figure(size) if size >= SMALLEST_SHOWN or size == 0 else p_value(size)


def interval(lower: float | None, upper: float | None, *, signed: bool = False) -> str:
    """Return an interval in brackets; one without bounds is "-".

    >>> interval(0.5, 0.75), interval(-0.25, 0.5, signed=True), interval(None, None)
    ('[0,50; 0,75]', '[−0,25; +0,50]', '-')
    """
    if lower is None or upper is None:
        return UNDEFINED
    write = difference if signed else figure
    return f"[{write(lower)}; {write(upper)}]"


def percent(share: float) -> str:
    """Return a share in per cent, without needless decimals.

    >>> percent(0.95)
    '95 %'
    """
    return f"{number(round(100 * share, 2))} %"


def p_value(p: float | None) -> str:
    """Return a probability to four significant digits, very small ones as a power of ten.

    >>> p_value(1.0), p_value(0.0625), p_value(2 / 2**21), p_value(None)
    ('1', '0,0625', '9,537 × 10⁻⁷', '-')
    """
    if p is None:
        return UNDEFINED
    mantissa, exponent = f"{p:.3e}".split("e")
    if float(p) >= SMALLEST_PLAIN or p == 0:
        return format_decimal(float(f"{p:.4g}"), format="0.#######", locale=language())
    power = str(int(exponent)).translate(SUPERSCRIPTS)
    return f"{format_decimal(float(mantissa), format='0.###', locale=language())} × 10{power}"


def moment(when: datetime) -> str:
    """Return a time in the machine's own zone, to the minute."""
    return format_datetime(when.astimezone(), "d MMM y, HH:mm", locale=language())


def zoned_moment(when: datetime) -> str:
    """Return a time as ``moment`` does with its distance from UTC, for files that travel."""
    return format_datetime(when.astimezone(), "d MMM y, HH:mm (xxx)", locale=language())


def file_day(when: date) -> str:
    """Return a date as the names of files have it.

    >>> file_day(date(2026, 1, 23))
    '20260123'
    """
    return f"{when:%Y%m%d}"


def day(when: date) -> str:
    """Return a date with its month in words.

    >>> day(date(2026, 1, 23))
    '23 Januari 2026'
    """
    return format_date(when, "d MMMM y", locale=language())
