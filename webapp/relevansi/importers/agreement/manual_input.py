"""The decisions by hand on the cards of a V2 run: ``manual_input.json``.

Cards are counted from 0 in this file, as its writer counts them. A value that cannot be
used is reported and left out, the others are kept. A blank sign ("-") decides nothing; a
constraint's "n/a" is its decision "na".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from relevansi.importers.runs.json_documents import FromPerson, Reading, kind_of
from relevansi.importers.runs.prices import content_of, is_placeholder
from relevansi.importers.runs.problems import ImportRefused
from relevansi.importers.runs.questions import unknown_format
from relevansi.metrics.agreement.conflicts import VerdictByHand
from relevansi.metrics.gold.constraints import CARD, Decided
from relevansi.notation import ranges
from relevansi.records import CONSTRAINTS, LARGEST_INTEGER, Problem, ReadRun

_EXPECTED_FILE = "manual_input.json (manual_evaluations, constraint_overrides)"
_LEFT_OUT = "entry_left_out"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")
_NA_SIGNS = dict.fromkeys(("n/a", "n.a."), "na")
_CARDS, _OVERRIDES, _REASONS = "manual_evaluations", "constraint_overrides", "override_reasons"
_PARTS = {_CARDS, _OVERRIDES, _REASONS}
"""What is read of the file; other keys (timestamp, summary) are ignored."""

_PENDING = "pending"
_CARD_RESULTS = ("pass", "fail", _PENDING)
CONSTRAINT_RESULTS = ("pass", "fail", "na")
"""The outcomes that a constraint may be set to; "na" removes it from the card."""


class ManualInput(Struct, frozen=True):
    """The decisions on whole cards, then those on constraints."""

    name: str
    decisions: tuple[Decided, ...]
    problems: tuple[Problem, ...] = ()


class DecisionInFile(FromPerson, frozen=True):
    """The decision on one card as the file has it; an absent result means pending."""

    result: object = None
    comment: str | None = None


def read(name: str, data: bytes) -> ManualInput:
    """The decisions in the file `name`, with all its problems."""
    reading = Reading(name)
    document = reading.document(data, _EXPECTED_FILE)
    if not isinstance(document, dict) or not _PARTS & document.keys():
        raise ImportRefused(unknown_format(name, document, _EXPECTED_FILE))
    reader = _Reader(name, reading.problems, parts=document)
    decisions = (*reader.evaluations(), *reader.overrides(reader.reasons()))
    return ManualInput(name, decisions, tuple(reader.problems))


def check_cards(manual: ManualInput, n_cards: Mapping[int, int]) -> tuple[Problem, ...]:
    """A problem for each question or card that is not among `n_cards`, the cards by question."""
    cards = {query_id: n for query_id, n in n_cards.items() if n}
    reading = Reading(manual.name)
    places = set[str]()
    for query_id, card, subject, *_ in manual.decisions:
        place = f"{_CARDS if subject == CARD else _OVERRIDES}.{query_id}"
        number, numbers = query_id, [*cards]
        if query_id in cards:
            place, number, numbers = f"{place}.{card}", card, [*range(cards[query_id])]
        if number not in numbers and place not in places:
            places.add(place)
            expected = ", ".join(ranges(numbers)) or "-"
            reading.wrong(place, str(number), expected, _LEFT_OUT, query_id)
    return tuple(reading.problems)


def verdicts(manual: ManualInput, run: ReadRun) -> tuple[VerdictByHand, ...]:
    """The verdict on every card that `manual` decided as a whole: pass means relevant.

    `run` is the V2 run that the decisions are about; it says which property a card shows.
    Pending cards and cards that the run does not have are left out.
    """
    cards = {query.query_id: query.cards for query in run.queries}
    return tuple(
        VerdictByHand(query_id, cards[query_id][card].identity, outcome == "pass")
        for query_id, card, subject, outcome, _ in manual.decisions
        if subject == CARD and outcome is not None and card < len(cards.get(query_id, ()))
    )


class _Reader(Reading, kw_only=True):
    parts: Mapping[str, Any]

    def evaluations(self) -> Iterator[Decided]:
        for place, query_id, card, raw in self._cards(_CARDS):
            decision = self.model(DecisionInFile, raw, place, {"": _LEFT_OUT})
            if decision is None:
                continue
            result = _PENDING if decision.result is None else decision.result
            if result in _CARD_RESULTS:
                outcome = None if result == _PENDING else str(result)
                yield query_id, card, CARD, outcome, (decision.comment or "").strip()
            else:
                self._unknown(f"{place}.result", result, _CARD_RESULTS, query_id)

    def reasons(self) -> dict[tuple[int, int, str], str]:
        by_constraint = {}
        for place, query_id, card, raw in self._cards(_REASONS):
            for constraint, reason in self._object(place, raw, query_id).items():
                if isinstance(reason, str):
                    by_constraint[query_id, card, constraint] = content_of(reason)
                else:
                    where = f"{place}.{constraint}"
                    self.wrong(where, kind_of(reason), "text", _LEFT_OUT, query_id)
        return by_constraint

    def overrides(self, reasons: Mapping[tuple[int, int, str], str]) -> Iterator[Decided]:
        for place, query_id, card, raw in self._cards(_OVERRIDES):
            for constraint, typed in self._object(place, raw, query_id).items():
                inner = f"{place}.{constraint}"
                result = _NA_SIGNS.get(str(typed).strip().casefold(), typed)
                if constraint not in CONSTRAINTS:
                    self._unknown(inner, constraint, CONSTRAINTS, query_id)
                elif result in CONSTRAINT_RESULTS:
                    reason = reasons.get((query_id, card, constraint), "")
                    yield query_id, card, constraint, result, reason
                elif not is_placeholder(result):
                    self._unknown(inner, result, CONSTRAINT_RESULTS, query_id)

    def _cards(self, part: str) -> Iterator[tuple[str, int, int, object]]:
        """Yield the place in the file, question, card and value of every card in one part."""
        content = self.parts.get(part)
        for key, inside in self._object(part, {} if content is None else content, None).items():
            query_id = self._number(f"{part}.{key}", key)
            if query_id is None:
                continue
            for index, raw in self._object(f"{part}.{key}", inside, query_id).items():
                place = f"{part}.{key}.{index}"
                card = self._number(place, index)
                if card is not None and not is_placeholder(raw):
                    yield place, query_id, card, raw

    def _number(self, place: str, key: str) -> int | None:
        if _NUMBER.fullmatch(key) and int(key) <= LARGEST_INTEGER:
            return int(key)
        self.wrong(place, f"“{key}”", "number_in_range", _LEFT_OUT)
        return None

    def _object(self, place: str, raw: object, query_id: int | None) -> dict[str, Any]:
        if isinstance(raw, dict):
            return raw
        if not is_placeholder(raw):
            self.wrong(place, kind_of(raw), "object", _LEFT_OUT, query_id)
        return {}

    def _unknown(self, place: str, value: object, words: Sequence[str], query_id: int) -> None:
        """Add the problem that a value is none of these words."""
        actual = f"“{value}”" if isinstance(value, str) else kind_of(value)
        expected = ", ".join(f"“{word}”" for word in words)
        self.wrong(place, actual, expected, _LEFT_OUT, query_id)
