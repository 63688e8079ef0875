"""Numbers, money and times as the reader's language writes them: one notation for all.

Pages write ratios as their reader chose, 0.94 or 94%; reports and files always as decimals.
A unit is that of ``metrics.judging.registry``; only what is a ratio follows the choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cache, lru_cache

from babel.dates import format_date, format_datetime
from babel.numbers import format_decimal, get_decimal_symbol
from babel.units import format_unit

from relevansi.i18n import gettext, language, mark
from relevansi.kinds.property import Card

UNDEFINED = "-"
UNDEFINED_NOTE = mark(
    '"-" means undefined: there is nothing to compute the value from. It does not mean 0.'
)
MINUS = "−"
UNBROKEN = "\N{NO-BREAK SPACE}"
SMALLEST_P = Decimal("0.001")
"""Of a smaller probability only that it is smaller is written."""
ROUNDED_TO_ZERO = 0.005
"""A smaller difference would be 0.00 with two decimals."""
RATIO = "ratio"
DECIMALS, PERCENT = "decimals", "percent"
"""The two ways to write a ratio."""
MILLION = 10**6
SHORT_AMOUNTS = (
    (10**12, 3, mark("Rp %(amount)s trillion")),
    (10**9, 3, mark("Rp %(amount)s billion")),
    (MILLION, 2, mark("Rp %(amount)s million")),
)
"""A unit, the decimals that it is written with at most, and how."""
LOWEST_IN_FULL = 10_000
"""A price from here on is not mistaken for one in millions."""
MINUTES_COUNT_BELOW = 10 * 60
"""An estimate of so many minutes or more is in hours alone."""

# The reader's choice: the request that knows them sets it, and the functions below read it.
_ratios: ContextVar[str] = ContextVar("ratios", default=DECIMALS)


def ratios() -> str:
    """Return how ratios are written in this context: ``DECIMALS`` or ``PERCENT``."""
    return _ratios.get()


def write_ratios(notation: str) -> None:
    """Write ratios as ``DECIMALS`` or ``PERCENT`` in this context."""
    _ratios.set(notation)


@contextmanager
def writing_ratios(notation: str) -> Iterator[None]:
    """Write ratios as ``DECIMALS`` or ``PERCENT`` inside the ``with`` block."""
    before = _ratios.set(notation)
    try:
        yield
    finally:
        _ratios.reset(before)


def half_up(value: Fraction | float, places: int) -> Decimal:
    """Return a value with so many decimals, halves away from 0 as by hand.

    A float is taken for the number that it stands for: 57 / 200 is a half of a hundredth, though
    the float lies below, and the last digits of a mean are noise.

    >>> half_up(0.625, 2), half_up(57 / 200, 2), half_up(-0.125, 2), half_up(Fraction(1, 160), 4)
    (Decimal('0.63'), Decimal('0.29'), Decimal('-0.13'), Decimal('0.0063'))
    """
    if isinstance(value, Fraction):
        exact = Decimal(value.numerator) / Decimal(value.denominator)
    else:
        exact = Decimal(str(round(value, 12)))
    return exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def figure(value: float | None, unit: str = RATIO) -> str:
    """Return a figure with two decimals; undefined is "-", never 0.

    >>> figure(0.9375), figure(None), figure(-0.25, "coefficient"), figure(-0.001, "coefficient")
    ('0,94', '-', '−0,25', '0,00')
    >>> with writing_ratios(PERCENT):
    ...     figure(0.9375), figure(4.25, "grade 0-5")
    ('94%', '4,25')
    """
    if value is None:
        return UNDEFINED
    if _in_percent(unit):
        return f"{_hundredfold(value, 2)}%"
    return _signed(value, unit) if value < 0 else decimals(value, 2)


def four(value: Fraction | float | None, unit: str = RATIO) -> str:
    """Return a figure with the four decimals that files have of it; undefined is "-".

    >>> four(Fraction(2, 3)), four(Fraction(1, 160)), four(1 / 160), four(None)
    ('0,6667', '0,0063', '0,0063', '-')
    """
    if value is None:
        return UNDEFINED
    rounded = half_up(value, 4)
    if _in_percent(unit):
        return f"{_hundredfold(float(rounded), 4)}%"
    return _formatted(rounded, "0.0000")


def axis_number(value: float, unit: str = RATIO) -> str:
    """Return a number beside the axis of a drawing, without needless decimals."""
    return percent(value) if _in_percent(unit) else number(value)


def decimals(value: float, places: int) -> str:
    """Return a value with so many decimals."""
    # Babel's "0.00" writes the same in ten times the time, and a page has sixty of them.
    return f"{half_up(value, places):f}".replace(".", decimal_mark())


def decimal_mark() -> str:
    """Return the decimal sign of the language in force."""
    return _mark(language())


_mark = cache(get_decimal_symbol)


def _in_percent(unit: str) -> bool:
    return unit == RATIO and _ratios.get() == PERCENT


def _hundredfold(value: float, places: int) -> str:
    """Return a ratio in hundredths: the digits that it has with so many decimals."""
    digits = half_up(value, places)
    return f"{100 * digits:.{places - 2}f}".replace(".", decimal_mark())


def _formatted(value: float | Decimal, pattern: str) -> str:
    return format_decimal(value, format=pattern, locale=language())


def number(value: float) -> str:
    """Return a count or a size with its thousands apart and no needless decimals."""
    if isinstance(value, int):
        return _count(value, language())
    return format_decimal(value, locale=language())


@lru_cache(maxsize=1024)  # pages have the same few again and again
def _count(value: int, code: str) -> str:
    return format_decimal(value, locale=code)


def ranges(numbers: Iterable[int]) -> list[str]:
    """Return whole numbers in order, neighbours drawn together.

    >>> ranges([3, 1, 2, 7])
    ['1-3', '7']
    """
    spans: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return [str(first) if first == last else f"{first}-{last}" for first, last in spans]


def listed(parts: Iterable[object], most: int) -> str:
    """Return the parts with commas between; of more than `most` the first, and how many more.

    >>> listed([1, 2], 2), listed("abcd", 2)
    ('1, 2', 'a, b dan 2 lainnya')
    """
    texts = [str(part) for part in parts]
    text = ", ".join(texts[:most])
    if len(texts) <= most:
        return text
    return gettext("%(listed)s and %(n)s more", listed=text, n=number(len(texts) - most))


def difference(value: float | None, unit: str = RATIO) -> str:
    """Return a difference of two figures with its sign; undefined is "-".

    That of two percentages is in percentage points.

    >>> difference(0.125), difference(-0.5), difference(0.001), difference(None)
    ('+0,13', '−0,50', '0,00', '-')
    >>> with writing_ratios(PERCENT):
    ...     difference(0.125), difference(-0.5, "grade 0-5")
    ('+13 poin', '−0,50')
    """
    if value is None:
        return UNDEFINED
    return _points(_signed(value, unit)) if _in_percent(unit) else _signed(value, unit)


def amount(value: float, unit: str = RATIO) -> str:
    """Return how large a difference is: two decimals, or two digits where they would be 0."""
    size = abs(value)
    is_tiny = 0 < size < ROUNDED_TO_ZERO
    if _in_percent(unit):
        return _points(_two_digits(100 * size) if is_tiny else _hundredfold(size, 2))
    return _two_digits(size) if is_tiny else figure(size, unit)


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
    """Return a difference with its sign, of percentages without their unit."""
    write = _hundredfold if _in_percent(unit) else decimals
    size = write(abs(value), 2)
    if size == write(0.0, 2):  # what is rounded to 0 has no sign
        return size
    return f"{'+' if value > 0 else MINUS}{size}"


def _points(number: str) -> str:
    return gettext("%(n)s points", n=number)


def percent(share: float) -> str:
    """Return a share in per cent, whatever way ratios are written: a level, a power."""
    return f"{number(round(100 * share, 2))}%"


def p_value(p: float | None) -> str:
    """Return a probability with two significant digits; undefined is "-".

    >>> p_value(1.0), p_value(0.0625), p_value(0.6779), p_value(0.00099), p_value(None)
    ('1', '0,063', '0,68', '< 0,001', '-')
    """
    if p is None:
        return UNDEFINED
    return _two_digits(p) if p >= SMALLEST_P else f"< {_formatted(SMALLEST_P, '0.###')}"


def p_equals(p: float | None) -> str:
    """Return the same after its name.

    >>> p_equals(0.25), p_equals(0.0001)
    ('p = 0,25', 'p < 0,001')
    """
    value = p_value(p)
    return f"p {value}" if value.startswith("<") else f"p = {value}"


def _two_digits(value: float) -> str:
    places = max(0, 1 - Decimal(str(value)).adjusted())
    return _formatted(half_up(value, places), "0.#########")


def moment(when: datetime) -> str:
    """Return a time in the machine's own zone, to the minute."""
    return format_datetime(when.astimezone(), "d MMM y, HH:mm", locale=language())


