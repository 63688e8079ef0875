"""Numbers and times as the reader's language writes them: one notation for pages and reports.

Pages write ratios as their reader chose, 0.94 or 94%; reports and files always as decimals.
A unit is that of ``metrics.judging.registry``; only what is a ratio follows the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache

from babel.dates import format_date, format_datetime
from babel.numbers import format_decimal, get_decimal_symbol

from webapp.i18n import gettext, language

UNDEFINED = "-"
MINUS = "−"
SMALLEST_PLAIN = 0.00005
SMALLEST_SHOWN = 0.005
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
RATIO = "ratio"
DECIMALS, PERCENT = "decimals", "percent"

_ratios: ContextVar[str] = ContextVar("ratios", default=DECIMALS)


def ratios() -> str:
    """Return how ratios are written in this context: ``DECIMALS`` or ``PERCENT``."""
    return _ratios.get()


def write_ratios(way: str) -> None:
    """Write ratios this way from here on, in this context."""
    _ratios.set(way)


@contextmanager
def writing_ratios(way: str) -> Iterator[None]:
    """Write ratios this way inside the ``with`` block."""
    before = _ratios.set(way)
    try:
        yield
    finally:
        _ratios.reset(before)


def figure(value: float | None, unit: str = RATIO) -> str:
    """Return a figure with two decimals; undefined is "-", never 0.

    >>> figure(0.9375), figure(None)
    ('0,94', '-')
    >>> with writing_ratios(PERCENT):
    ...     figure(0.9375), figure(4.25, "grade 0-5")
    ('94%', '4,25')
    """
    if value is None:
        return UNDEFINED
    if _in_percent(unit):
        return f"{_hundredfold(value, 2)}%"
    return decimals(value, 2)


def four(value: Fraction | float | None, unit: str = RATIO) -> str:
    """Return a figure with the four decimals that files have of it; undefined is "-".

    A fraction is rounded exactly, a float as ``round`` does.

    >>> four(Fraction(2, 3)), four(Fraction(1, 160)), four(1 / 160), four(None)
    ('0,6667', '0,0062', '0,0063', '-')
    >>> with writing_ratios(PERCENT):
    ...     four(Fraction(2, 3)), four(1 / 160)
    ('66,67%', '0,63%')
    """
    if value is None:
        return UNDEFINED
    shown = float(round(Fraction(value), 4))
    if _in_percent(unit):
        return f"{_hundredfold(shown, 4)}%"
    return format_decimal(shown, format="0.0000", locale=language())


def scale(value: float, unit: str = RATIO) -> str:
    """Return a value at an axis, as short as it can be.

    >>> scale(0.5), scale(1.0)
    ('0,5', '1')
    >>> with writing_ratios(PERCENT):
    ...     scale(0.5), scale(5.0, "grade 0-5")
    ('50%', '5')
    """
    return percent(value) if _in_percent(unit) else number(value)


def decimals(value: float, places: int) -> str:
    """Return a value with so many decimals.

    >>> decimals(0.5625, 3)
    '0,562'
    """
    return _decimals(str(value), places, decimal_mark())


@lru_cache(maxsize=4096)
def _decimals(value: str, places: int, mark: str) -> str:
    # Babel's "0.00" writes the same in ten times the time.
    return f"{Decimal(value):.{places}f}".replace(".", mark)


def decimal_mark() -> str:
    """Return the sign before the decimals.

    >>> decimal_mark()
    ','
    """
    return _mark(language())


def _in_percent(unit: str) -> bool:
    return unit == RATIO and _ratios.get() == PERCENT


def _hundredfold(value: float, places: int) -> str:
    digits = round(Decimal(str(value)), places)
    return f"{100 * digits:.{places - 2}f}".replace(".", decimal_mark())


@cache
def _mark(code: str) -> str:
    return get_decimal_symbol(code)


def number(value: float) -> str:
    """Return a count or a size with its thousands apart and no needless decimals.

    >>> number(1670000000), number(105.5)
    ('1.670.000.000', '105,5')
    """
    if isinstance(value, int):
        return _count(value, language())
    return format_decimal(value, locale=language())


@lru_cache(maxsize=1024)
def _count(value: int, code: str) -> str:
    return format_decimal(value, locale=code)


def difference(value: float | None, unit: str = RATIO) -> str:
    """Return a difference of two figures with its sign; undefined is "-".

    That of two percentages is in percentage points.

    >>> difference(0.125), difference(-0.5), difference(0.001), difference(None)
    ('+0,12', '−0,50', '0,00', '-')
    >>> with writing_ratios(PERCENT):
    ...     difference(0.125), difference(-0.5, "grade 0-5")
    ('+12 poin', '−0,50')
    """
    if value is None:
        return UNDEFINED
    return _points(_signed(value, unit)) if _in_percent(unit) else _signed(value, unit)


def amount(value: float, unit: str = RATIO) -> str:
    """Return how large a difference is: two decimals, or four digits where they would be 0.

    >>> amount(-0.125), amount(0.00123456)
    ('0,12', '0,001235')
    >>> with writing_ratios(PERCENT):
    ...     amount(-0.125), amount(0.00123456)
    ('12 poin', '0,1235 poin')
    """
    size = abs(value)
    is_tiny = 0 < size < SMALLEST_SHOWN
    if _in_percent(unit):
        return _points(p_value(100 * size) if is_tiny else _hundredfold(size, 2))
    return p_value(size) if is_tiny else figure(size, unit)


def interval(
    lower: float | None, upper: float | None, unit: str = RATIO, *, signed: bool = False
) -> str:
    """Return an interval in brackets; one without bounds is "-".

    >>> interval(0.5, 0.75), interval(-0.25, 0.5, signed=True), interval(None, None)
    ('[0,50; 0,75]', '[−0,25; +0,50]', '-')
    >>> with writing_ratios(PERCENT):
    ...     interval(0.5, 0.75), interval(-0.25, 0.5, signed=True)
    ('[50%; 75%]', '[−25; +50] poin')
    """
    if lower is None or upper is None:
        return UNDEFINED
    if not signed:
        return f"[{figure(lower, unit)}; {figure(upper, unit)}]"
    bounds = f"[{_signed(lower, unit)}; {_signed(upper, unit)}]"
    return _points(bounds) if _in_percent(unit) else bounds


def _signed(value: float, unit: str) -> str:
    in_percent = _in_percent(unit)
    size, nothing = (
        _hundredfold(one, 2) if in_percent else decimals(one, 2) for one in (abs(value), 0.0)
    )
    return size if size == nothing else f"{'+' if value > 0 else MINUS}{size}"


def _points(said: str) -> str:
    return gettext("%(n)s points", n=said)


def percent(share: float) -> str:
    """Return a share in per cent, without needless decimals.

    >>> percent(0.95)
    '95%'
    """
    return f"{number(round(100 * share, 2))}%"


def p_value(p: float | None) -> str:
    """Return a probability to four significant digits, very small ones as a power of ten.

    The smallest of 10,000 permutations, 1 / 10,001, is 0.0001 and not 9.999 × 10⁻⁵.

    >>> p_value(1.0), p_value(0.0625), p_value(1 / 10_001), p_value(2 / 2**21), p_value(None)
    ('1', '0,0625', '0,0001', '9,537 × 10⁻⁷', '-')
    """
    if p is None:
        return UNDEFINED
    mantissa, exponent = f"{p:.3e}".split("e")
    if float(p) >= SMALLEST_PLAIN or p == 0:
        digits = f"{p:.4g}" if p > 0.0001 else f"{p:.4f}"
        return format_decimal(float(digits), format="0.#######", locale=language())
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
