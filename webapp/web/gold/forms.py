"""A gold question as a form: amounts with units, a place by its words and its point."""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from wtforms import Form

from webapp.i18n import gettext, mark
from webapp.importers.gold.known_places import KnownPlace
from webapp.importers.gold.typed_amounts import (
    AmountSpan,
    UnreadableAmount,
    read_amount,
    read_span,
)
from webapp.importers.runs.written_numbers import read_number
from webapp.metrics.gold.constraint_rules import DEFAULT_RADIUS_KM, Constraints, Place, Range
from webapp.metrics.gold.constraints import Expected, GoldQuestion
from webapp.web.frame.fields import (
    LONGEST_LABEL,
    OUT_OF_RANGE,
    UNUSABLE,
    ChoiceField,
    DecimalField,
    DegreesField,
    KindField,
    LineField,
    WholeField,
    typed,
)
from webapp.web.frame.formatting import number
from webapp.web.frame.forms import messages
from webapp.web.gold.map import SIZE

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


class AmountField(KindField):
    """An amount with or without its unit: 800 juta; 1,5 M; 1.500.000.000."""

    def read(self, typed: str) -> Fraction:
        """Return the amount; raises ``ValueError`` where none can be read."""
        try:
            return read_amount(typed)
        except UnreadableAmount:
            raise ValueError(NO_AMOUNT) from None

    def written(self, value: Fraction) -> str:
        """Return the amount with every digit, in the form that is read."""
        return number(int(value)) if value.denominator == 1 else decimal(value)


class CountField(AmountField):
    """A number of rooms or floors, with or without marks between thousands."""

    def read(self, typed: str) -> Fraction:
        """Return the number; raises ``ValueError`` for another text or beyond the limit."""
        value = read_number(typed) if re.fullmatch(r"[0-9][0-9.,]*", typed) else None
        if value is None or value > HIGHEST_COUNT:
            raise ValueError(UNUSABLE)
        return Fraction(value)


class SpanField(KindField):
    """A price as a question says it: 1M an; 500 juta - 1 M."""

    def read(self, typed: str) -> AmountSpan:
        """Return both ends; raises ``ValueError`` where none can be read."""
        try:
            return read_span(typed)
        except UnreadableAmount:
            raise ValueError(NO_SPAN) from None


class PercentField(DecimalField):
    """A percentage, with or without its sign; ``data`` is the share."""

    def read(self, typed: str) -> Fraction:
        """Return the share; raises ``ValueError`` for another text or beyond the limits."""
        return super().read(typed.removesuffix("%").strip()) / 100

    def written(self, value: float | Fraction) -> str:
        """Return the percentage with the mark of the language in force."""
        return decimal(Fraction(value) * 100) if value else ""


class GoldForm(Form):
    """All fields of one gold question."""

    number = WholeField(0, LARGEST_NUMBER, required=True)
    question = LineField(LONGEST_TEXT, required=True)
    category = LineField(LONGEST_LABEL)
    expected = ChoiceField({str(one): one for one in Expected}, default=Expected.HAS_DATA)
    mode = ChoiceField({"auto": False, "manual": True}, default=False)
    property_type = LineField(LONGEST_LABEL)
    listing_type = LineField(LONGEST_LABEL)
    keywords = LineField(LONGEST_TEXT)
    lat = DegreesField(-90, 90)
    lng = DegreesField(-180, 180)
    radius_km = DecimalField(0, 1_000)
    place = LineField(LONGEST_LABEL)
    price_words = SpanField()
    price_min = AmountField()
    price_max = AmountField()
    price_target = AmountField()
    price_tolerance = PercentField(0, 100, wrong=OUT_OF_RANGE)
    bedrooms_min = CountField()
    bedrooms_max = CountField()
    bedrooms_exact = CountField()
    floors_min = CountField()
    floors_max = CountField()
    floors_exact = CountField()
    run = LineField(LONGEST_LABEL)
    frame = LineField(LONGEST_LABEL)
    x = WholeField(0, SIZE, name="map.x")
    y = WholeField(0, SIZE, name="map.y")
    action = LineField(LONGEST_LABEL)


class ThresholdForm(Form):
    """The threshold T."""

    threshold = DecimalField(
        0, 1, required=True, wrong=mark("T is a number from 0 to 1, for example 0.6.")
    )


class VersionForm(Form):
    """The number of a version."""

    version = WholeField(0, LARGEST_NUMBER, default=0, required=True, wrong=UNUSABLE)


class ReadForm(Struct, frozen=True):
    """The content of a form: the question as far as it can be read, and the errors by field."""

    question: GoldQuestion
    wrong: dict[str, str]


