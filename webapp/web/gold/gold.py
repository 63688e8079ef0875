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
from webapp.importers.gold.typed_amounts import Span, read_amount, read_span
from webapp.importers.runs.prices import read_number
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.gold.constraint_rules import DEFAULT_RADIUS_KM, Constraints, Place, Range
from webapp.metrics.gold.constraints import ConstraintTotals, Expected, GoldQuestion
from webapp.notation import decimal_mark, number
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
from webapp.web.frame.htmx import attached
from webapp.web.gold import constraint_words
from webapp.web.gold.constraint_words import KINDS

NO_AMOUNT = mark("No amount can be read here. Write for example: 800 juta; 1,5 M; 1.500.000.000.")
NO_SPAN = mark("No range can be read here. Write for example: 1M an; 500 juta - 1 M; < 800 juta.")
BOTH_OR_NONE = mark("A point needs both its latitude and its longitude.")
LONGEST_TEXT = 2_000
HIGHEST_COUNT = 10**6
LARGEST_NUMBER = 2**31 - 1

BOUNDS = {
    "price": ("min", "max", "target", "tolerance"),
    **dict.fromkeys(("bedrooms", "floors"), ("min", "max", "exact")),
}
"""The parts of a range that have a field of the form."""
FIELDS = {
    "property_type": ["property_type"],
    "listing_type": ["listing_type"],
    "location": ["keywords", "lat", "lng", "radius_km"],
    **{name: [f"{name}_{part}" for part in parts] for name, parts in BOUNDS.items()},
}
"""The fields of the form for each constraint."""
FIELDS["price"].append("price_words")  # they stand for the two ends


class AmountField(KindField):
    """An amount with or without its unit: 800 juta; 1,5 M; 1.500.000.000."""

    def read(self, typed: str) -> Fraction:
        return read_amount(typed)

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
        return read_span(typed)


class PercentField(DecimalField):
    """A percentage, with or without its sign; ``data`` is the share."""

    def read(self, typed: str) -> Fraction:
        return super().read(typed.removesuffix("%").strip()) / 100

    def written(self, value: float | Fraction) -> str:
        return super().written(Fraction(value) * 100) if value else ""


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
    price_words = SpanField(wrong=NO_SPAN)
    price_min = AmountField(wrong=NO_AMOUNT)
    price_max = AmountField(wrong=NO_AMOUNT)
    price_target = AmountField(wrong=NO_AMOUNT)
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
    data: dict[str, object] = {
        "number": question.query_id,
        "question": question.text,
        "category": question.category,
        "expected": question.expected,
        "mode": question.manual,
        "property_type": asked.property_type or "",
        "listing_type": asked.listing_type or "",
        **(_place_fields(asked.location) if asked.location else {}),
    }
    for name, parts in BOUNDS.items():
        bounds: Range = getattr(asked, name) or Range()
        data |= {f"{name}_{part}": getattr(bounds, part) for part in parts}
    return GoldForm(data=data)


def _place_fields(place: Place) -> dict[str, object]:
    lat, lng = place.point or (None, None)
    words = ", ".join(place.keywords)
    return {"keywords": words, "lat": lat, "lng": lng, "radius_km": place.radius_km}


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
        **{name: _bounds(form, name, before.constraints) for name in BOUNDS},
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
    return repr(float(value)).removesuffix(".0").replace(".", decimal_mark())


def _place(form: GoldForm, wrong: dict[str, str]) -> Place | None:
    words = re.split(r"[,\n]", form.keywords.data)
    keywords = tuple(word.strip() for word in words if word.strip())
    lat, lng, radius = form.lat.data, form.lng.data, form.radius_km.data
    if (lat is None) != (lng is None):
        wrong.setdefault("lat", gettext(BOTH_OR_NONE))
        return None
    if not keywords and lat is None:
        return None
    point = None if lat is None else (float(lat), float(lng))
    return Place(keywords, point, DEFAULT_RADIUS_KM if radius is None else float(radius))


def _bounds(form: GoldForm, name: str, before: Constraints) -> Range | None:
    typed = {part: form[f"{name}_{part}"].data for part in BOUNDS[name]}
    if name == "price":
        typed["tolerance"] = typed["tolerance"] or Fraction(0)
        if form.price_words.data is not None:
            typed["min"], typed["max"] = form.price_words.data
    found = replace(getattr(before, name) or Range(), **typed)
    return None if found.lowest is None and found.highest is None else found


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
        newest = len(gold.versions(session, set_id))
        wanted = request.args.get("version", newest, type=int)
        found = gold.read(session, set_id, wanted)
    return attached(jsonify(found.document).data, "application/json", "questions_v2.json")


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
        known = gold.places(found)
        if form.place.data in known:
            for name, value in _place_fields(known[form.place.data]).items():
                getattr(form, name).put(value)
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
