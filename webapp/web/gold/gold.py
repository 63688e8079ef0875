"""Gold questions as pages: each set with its versions, each question as a form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
from sqlalchemy.orm import Session
from wtforms import Form

from webapp.db.tables.people import Rater
from webapp.i18n import gettext, mark
from webapp.importers.gold.typed_amounts import Span, read_amount, read_span
from webapp.importers.runs.prices import read_number
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.gold.constraint_rules import Place, Range
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
KEYS = {
    "number": "id",
    "question": "question",
    "category": "category",
    "expected": "expected_result",
    "mode": "evaluation_mode",
}
"""The key of a gold file for each field that is no constraint."""
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
    expected = ChoiceField([str(one) for one in Expected], default=str(Expected.HAS_DATA))
    mode = ChoiceField(("auto", "manual"), default="auto")
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
        "expected": str(question.expected),
        "mode": "manual" if question.manual else "auto",
        "property_type": asked.property_type or "",
        "listing_type": asked.listing_type or "",
        **(_place_fields(asked.location) if asked.location else {}),
    }
    for name, parts in BOUNDS.items():
        bounds: Range = getattr(asked, name) or Range()
        data |= {f"{name}_{part}": getattr(bounds, part) for part in parts}
    return GoldForm(data=data)


def decimal(value: Fraction) -> str:
    """Return a number with all its decimals and the mark of the language in force."""
    return repr(float(value)).removesuffix(".0").replace(".", decimal_mark())


def _place_fields(place: Place) -> dict[str, object]:
    lat, lng = place.point or (None, None)
    words = ", ".join(place.keywords)
    return {"keywords": words, "lat": lat, "lng": lng, "radius_km": place.radius_km}


def read(
    form: GoldForm, question: GoldQuestion, entry: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the entry of a question in its file as the form changes it, and the errors by field.

    What the user left unchanged stays as it was stated, also what no field can express: a word with
    a comma in it, many decimals. It is never reported as wrong.
    """
    form.validate()
    wrong, shown, said = messages(form), typed(filled(question)), typed(form)
    changed = {key: form[field].data for field, key in KEYS.items() if said[field] != shown[field]}
    stated = entry.get("constraints")
    asked = dict(stated) if isinstance(stated, dict) else {}
    for name, fields in FIELDS.items():
        if all(said[field] == shown[field] for field in fields):
            wrong = {field: error for field, error in wrong.items() if field not in fields}
            continue
        before = asked.get(name)
        rule = _rule(form, name, before if isinstance(before, dict) else {}, wrong)
        if rule:
            asked[name] = rule
        else:
            asked.pop(name, None)
        changed["constraints"] = asked
    return {**entry, **changed}, wrong


def _rule(form: GoldForm, name: str, before: dict[str, Any], wrong: dict[str, str]) -> Any:
    """Return a constraint as a gold file states it; keys of `before` without a field stay."""
    parts = {field.removeprefix(f"{name}_") for field in FIELDS[name]}
    kept = {key: value for key, value in before.items() if key not in parts}
    if name in BOUNDS:
        numbers = {part: form[f"{name}_{part}"].data for part in BOUNDS[name]}
        if name == "price" and form.price_words.data is not None:
            numbers["min"], numbers["max"] = form.price_words.data
        kept |= {part: gold.plain(n) for part, n in numbers.items() if n is not None}
        return kept if {"min", "max", "exact", "target"} & kept.keys() else None
    if name != "location":
        return form[name].data
    lat, lng, radius = form.lat.data, form.lng.data, form.radius_km.data
    if (lat is None) != (lng is None):
        wrong.setdefault("lat", gettext(BOTH_OR_NONE))
    words = [word.strip() for word in re.split(r"[,\n]", form.keywords.data) if word.strip()]
    point = {} if lat is None or lng is None else {"lat": float(lat), "lng": float(lng)}
    near = {} if radius is None else {"radius_km": float(radius)}
    return {**kept, "keywords": words, **point, **near} if words or point else None


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
        asked, _ = _question(found, question_id)
    return _editor(set_id, question_id, found, filled(asked))


@blueprint.post("/<int:set_id>/questions/<int:question_id>")
def edit(set_id: int, question_id: int) -> Response:
    """Save the form as a new version; a known place or a price in words only fills it."""
    form = sent(GoldForm)
    with access.writing() as (session, rater):
        found = gold.held(session, rater.study, set_id)
        if form.action.data != "save":
            _fill(form, found)
        entry, wrong = read(form, *_question(found, question_id))
        if form.action.data == "save" and not wrong:
            try:
                gold.put(session, rater, set_id, question_id or None, entry, access.now())
            except GoldNumberTaken as taken:
                wrong["number"] = f"{taken.sentence()}."
            except ImportRefused as refused:  # a value that a gold file may not hold
                wrong["question"] = refused.advice()
            else:
                session.commit()
                return _back(set_id, _anchor=f"question-{entry['id']}")
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


def _question(found: Gold, number: int) -> tuple[GoldQuestion, dict[str, Any]]:
    """Return a question, or a new one, and its entry in the gold file."""
    for question, entry in zip(found.questions, found.document["questions"], strict=True):
        if question.query_id == number:
            return question, entry
    if number != NEW:
        raise UnknownGoldQuestion(number)
    number = max((one.query_id for one in found.questions), default=0) + 1
    return GoldQuestion(number, "", "", Expected.HAS_DATA), gold.new_entry(number)


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