def filled(question: GoldQuestion, run: str) -> GoldForm:
    """Return the form of a question; amounts are written with every digit."""
    asked = question.constraints
    place, price = asked.location, asked.price or Range()
    data: dict[str, object] = {
        "number": question.query_id,
        "question": question.text,
        "category": question.category,
        "expected": question.expected,
        "mode": question.manual,
        "property_type": asked.property_type or "",
        "listing_type": asked.listing_type or "",
        "price_min": price.minimum,
        "price_max": price.maximum,
        "price_target": price.target,
        "price_tolerance": price.tolerance,
        "run": run,
    }
    if place is not None:
        data |= {
            "keywords": ", ".join(place.keywords),
            "lat": place.latitude,
            "lng": place.longitude,
            "radius_km": place.radius_km,
        }
    for name in COUNTED:
        bounds: Range = getattr(asked, name) or Range()
        values = (bounds.minimum, bounds.maximum, bounds.exact)
        data |= {f"{name}_{part}": value for part, value in zip(NUMBERS, values, strict=True)}
    return GoldForm(data=data)


def read(form: GoldForm, before: GoldQuestion) -> ReadForm:
    """Return the content of `form`; values without a field stay as in `before`."""
    form.validate()
    wrong = messages(form)
    constraints = Constraints(
        property_type=form.property_type.data or None,
        listing_type=form.listing_type.data or None,
        location=_place(form, wrong),
        price=_price(form, before.constraints.price or Range()),
        bedrooms=_counted(form, "bedrooms", before.constraints.bedrooms or Range()),
        floors=_counted(form, "floors", before.constraints.floors or Range()),
    )
    constraints = _unless_touched(form, before, constraints, wrong)
    question = replace(
        before,
        query_id=form.number.data or 0,
        text=form.question.data or before.text,
        category=form.category.data,
        expected=form.expected.data or Expected.HAS_DATA,
        manual=bool(form.mode.data),
        constraints=constraints,
    )
    return ReadForm(question, wrong)


def _unless_touched(
    form: GoldForm, before: GoldQuestion, found: Constraints, wrong: dict[str, str]
) -> Constraints:
    """Return the typed constraints, but those of `before` where the user left the fields unchanged.

    So nothing is lost that a field cannot express: a word with a comma in it, many decimals. An
    unchanged field is never reported as wrong.
    """
    shown, said = typed(filled(before, "")), typed(form)
    kept = {}
    for name, fields in FIELDS.items():
        if all(said[field] == shown[field] for field in fields):
            kept[name] = getattr(before.constraints, name)
            for field in fields:
                wrong.pop(field, None)
    return replace(found, **kept)


def set_point(form: GoldForm, latitude: float, longitude: float) -> None:
    """Put the point of the form where the map was clicked."""
    form.lat.put(round(latitude, 6))
    form.lng.put(round(longitude, 6))
    if not form.radius_km.typed:
        form.radius_km.put(DEFAULT_RADIUS_KM)


def set_place(form: GoldForm, place: KnownPlace) -> None:
    """Put a known place into the form: its words, its point and its radius."""
    form.keywords.put(", ".join(place.keywords))
    form.lat.put(place.latitude)
    form.lng.put(place.longitude)
    form.radius_km.put(place.radius_km)


def spread(form: GoldForm) -> None:
    """Write a price in words that can be read into its two ends."""
    span: AmountSpan | None = form.price_words.data
    if span is not None:
        form.price_min.put(span.low)
        form.price_max.put(span.high)
        form.price_words.put(None)


def decimal(value: Fraction) -> str:
    """Return a number with all its decimals and the mark of the language in force."""
    return repr(float(value)).removesuffix(".0").replace(".", number(0.5)[1])


def _place(form: GoldForm, wrong: dict[str, str]) -> Place | None:
    words = re.split(r"[,\n]", form.keywords.data)
    keywords = tuple(word.strip() for word in words if word.strip())
    latitude, longitude = _float(form.lat.data), _float(form.lng.data)
    radius = _float(form.radius_km.data)
    if (latitude is None) != (longitude is None):
        wrong.setdefault("lat", gettext(BOTH_OR_NONE))
        return None
    if not keywords and latitude is None:
        return None
    return Place(keywords, latitude, longitude, DEFAULT_RADIUS_KM if radius is None else radius)


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _price(form: GoldForm, before: Range) -> Range | None:
    low, high, target = form.price_min.data, form.price_max.data, form.price_target.data
    span: AmountSpan | None = form.price_words.data
    if span is not None:
        low, high = span.low, span.high
    if all(bound is None for bound in (low, high, target, before.exact)):
        return None
    tolerance = form.price_tolerance.data or Fraction(0)
    return replace(before, minimum=low, maximum=high, target=target, tolerance=tolerance)


def _counted(form: GoldForm, name: str, before: Range) -> Range | None:
    low, high, exact = (form[f"{name}_{part}"].data for part in NUMBERS)
    if all(bound is None for bound in (low, high, exact, before.target)):
        return None
    return replace(before, minimum=low, maximum=high, exact=exact)
