"""Gold questions as pages: each set with its versions, each question as a form."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from msgspec.structs import replace
from sqlalchemy.orm import Session
from wtforms import Form

from webapp.db.tables.people import Rater
from webapp.i18n import gettext, mark
from webapp.importers.gold.typed_amounts import Span, UnreadableAmount, read_amount, read_span
from webapp.importers.runs.prices import read_number
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.gold.constraint_rules import DEFAULT_RADIUS_KM, Constraints, Place, Range
from webapp.metrics.gold.constraints import ConstraintTotals, Expected, GoldQuestion
from webapp.notation import number
from webapp.services.gold import constraints, gold
from webapp.services.gold.gold import Gold, GoldNumberTaken, GoldSet, UnknownGoldQuestion
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import (
    LONGEST_LABEL,
    OUT_OF_RANGE,
    UNUSABLE,
    ChoiceField,
    DecimalField,
    DegreesField,
    KindField,
    LineField,
    WholeField,
    checked,
    chosen_file,
    messages,
    sent,
    typed,
)
from webapp.web.gold import constraint_words
from webapp.web.gold.constraint_words import KINDS

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
        try:
            return read_amount(typed)
        except UnreadableAmount:
            raise ValueError(NO_AMOUNT) from None

    def written(self, value: Fraction) -> str:
        return number(int(value)) if value.denominator == 1 else decimal(value)


class CountField(AmountField):
    """A number of rooms or floors, with or without marks between thousands."""

    def read(self, typed: str) -> Fraction:
        value = read_number(typed) if re.fullmatch(r"[0-9][0-9.,]*", typed) else None
        if value is None or value > HIGHEST_COUNT:
            raise ValueError(UNUSABLE)
        return Fraction(value)


class SpanField(KindField):
    """A price as a question says it: 1M an; 500 juta - 1 M."""

    def read(self, typed: str) -> Span:
        try:
            return read_span(typed)
        except UnreadableAmount:
            raise ValueError(NO_SPAN) from None


class PercentField(DecimalField):
    """A percentage, with or without its sign; ``data`` is the share."""

    def read(self, typed: str) -> Fraction:
        return super().read(typed.removesuffix("%").strip()) / 100

    def written(self, value: float | Fraction) -> str:
        return decimal(Fraction(value) * 100) if value else ""


class GoldForm(Form):
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
    action = LineField(LONGEST_LABEL)


class ThresholdForm(Form):
    threshold = DecimalField(
        0, 1, required=True, wrong=mark("T is a number from 0 to 1, for example 0.6.")
    )


class VersionForm(Form):
    version = WholeField(0, LARGEST_NUMBER, default=0, required=True, wrong=UNUSABLE)


def filled(question: GoldQuestion) -> GoldForm:
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


def read(form: GoldForm, before: GoldQuestion) -> tuple[GoldQuestion, dict[str, str]]:
    """Return the question as far as it can be read, and the errors by field.

    Values without a field stay as in `before`.
    """
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
    return question, wrong


def _unless_touched(
    form: GoldForm, before: GoldQuestion, found: Constraints, wrong: dict[str, str]
) -> Constraints:
    """Return the typed constraints, but those of `before` where the user left the fields unchanged.

    So nothing is lost that a field cannot express: a word with a comma in it, many decimals. An
    unchanged field is never reported as wrong.
    """
    shown, said = typed(filled(before)), typed(form)
    kept = {}
    for name, fields in FIELDS.items():
        if all(said[field] == shown[field] for field in fields):
            kept[name] = getattr(before.constraints, name)
            for field in fields:
                wrong.pop(field, None)
    return replace(found, **kept)


def decimal(value: Fraction) -> str:
    """Return a number with all its decimals and the mark of the language in force."""
    return repr(float(value)).removesuffix(".0").replace(".", number(0.5)[1])


def _place(form: GoldForm, wrong: dict[str, str]) -> Place | None:
    words = re.split(r"[,\n]", form.keywords.data)
    keywords = tuple(word.strip() for word in words if word.strip())
    latitude, longitude, radius = (
        None if field.data is None else float(field.data)
        for field in (form.lat, form.lng, form.radius_km)
    )
    if (latitude is None) != (longitude is None):
        wrong.setdefault("lat", gettext(BOTH_OR_NONE))
        return None
    if not keywords and latitude is None:
        return None
    return Place(keywords, latitude, longitude, DEFAULT_RADIUS_KM if radius is None else radius)


def _price(form: GoldForm, before: Range) -> Range | None:
    low, high, target = form.price_min.data, form.price_max.data, form.price_target.data
    if form.price_words.data is not None:
        low, high = form.price_words.data
    if all(bound is None for bound in (low, high, target, before.exact)):
        return None
    tolerance = form.price_tolerance.data or Fraction(0)
    return replace(before, minimum=low, maximum=high, target=target, tolerance=tolerance)


def _counted(form: GoldForm, name: str, before: Range) -> Range | None:
    low, high, exact = (form[f"{name}_{part}"].data for part in NUMBERS)
    if all(bound is None for bound in (low, high, exact, before.target)):
        return None
    return replace(before, minimum=low, maximum=high, exact=exact)


blueprint = Blueprint("gold", __name__, url_prefix="/gold")

NEW = 0
"""The number in the address of a question that is yet to be made."""

NEWEST = 3
"""Runs of a set on which a threshold is tried out."""


@blueprint.get("/")
def index() -> str:
    with access.reading() as (session, rater):
        sets = gold.sets(session, rater.study)
    return render_template("gold/index.html", sets=sets)


@blueprint.get("/<int:set_id>")
def show(set_id: int) -> Response:
    """Show the gold questions in force for a set, with all versions.

    With a threshold in the address: the result it would have for the newest runs; nothing is saved.
    """
    form = ThresholdForm(request.args)
    return htmx.respond("gold/page.html", "gold/_met.html", _set_page(set_id, form))


@blueprint.get("/<int:set_id>/questions.json")
def download(set_id: int) -> Response:
    with access.reading() as (session, rater):
        gold.find_set(session, rater.study, set_id)
        wanted = request.args.get("version", type=int)
        if wanted is None:
            wanted = len(gold.versions(session, set_id))
        found = gold.read(session, set_id, wanted)
    response = jsonify(found.document)
    response.headers.set("Content-Disposition", "attachment", filename="questions_v2.json")
    return response


@blueprint.post("/<int:set_id>/begin")
def begin(set_id: int) -> Response:
    return _changed(set_id, gold.begin)


@blueprint.post("/<int:set_id>/import")
def take_in(set_id: int) -> Response:
    return _changed(set_id, gold.import_file, *chosen_file())


@blueprint.post("/<int:set_id>/places")
def take_places(set_id: int) -> Response:
    return _changed(set_id, gold.take_places, *chosen_file())


@blueprint.post("/<int:set_id>/threshold")
def set_threshold(set_id: int) -> Response:
    return _changed(set_id, gold.set_threshold, checked(ThresholdForm).threshold.data)


@blueprint.post("/<int:set_id>/restore")
def restore(set_id: int) -> Response:
    return _changed(set_id, gold.restore, checked(VersionForm).version.data)


@blueprint.get("/<int:set_id>/questions/<int:question_id>")
def question(set_id: int, question_id: int) -> str:
    with access.reading() as (session, rater):
        found = gold.held(session, rater.study, set_id)
    return _editor(set_id, question_id, found, filled(_question(found, question_id)))


@blueprint.post("/<int:set_id>/questions/<int:question_id>")
def edit(set_id: int, question_id: int) -> Response:
    """Save the form as a new version; a known place or a price in words only fills it."""
    form = sent(GoldForm)
    with access.writing() as (session, rater):
        found = gold.held(session, rater.study, set_id)
        if form.action.data != "save":
            _fill(form, found)
        wanted, wrong = read(form, _question(found, question_id))
        if form.action.data == "save" and not wrong:
            try:
                gold.put(session, rater, set_id, question_id or None, wanted, access.now())
            except GoldNumberTaken as taken:
                wrong["number"] = f"{taken.sentence()}."
            except ImportRefused as refused:  # a value that a gold file may not hold
                wrong["question"] = refused.advice()
            else:
                session.commit()
                return _back(set_id, _anchor=f"question-{wanted.query_id}")
    page = _editor(set_id, question_id, found, form, wrong)
    return make_response(page, 422 if form.action.data == "save" else 200)


@blueprint.post("/<int:set_id>/questions/<int:question_id>/remove")
def remove(set_id: int, question_id: int) -> Response:
    return _changed(set_id, gold.remove, question_id)


def _fill(form: GoldForm, found: Gold) -> None:
    if form.action.data == "place":
        for place in gold.places(found):
            if place.name == form.place.data:
                form.keywords.put(", ".join(place.keywords))
                form.lat.put(place.latitude)
                form.lng.put(place.longitude)
                form.radius_km.put(place.radius_km)
    elif form.action.data == "price" and form.price_words.data is not None:
        low, high = form.price_words.data
        form.price_min.put(low)
        form.price_max.put(high)
        form.price_words.put(None)


def _changed(set_id: int, change: Callable[..., None], *given: object) -> Response:
    with access.writing() as (session, rater):
        try:
            change(session, rater, set_id, *given, access.now())
        except ImportRefused as refused:
            session.rollback()
            return htmx.respond(
                "gold/page.html", "gold/page.html", _set_page(set_id, refusal=refused.advice()), 422
            )
        session.commit()
    return _back(set_id)


def _set_page(
    set_id: int, form: ThresholdForm | None = None, *, refusal: str = ""
) -> dict[str, object]:
    """Return what the page of a set shows; a typed threshold is tried out on the newest runs."""
    typed = form.threshold if form and form.threshold.typed else None
    with access.reading() as (session, rater):
        known = gold.find_set(session, rater.study, set_id)
        found = gold.in_force(session, set_id)
        stated = found.threshold if found else Fraction(0)
        wanted = stated if typed is None else typed.data
        met = [] if found is None or wanted is None else _met(session, rater, known, wanted)
    return {
        "set": known,
        "found": found,
        "threshold": decimal(stated) if typed is None else typed.typed,
        "in_force": decimal(stated),
        "met": met,
        "wrong": wanted is None,
        "asked": constraint_words.asked,
        "places": gold.places(found) if found else (),
        "new": NEW,
        "refusal": refusal,
    }


def _met(
    session: Session, rater: Rater, known: GoldSet, wanted: Fraction
) -> list[tuple[Any, ConstraintTotals, int]]:
    found = []
    for run in known.runs[:NEWEST]:
        now = constraints.checked_run(session, rater.study, run.id).report
        then = constraints.checked_run(session, rater.study, run.id, threshold=wanted).report
        if now is not None and then is not None:
            found.append((run, then.totals, now.totals.n_successful))
    return found


def _question(found: Gold, number: int) -> GoldQuestion:
    by_number = {one.query_id: one for one in found.questions}
    if number in by_number:
        return by_number[number]
    if number != NEW:
        raise UnknownGoldQuestion(number)
    return GoldQuestion(max(by_number, default=0) + 1, "", "", Expected.HAS_DATA)


def _editor(
    set_id: int, number: int, found: Gold, form: GoldForm, wrong: dict[str, str] | None = None
) -> str:
    kinds = {name: gettext(word) for name, word in KINDS.items() if name not in {"sale", "rent"}}
    return render_template(
        "gold/question.html",
        set_id=set_id,
        number=number,
        form=form,
        wrong=wrong or {},
        kinds=kinds,
        places=gold.places(found),
        only_one=len(found.questions) == 1,
    )


def _back(set_id: int, **where: str) -> Response:
    return redirect(url_for("gold.show", set_id=set_id, **where), 303)  # type: ignore[arg-type, return-value]
