"""Money, sizes and lengths of time as the reader's language writes them.

Figures, counts and times are ``webapp.notation``'s, which reports use too.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from babel.numbers import format_decimal
from babel.units import format_unit

from webapp import notation
from webapp.i18n import gettext, language, mark
from webapp.notation import UNDEFINED, figure, four, number, p_value
from webapp.records import Card

__all__ = [
    "UNDEFINED",
    "distance",
    "duration",
    "figure",
    "four",
    "full_price",
    "moment",
    "money",
    "number",
    "p_value",
    "period",
    "price",
    "rupiah",
    "seconds",
    "short_rupiah",
    "size",
]

UNBROKEN = "\N{NO-BREAK SPACE}"
TRILLION = 10**12
BILLION = 10**9
MILLION = 10**6
SHORT_AMOUNTS = (
    (TRILLION, 3, mark("Rp %(amount)s trillion")),
    (BILLION, 3, mark("Rp %(amount)s billion")),
    (MILLION, 2, mark("Rp %(amount)s million")),
)
"""A unit, the decimals that it is written with at most, and how."""
LOWEST_IN_FULL = 10_000
MINUTES_THAT_COUNT = 10 * 60


def rupiah(amount: int) -> str:
    r"""Return an amount in full, in one line.

    >>> rupiah(1670000000)
    'Rp\xa01.670.000.000'
    """
    return f"Rp{UNBROKEN}{number(amount)}"


def moment(when: datetime) -> str:
    """Return a time to the minute, in which no line breaks."""
    return notation.moment(when).replace(" ", UNBROKEN)


def period(first: datetime, last: datetime) -> str:
    """Return from when to when, in which a line breaks at the dash alone; one day is named once."""
    begin, end = moment(first), moment(last)
    day, _, time = end.rpartition(UNBROKEN)
    if begin == end:
        return begin
    return f"{begin} – {time if begin.startswith(day) else end}"


def short_rupiah(amount: int) -> str:
    r"""Return an amount in its largest unit where that is exact, else in full; in one line.

    Three decimals, of millions two: "Rp 1,125 jt" could be 1.125 juta.

    >>> short_rupiah(1125000000), short_rupiah(650000000), short_rupiah(1125500000)
    ('Rp\xa01,125\xa0M', 'Rp\xa0650\xa0jt', 'Rp\xa01.125.500.000')
    """
    for unit, places, message in SHORT_AMOUNTS:
        if amount >= unit:
            if amount * 10**places % unit:
                break
            said = format_decimal(Decimal(amount) / unit, format="#,##0.###", locale=language())
            return gettext(message, amount=said).replace(" ", UNBROKEN)
    return rupiah(amount)


def price(card: Card) -> str:
    """Return the price of a card in short, with its range and period; empty if unknown."""
    return _price(card, short=True)


def full_price(card: Card) -> str:
    """Return the price of a card with every digit; empty if unknown."""
    return _price(card, short=False)


def money(amount: float) -> str:
    """Return a small amount of any currency, exact enough to distinguish two of them.

    >>> money(1234.5), money(0.0123)
    ('1.234,50', '0,0123')
    """
    places = "#,##0.00" if amount >= 1 or not amount else "0.0000"
    return format_decimal(amount, format=places, locale=language())


def size(square_metres: float) -> str:
    r"""Return an area, with no line break before its unit.

    >>> size(105.0)
    '105\xa0m²'
    """
    return f"{number(square_metres)}{UNBROKEN}m²"


def distance(kilometres: float) -> str:
    r"""Return a distance, to ten metres below a kilometre and to a hundred above, in one line.

    >>> distance(0.8534), distance(1.25), distance(0.9999)
    ('850\xa0m', '1,2\xa0km', '1\xa0km')
    """
    metres = round(kilometres * 100) * 10
    if metres < 1000:
        return f"{metres}{UNBROKEN}m"
    return f"{format_decimal(kilometres, format='0.#', locale=language())}{UNBROKEN}km"


def duration(seconds: float) -> str:
    """Return a length of time in words, as exact as an estimate can be.

    >>> from webapp.i18n import speaking
    >>> with speaking("en"):
    ...     duration(20), duration(1500), duration(5000), duration(90000)
    ('less than 1 minute', 'about 25 minutes', 'about 1 hour 25 minutes', 'about 25 hours')
    """
    minutes = round(seconds / 60)
    if minutes < 1:
        return gettext("less than 1 minute")
    if minutes >= MINUTES_THAT_COUNT:
        return gettext("about %(time)s", time=_unit(round(minutes / 60), "hour"))
    hours, rest = divmod(minutes if minutes < 60 else 5 * round(minutes / 5), 60)
    parts = [_unit(hours, "hour") if hours else "", _unit(rest, "minute") if rest else ""]
    return gettext("about %(time)s", time=" ".join(filter(None, parts)))


def seconds(milliseconds: float) -> str:
    r"""Return how long something took, to a tenth of a second, in one line.

    >>> seconds(4230)
    '4,2\xa0dtk'
    """
    shown = milliseconds / 1000
    return format_unit(
        shown, "duration-second", length="short", format="#,##0.0", locale=language()
    ).replace(" ", UNBROKEN)


def _unit(count: int, unit: str) -> str:
    return format_unit(count, f"duration-{unit}", length="long", locale=language())


def _price(card: Card, *, short: bool) -> str:
    if not card.price:
        return ""
    highest = max(card.price, card.price_max or 0)
    write = short_rupiah if short and _has_unit_of_its_own(card.price, highest) else rupiah
    amounts = dict.fromkeys((write(card.price), write(highest)))
    return f"{' – '.join(amounts)} {_period(card)}".strip()


def _has_unit_of_its_own(lowest: int, highest: int) -> bool:
    return lowest >= LOWEST_IN_FULL or highest < MILLION


def _period(card: Card) -> str:
    periods = {"year": gettext("a year"), "month": gettext("a month")}
    return periods.get(card.price_period or "", "")