def unbroken_moment(when: datetime) -> str:
    """Return a time as `moment` does, in which no line breaks."""
    return moment(when).replace(" ", UNBROKEN)


def zoned_moment(when: datetime) -> str:
    """Return a time as `moment` does with its distance from UTC, for files that travel."""
    return format_datetime(when.astimezone(), "d MMM y, HH:mm (xxx)", locale=language())


def period(first: datetime, last: datetime) -> str:
    """Return from when to when, in which a line breaks at the dash alone; one day is named once."""
    begin, end = unbroken_moment(first), unbroken_moment(last)
    if begin == end:
        return begin
    last_day, _, last_time = end.rpartition(UNBROKEN)
    return f"{begin} – {last_time if begin.startswith(last_day) else end}"


def file_day(when: date) -> str:
    """Return a date as the names of files have it: 20260123."""
    return f"{when:%Y%m%d}"


def day(when: date) -> str:
    """Return a date with its month in words: 23 Januari 2026."""
    return format_date(when, "d MMMM y", locale=language())


def duration(seconds: float) -> str:
    """Return a length of time in words, as exact as an estimate can be.

    >>> duration(1500), duration(5000), duration(90000)
    ('sekitar 25 menit', 'sekitar 1 jam 25 menit', 'sekitar 25 jam')
    """

    def unit(count: int, name: str) -> str:
        return format_unit(count, f"duration-{name}", length="long", locale=language())

    minutes = round(seconds / 60)
    if minutes < 1:
        return gettext("less than 1 minute")
    if minutes >= MINUTES_COUNT_BELOW:
        return gettext("about %(time)s", time=unit(round(minutes / 60), "hour"))
    if minutes >= 60:
        minutes = 5 * round(minutes / 5)
    counts = zip(divmod(minutes, 60), ("hour", "minute"), strict=True)
    time = " ".join(unit(count, name) for count, name in counts if count)
    return gettext("about %(time)s", time=time)


