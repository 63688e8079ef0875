"""A gold question as a form: amounts with units, a place by its words and its point."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from wtforms import Form, StringField

from webapp.i18n import gettext, mark
from webapp.importers.gold.known_places import KnownPlace
from webapp.importers.gold.typed_amounts import UnreadableAmount, read_amount, read_span
from webapp.importers.runs.written_numbers import read_number
from webapp.metrics.gold.constraint_rules import DEFAULT_RADIUS_KM, Constraints, Place, Range
from webapp.metrics.gold.constraints import Expected, GoldQuestion
from webapp.web.frame.formatting import number
from webapp.web.frame.forms import LONGEST_LABEL, OUT_OF_RANGE, REQUIRED, UNUSABLE, at_most, line

NO_AMOUNT = mark("No amount can be read here. Write for example: 800 juta; 1,5 M; 1.500.000.000.")
NO_SPAN = mark("No range can be read here. Write for example: 1M an; 500 juta - 1 M; < 800 juta.")
BOTH_OR_NONE = mark("A point needs both its latitude and its longitude.")
LONGEST_TEXT = 2_000
NUMBERS = ("min", "max", "exact")
COUNTED = ("bedrooms", "floors")
HIGHEST_COUNT = 10**6
LARGEST_NUMBER = 2**31 - 1


FIELDS = {
    "property_type": ("property_type",),
    "listing_type": ("listing_type",),
    "location": ("keywords", "lat", "lng", "radius_km"),
    "price": ("price_words", "price_min", "price_max", "price_target", "price_tolerance"),
    "bedrooms": ("bedrooms_min", "bedrooms_max", "bedrooms_exact"),
    "floors": ("floors_min", "floors_max", "floors_exact"),
}
"""The fields of the form for each constraint."""


def _text(longest: int = LONGEST_LABEL) -> StringField:
    return StringField(filters=[line], validators=[at_most(longest)], default="")


class GoldForm(Form):
    """All fields of one gold question, as typed."""

    number = _text()
    question = _text(LONGEST_TEXT)
    category = _text()
    expected = _text()
    mode = _text()
    property_type = _text()
    listing_type = _text()
    keywords = _text(LONGEST_TEXT)
    lat = _text()
    lng = _text()
    radius_km = _text()
    place = _text()
    price_words = _text()
    price_min = _text()
    price_max = _text()
    price_target = _text()
    price_tolerance = _text()
    bedrooms_min = _text()
    bedrooms_max = _text()
    bedrooms_exact = _text()
    floors_min = _text()
    floors_max = _text()
    floors_exact = _text()
    run = _text()
    frame = _text()
    action = _text()


@dataclass(frozen=True, slots=True)
class ReadForm:
    """The content of a form: the question as far as it can be read, and the errors by field."""

    question: GoldQuestion
    wrong: dict[str, str]


def filled(question: GoldQuestion, run: str) -> GoldForm:
    """Return the form of a question; amounts are written with every digit."""
    asked = question.constraints
    place, price = asked.location, asked.price
    data = {
        "number": str(question.query_id),
        "question": question.text,
        "category": question.category,
        "expected": str(question.expected),
        "mode": "manual" if question.manual else "auto",
        "property_type": asked.property_type or "",
        "listing_type": asked.listing_type or "",
        "keywords": ", ".join(place.keywords) if place else "",
        "lat": _plain(place.latitude) if place else "",
        "lng": _plain(place.longitude) if place else "",
        "radius_km": _plain(place.radius_km) if place else "",
        "price_min": _written(price.minimum) if price else "",
        "price_max": _written(price.maximum) if price else "",
        "price_target": _written(price.target) if price else "",
        "price_tolerance": decimal(price.tolerance * 100) if price and price.tolerance else "",
        "run": run,
    }
    for name in COUNTED:
        bounds: Range = getattr(asked, name) or Range()
        for part, value in zip(
            NUMBERS, (bounds.minimum, bounds.maximum, bounds.exact), strict=True
        ):
            data[f"{name}_{part}"] = _written(value)
    return GoldForm(data=data)


def read(form: GoldForm, before: GoldQuestion) -> ReadForm:
    """Return the content of `form`; values without a field stay as in `before`."""
    form.validate()
    wrong = {field.name: gettext(UNUSABLE) for field in form if field.errors}
    if not form.question.data:
        wrong["question"] = gettext(REQUIRED)
    constraints = Constraints(
        property_type=form.property_type.data or None,
        listing_type=form.listing_type.data or None,
        location=_place(form, wrong),
        price=_price(form, before.constraints.price or Range(), wrong),
        bedrooms=_counted(form, "bedrooms", before.constraints.bedrooms or Range(), wrong),
        floors=_counted(form, "floors", before.constraints.floors or Range(), wrong),
    )
    expected = form.expected.data if form.expected.data in list(Expected) else Expected.HAS_DATA
    constraints = _unless_touched(form, before, constraints, wrong)
    question = replace(
        before,
        query_id=_number(form, wrong),
        text=form.question.data or before.text,
        category=form.category.data or "",
        expected=Expected(expected),
        manual=form.mode.data == "manual",
        constraints=constraints,
    )
    return ReadForm(question, wrong)


def _unless_touched(
    form: GoldForm, before: GoldQuestion, typed: Constraints, wrong: dict[str, str]
) -> Constraints:
    """Return the typed constraints, but those of `before` where the user left the fields unchanged.

    So nothing is lost that a field cannot express: a word with a comma in it, many decimals. An
    unchanged field is never reported as wrong.
    """
    shown = filled(before, "").data
    kept = {}
    for name, fields in FIELDS.items():
        if all(form[field].data == shown[field] for field in fields):
            kept[name] = getattr(before.constraints, name)
            for field in fields:
                wrong.pop(field, None)
    return replace(typed, **kept)


def set_point(form: GoldForm, latitude: float, longitude: float) -> None:
    """Put the point of the form where the map was clicked."""
    form.lat.data, form.lng.data = f"{latitude:.6f}", f"{longitude:.6f}"
    form.radius_km.data = form.radius_km.data or _plain(DEFAULT_RADIUS_KM)


def set_place(form: GoldForm, place: KnownPlace) -> None:
    """Put a known place into the form: its words, its point and its radius."""
    form.keywords.data = ", ".join(place.keywords)
    form.lat.data, form.lng.data = _plain(place.latitude), _plain(place.longitude)
    form.radius_km.data = _plain(place.radius_km)


def spread(form: GoldForm) -> None:
    """Write a price in words that can be read into its two ends."""
    try:
        span = read_span(form.price_words.data) if form.price_words.data else None
    except UnreadableAmount:
        return
    if span is not None:
        form.price_min.data, form.price_max.data = _written(span.low), _written(span.high)
        form.price_words.data = ""


def read_share(typed: str) -> Fraction | None:
    """Return a share between 0 and 1; ``None`` for any other text."""
    value = _decimal(typed.strip())
    return value if value is not None and 0 <= value <= 1 else None


def decimal(value: Fraction) -> str:
    """Return a number with all its decimals and the mark of the language in force."""
    return repr(float(value)).removesuffix(".0").replace(".", number(0.5)[1])


def _number(form: GoldForm, wrong: dict[str, str]) -> int:
    typed = form.number.data or ""
    if re.fullmatch("[0-9]{1,10}", typed) and int(typed) <= LARGEST_NUMBER:
        return int(typed)
    wrong["number"] = gettext(UNUSABLE) if typed else gettext(REQUIRED)
    return 0


def _place(form: GoldForm, wrong: dict[str, str]) -> Place | None:
    words = re.split(r"[,\n]", form.keywords.data or "")
    keywords = tuple(word.strip() for word in words if word.strip())
    latitude = _degrees(form, "lat", 90, wrong)
    longitude = _degrees(form, "lng", 180, wrong)
    radius = _degrees(form, "radius_km", 1_000, wrong)
    if (latitude is None) != (longitude is None):
        wrong.setdefault("lat", gettext(BOTH_OR_NONE))
        return None
    if not keywords and latitude is None:
        return None
    return Place(keywords, latitude, longitude, DEFAULT_RADIUS_KM if radius is None else radius)


def _degrees(form: GoldForm, name: str, largest: int, wrong: dict[str, str]) -> float | None:
    typed = form[name].data.replace(",", ".")
    if not typed:
        return None
    sign = "" if name == "radius_km" else "-?"
    if not re.fullmatch(rf"{sign}[0-9]{{1,4}}(?:\.[0-9]{{1,20}})?", typed):
        wrong[name] = gettext(UNUSABLE)
        return None
    value = float(typed)
    if abs(value) > largest or (value == 0 and name != "radius_km"):
        wrong[name] = gettext(OUT_OF_RANGE)
        return None
    return value


def _price(form: GoldForm, before: Range, wrong: dict[str, str]) -> Range | None:
    low, high, target = (
        _amount(form, name, wrong) for name in ("price_min", "price_max", "price_target")
    )
    if form.price_words.data:
        try:
            span = read_span(form.price_words.data)
            low, high = span.low, span.high
        except UnreadableAmount:
            wrong["price_words"] = gettext(NO_SPAN)
    typed = (form.price_tolerance.data or "").removesuffix("%").strip()
    tolerance = _decimal(typed) if typed else Fraction(0)
    if tolerance is None or tolerance > 100:
        wrong["price_tolerance"] = gettext(OUT_OF_RANGE)
        tolerance = Fraction(0)
    if all(bound is None for bound in (low, high, target, before.exact)):
        return None
    return replace(before, minimum=low, maximum=high, target=target, tolerance=tolerance / 100)


def _amount(form: GoldForm, name: str, wrong: dict[str, str]) -> Fraction | None:
    typed = form[name].data
    try:
        return read_amount(typed) if typed else None
    except UnreadableAmount:
        wrong[name] = gettext(NO_AMOUNT)
        return None


def _counted(form: GoldForm, name: str, before: Range, wrong: dict[str, str]) -> Range | None:
    found: list[Fraction | None] = []
    for part in NUMBERS:
        typed = form[f"{name}_{part}"].data
        value = _count(typed) if typed else None
        if typed and (value is None or value > HIGHEST_COUNT):
            wrong[f"{name}_{part}"] = gettext(UNUSABLE)
        found.append(value)
    low, high, exact = found
    if all(bound is None for bound in (low, high, exact, before.target)):
        return None
    return replace(before, minimum=low, maximum=high, exact=exact)


def _decimal(typed: str) -> Fraction | None:
    """Return a small number, whose one mark is the decimal one: 12.345 is not in thousands."""
    if not re.fullmatch(r"[0-9][0-9.,]*", typed):
        return None
    value = read_number(typed, single_mark_is_decimal=True)
    return None if value is None else Fraction(value)


def _count(typed: str) -> Fraction | None:
    if not re.fullmatch(r"[0-9][0-9.,]*", typed):
        return None
    value = read_number(typed)
    return None if value is None else Fraction(value)


def _written(value: Fraction | None) -> str:
    """Return a number with every digit, in the form that ``typed_amounts`` reads."""
    if value is None:
        return ""
    return number(int(value)) if value.denominator == 1 else decimal(value)


def _plain(value: float | None) -> str:
    return "" if value is None else repr(value).removesuffix(".0")
