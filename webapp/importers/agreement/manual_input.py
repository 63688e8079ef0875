"""The decisions by hand on the cards of a V2 run: ``manual_input.json``.

Cards are counted from 0 in this file, as its writer counts them. A value that cannot be
used is reported and left out, the others are kept. A blank sign ("-") decides nothing; a
constraint's "n/a" is its decision "na".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from webapp.importers.runs.json_documents import FromPerson, Words, kind_of, load, read_object
from webapp.importers.runs.prices import said, says_nothing
from webapp.importers.runs.problems import ImportRefused, error
from webapp.importers.runs.questions import looks_like
from webapp.metrics.agreement.report import VerdictByHand
from webapp.records import CONSTRAINTS, LARGEST_INTEGER, Problem, ReadRun

_EXPECTED_FILE = "manual_input.json (manual_evaluations, constraint_overrides)"
_OUTCOMES = {"": "entry_left_out", "result": "entry_left_out"}
_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")
_NOT_ASKED = dict.fromkeys(("n/a", "n.a."), "na")


class UnknownManualInput(ImportRefused):
    """The JSON holds something other than decisions by hand."""


class ManualResult(StrEnum):
    """The decision on a card; pending is a card that waits for its decision."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    PENDING = "pending"


class ConstraintResult(StrEnum):
    """The outcome that a constraint was set to; ``NA`` removes it from the card."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    NA = "na"


class ManualEvaluation(Struct, frozen=True):
    """The decision on a whole card; `card` counts from 0."""

    query_id: int
    card: int
    result: ManualResult
    comment: str = ""


class ConstraintOverride(Struct, frozen=True):
    """The decision on one constraint of a card; `reason` may be empty."""

    query_id: int
    card: int
    constraint: str
    result: ConstraintResult
    reason: str = ""


class ManualInput(Struct, frozen=True):
    name: str
    evaluations: tuple[ManualEvaluation, ...]
    overrides: tuple[ConstraintOverride, ...]
    problems: tuple[Problem, ...] = ()


class ManualFile(FromPerson, frozen=True):
    """The top of the file; other keys (timestamp, summary) are ignored."""

    manual_evaluations: dict[str, Any] | None = None
    constraint_overrides: dict[str, Any] | None = None
    override_reasons: dict[str, Any] | None = None


class DecisionInFile(FromPerson, frozen=True):
    """The decision on one card as the file has it; an absent result means pending."""

    result: Words | None = None
    comment: str | None = None


def read(name: str, data: bytes) -> ManualInput:
    """The decisions in the file `name`, with all its problems."""
    document, numbers = load(name, data, expected=_EXPECTED_FILE)
    if not isinstance(document, dict) or not {*ManualFile.__struct_fields__} & document.keys():
        looks = {"found": looks_like(document), "expected": _EXPECTED_FILE}
        raise UnknownManualInput(error("unknown_format", name, looks))
    top, wrong = read_object(ManualFile, document, file=name, place="", outcomes={})
    assert top is not None  # no field of it is required
    reader = _Reader(name, [*numbers, *wrong])
    evaluations = tuple(reader.evaluations(top.manual_evaluations or {}))
    reasons = reader.reasons(top.override_reasons or {})
    overrides = tuple(reader.overrides(top.constraint_overrides or {}, reasons))
    return ManualInput(name, evaluations, overrides, tuple(reader.problems))


def check_cards(manual: ManualInput, n_cards: Mapping[int, int]) -> tuple[Problem, ...]:
    """A problem for each question or card that is not among `n_cards`, the cards by question."""
    cards = {query_id: n for query_id, n in n_cards.items() if n}
    places = [("manual_evaluations", e.query_id, e.card) for e in manual.evaluations]
    places += [("constraint_overrides", o.query_id, o.card) for o in manual.overrides]
    found: dict[str, Problem] = {}
    for part, query_id, card in places:
        known = cards.get(query_id)
        if known is None:
            place, expected = f"{part}.{query_id}", _ranges(sorted(cards))
            found[place] = _wrong(manual.name, place, str(query_id), expected, query_id)
        elif card >= known:
            place, expected = f"{part}.{query_id}.{card}", _ranges(range(known))
            found[place] = _wrong(manual.name, place, str(card), expected, query_id)
    return tuple(found.values())


def verdicts(manual: ManualInput, run: ReadRun, run_name: str) -> tuple[VerdictByHand, ...]:
    """The verdict on every card that `manual` decided as a whole: pass means relevant.

    `run` is the V2 run that the decisions are about; it says which property a card shows.
    Pending cards and cards that the run does not have are left out.
    """
    cards = {query.query_id: query.cards for query in run.queries}
    return tuple(
        VerdictByHand(
            run=run_name,
            query_id=evaluation.query_id,
            property_id=cards[evaluation.query_id][evaluation.card].identity,
            passed=evaluation.result is ManualResult.PASS,
        )
        for evaluation in manual.evaluations
        if evaluation.result is not ManualResult.PENDING
        and evaluation.card < len(cards.get(evaluation.query_id, ()))
    )


class _Reader:
    """The parts of the file `name`; what is wrong with them is added to `problems`."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.name = name
        self.problems = problems

    def evaluations(self, questions: dict[str, Any]) -> Iterator[ManualEvaluation]:
        for place, query_id, card, raw in self._cards("manual_evaluations", questions):
            known, wrong = read_object(
                DecisionInFile, raw, file=self.name, place=place, outcomes=_OUTCOMES
            )
            self.problems.extend(wrong)
            if known is None or any(p.details["outcome"] == "entry_left_out" for p in wrong):
                continue
            result = known.result or ManualResult.PENDING
            if result in list(ManualResult):
                comment = (known.comment or "").strip()
                yield ManualEvaluation(query_id, card, ManualResult(result), comment)
            else:
                self._wrong(f"{place}.result", f"“{result}”", _named(ManualResult), query_id)

    def reasons(self, questions: dict[str, Any]) -> dict[tuple[int, int, str], str]:
        found = {}
        for place, query_id, card, raw in self._cards("override_reasons", questions):
            for constraint, reason in self._object(place, raw, query_id).items():
                if isinstance(reason, str):
                    found[query_id, card, constraint] = said(reason)
                else:
                    self._wrong(f"{place}.{constraint}", kind_of(reason), "text", query_id)
        return found

    def overrides(
        self, questions: dict[str, Any], reasons: Mapping[tuple[int, int, str], str]
    ) -> Iterator[ConstraintOverride]:
        for place, query_id, card, raw in self._cards("constraint_overrides", questions):
            for constraint, typed in self._object(place, raw, query_id).items():
                inner = f"{place}.{constraint}"
                result = _NOT_ASKED.get(str(typed).strip().casefold(), typed)
                if constraint not in CONSTRAINTS:
                    self._wrong(inner, f"“{constraint}”", _named(CONSTRAINTS), query_id)
                elif result in list(ConstraintResult):
                    reason = reasons.get((query_id, card, constraint), "")
                    decided = ConstraintResult(result)
                    yield ConstraintOverride(query_id, card, constraint, decided, reason)
                elif not says_nothing(result):
                    found = f"“{result}”" if isinstance(result, str) else kind_of(result)
                    self._wrong(inner, found, _named(ConstraintResult), query_id)

    def _cards(
        self, part: str, questions: dict[str, Any]
    ) -> Iterator[tuple[str, int, int, object]]:
        """Yield the place in the file, question, card and value of every card in one part."""
        for key, inside in questions.items():
            query_id = self._number(f"{part}.{key}", key)
            if query_id is None:
                continue
            for index, raw in self._object(f"{part}.{key}", inside, query_id).items():
                place = f"{part}.{key}.{index}"
                card = self._number(place, index)
                if card is not None and not says_nothing(raw):
                    yield place, query_id, card, raw

    def _number(self, place: str, key: str) -> int | None:
        if _NUMBER.fullmatch(key) and int(key) <= LARGEST_INTEGER:
            return int(key)
        self._wrong(place, f"“{key}”", "number_in_range", None)
        return None

    def _object(self, place: str, raw: object, query_id: int) -> dict[str, Any]:
        if isinstance(raw, dict):
            return raw
        if not says_nothing(raw):
            self._wrong(place, kind_of(raw), "object", query_id)
        return {}

    def _wrong(self, place: str, found: str, expected: str, query_id: int | None) -> None:
        self.problems.append(_wrong(self.name, place, found, expected, query_id))


def _wrong(name: str, place: str, found: str, expected: str, query_id: int | None) -> Problem:
    words = {"place": place, "found": found, "expected": expected, "outcome": "entry_left_out"}
    return error("value_wrong", name, words, query_id=query_id)


def _named(words: Sequence[str] | type[StrEnum]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _ranges(numbers: Sequence[int]) -> str:
    """Sorted whole numbers in short: 1-3, 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, ends)) for ends in runs) or "-"
