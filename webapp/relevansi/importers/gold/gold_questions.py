"""Gold files of the V2 method: questions with the constraints that each sets on its cards.

A wrong gold question changes every figure, so a single one makes the file refused, with all
its problems; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from relevansi import json_text
from relevansi.importers.runs.json_documents import (
    FromFile,
    FromPerson,
    Model,
    Reading,
    SaidWords,
    Whole,
)
from relevansi.importers.runs.prices import content_of
from relevansi.importers.runs.problems import UnusableQuestions, error
from relevansi.importers.runs.questions import unknown_format
from relevansi.metrics.gold.constraint_rules import (
    DEFAULT_RADIUS_KM,
    Constraints,
    Place,
    Range,
)
from relevansi.metrics.gold.constraints import DEFAULT_THRESHOLD, Expected, GoldQuestion
from relevansi.records import Problem

_Money = Annotated[float, Meta(ge=0, le=10**15)]
_Part = Annotated[float, Meta(ge=0, le=1)]
_North = Annotated[float, Meta(ge=-90, le=90)]
_East = Annotated[float, Meta(ge=-180, le=180)]
Amount = Annotated[_Money | None, Meta(description="amount")]
Share = Annotated[_Part | None, Meta(description="share")]
Latitude = Annotated[_North | None, Meta(description="latitude")]
Longitude = Annotated[_East | None, Meta(description="longitude")]
Mode = Annotated[Literal["auto", "manual"] | None, Meta(description="evaluation_mode")]


class GoldFile(Struct, frozen=True):
    """A gold file as read; T is 0.6 where none is stated. ``document`` is as it was written."""

    name: str
    threshold: Fraction
    questions: tuple[GoldQuestion, ...]
    document: Mapping[str, Any]


class GoldFileHead(FromPerson, frozen=True):
    """The top of a gold file; its own price_tolerance is kept and never applied."""

    questions: Annotated[list[Any], Meta(description="list")]
    threshold_t: Share = None


class GoldQuestionInFile(FromPerson, frozen=True):
    id: Whole
    question: SaidWords
    expected_result: Annotated[Literal["has_data", "no_data"], Meta(description="expected_result")]
    category: str | None = None
    evaluation_mode: Mode = None
    constraints: dict[str, Any] | None = None


class ConstraintsInFile(FromPerson, frozen=True):
    """The constraints of a question; null and an empty object set none."""

    property_type: str | None = None
    listing_type: str | None = None
    location: dict[str, Any] | None = None
    price: dict[str, Any] | None = None
    bedrooms: dict[str, Any] | None = None
    floors: dict[str, Any] | None = None


class AskedPlaceInFile(FromPerson, frozen=True):
    keywords: list[str] | None = None
    lat: Latitude = None
    lng: Longitude = None
    radius_km: Amount = None


class AskedRange(FromPerson, frozen=True):
    min: Amount = None
    max: Amount = None
    exact: Amount = None
    target: Amount = None
    tolerance: Share = None


def read(name: str, data: bytes) -> GoldFile:
    """The gold questions in the file `name`, in order.

    Raises `UnusableQuestions` with every problem when one of them cannot be used, and
    `UnreadableFile` for a file that is not JSON.
    """
    reader = _Reader(name)
    document = reader.document(data, "gold_file")
    questions = document.get("questions") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(questions, list):
        raise UnusableQuestions(unknown_format(name, document, "gold_file"))
    if not questions:
        raise UnusableQuestions(error("no_queries", name))
    top = reader.read(GoldFileHead, document, "")
    gold_questions = reader.questions(questions)
    if top is None or reader.problems:
        raise UnusableQuestions(*_with_lines(reader.problems, data))
    extra = {key: document[key] for key in document if key not in GoldFileHead.__struct_fields__}
    threshold = DEFAULT_THRESHOLD
    if top.threshold_t is not None:
        threshold = Fraction(repr(top.threshold_t))
        extra["threshold_t"] = document["threshold_t"]
    return GoldFile(name, threshold, gold_questions, extra | {"questions": questions})


def _with_lines(problems: Sequence[Problem], data: bytes) -> Iterator[Problem]:
    """Yield the problems, each of a question with the line on which the question begins."""
    text = data.decode("utf-8-sig")
    top = dict(json_text.entries(text, text.index("{")))
    lines = [text.count("\n", 0, at) + 1 for _, at in json_text.entries(text, top["questions"])]
    for problem in problems:
        entry = re.match(r"questions\[(\d+)\]", str(problem.details.get("place", "")))
        yield replace(problem, line=lines[int(entry[1])]) if entry else problem


def _costs_the_file(kind: type[FromFile]) -> dict[str, str]:
    return dict.fromkeys(("", *kind.__struct_fields__), "file_refused")


class _Reader(Reading):
    """One file while it is read, with the problems of its entries."""

    def read(self, kind: type[Model], raw: object, place: str) -> Model | None:
        return self.model(kind, raw, place, _costs_the_file(kind))

    def questions(self, listed: list[Any]) -> tuple[GoldQuestion, ...]:
        costs = _costs_the_file(GoldQuestionInFile)
        return tuple(
            GoldQuestion(
                query_id=entry.id,
                text=entry.question.strip(),
                category=(entry.category or "").strip(),
                expected=Expected(entry.expected_result),
                constraints=self.constraints(entry.constraints or {}, f"{place}.constraints"),
                manual=entry.evaluation_mode == "manual",
            )
            for place, _, entry in self.entries(GoldQuestionInFile, listed, "questions", costs)
        )

    def constraints(self, raw: object, place: str) -> Constraints:
        entry = self.read(ConstraintsInFile, raw, place)
        if entry is None:
            return Constraints()
        return Constraints(
            property_type=(entry.property_type or "").strip() or None,
            listing_type=(entry.listing_type or "").strip() or None,
            location=self.place(entry.location or {}, f"{place}.location"),
            price=self.range(entry.price or {}, f"{place}.price"),
            bedrooms=self.range(entry.bedrooms or {}, f"{place}.bedrooms"),
            floors=self.range(entry.floors or {}, f"{place}.floors"),
        )

    def place(self, raw: object, place: str) -> Place | None:
        """Return the place that is asked for, ``None`` without words and without a point."""
        entry = self.read(AskedPlaceInFile, raw, place)
        if entry is None:
            return None
        keywords = tuple(word for word in entry.keywords or () if content_of(word))
        # Coordinates of 0 are absent.
        point = (float(entry.lat), float(entry.lng)) if entry.lat and entry.lng else None
        if not keywords and point is None:
            return None
        radius_km = DEFAULT_RADIUS_KM if entry.radius_km is None else float(entry.radius_km)
        return Place(keywords, point, radius_km)

    def range(self, raw: object, place: str) -> Range | None:
        entry = self.read(AskedRange, raw, place)
        numbers = asdict(entry) if entry else {}
        # As they were written: 0.1 is one tenth.
        exact = {name: Fraction(repr(n)) for name, n in numbers.items() if n is not None}
        bounds = Range(**exact)
        return None if bounds.lowest is None and bounds.highest is None else bounds