def seconds(milliseconds: float) -> str:
    """Return how long something took, to a tenth of a second, in one line."""
    unit = "duration-second"
    length = format_unit(milliseconds / 1000, unit, "short", "#,##0.0", locale=language())
    return length.replace(" ", UNBROKEN)


def distance(kilometres: float) -> str:
    r"""Return a distance, to ten metres below a kilometre and to a hundred above, in one line.

    >>> distance(0.8534), distance(1.25), distance(0.9999)
    ('850\xa0m', '1,2\xa0km', '1\xa0km')
    """
    metres = round(kilometres * 100) * 10
    if metres < 1000:
        return f"{metres}{UNBROKEN}m"
    return f"{_formatted(kilometres, '0.#')}{UNBROKEN}km"


def money(amount: float) -> str:
    """Return a small amount of any currency, exact enough to distinguish two of them."""
    return _formatted(amount, "#,##0.00" if amount >= 1 or not amount else "0.0000")


def rupiah(amount: int) -> str:
    """Return an amount of rupiah with every digit, in one line."""
    return f"Rp{UNBROKEN}{number(amount)}"


def short_rupiah(amount: int) -> str:
    r"""Return an amount in its largest unit where that is exact, else in full; in one line.

    Three decimals, of millions two: "Rp 1,125 jt" could be 1.125 juta.
    """
    for unit, places, message in SHORT_AMOUNTS:
        if amount >= unit:
            if amount * 10**places % unit:
                break
            in_unit = _amount_in(unit, amount, language())
            return gettext(message, amount=in_unit).replace(" ", UNBROKEN)
    return rupiah(amount)


@lru_cache(maxsize=1024)  # pages have the same few again and again
def _amount_in(unit: int, amount: int, code: str) -> str:
    return format_decimal(Decimal(amount) / unit, format="#,##0.###", locale=code)


def price(card: Card, *, short: bool = True) -> str:
    """Return the price of a card, with its range and period; empty if unknown."""
    if not card.price:
        return ""
    highest = max(card.price, card.price_max or 0)
    # A range that starts far below its end is written in full: of "Rp 1 – Rp 312,5 M" a reader
    # would take the start for milliards too.
    is_readable = card.price >= LOWEST_IN_FULL or highest < MILLION
    write = short_rupiah if short and is_readable else rupiah
    amounts = dict.fromkeys((write(card.price), write(highest)))  # one where both are written alike
    periods = {"year": gettext("a year"), "month": gettext("a month")}
    return f"{' – '.join(amounts)} {periods.get(card.price_period or '', '')}".strip()


def full_price(card: Card) -> str:
    """Return the price of a card with every digit; empty if unknown."""
    return price(card, short=False)
