"""The particulars that a rater may unfold under a card: the files' details beyond its fields.

They are read from the answer and its file whenever a page is shown, so they never decide which
contents are the same. The chatbot's own words are kept apart from details that only the listing's
record has (``api_data``), shown only where the owner switched that on. A blind rater is shown one
card for all runs, with the fullest of their details, whatever the order of the runs.

The owner's notes on questions stand above the cards. A gold question's note may reveal the expected
answer ("no_data because ..."), so raters read it only once the owner shows it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import astuple, replace
from sqlalchemy import ColumnElement, Row, func, null, select
from sqlalchemy.orm import Session

from relevansi import kinds
from relevansi.db.rows import core
from relevansi.db.tables.evaluations import GoldVersion
from relevansi.db.tables.judging import JudgedItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.importers.runs import property_cards, property_particulars
from relevansi.importers.runs.property_particulars import filled, places, read_properties
from relevansi.kinds import KINDS
from relevansi.kinds.property import Card, CardParticulars, ListedText, Particulars
from relevansi.metrics.gold.constraint_rules import AskedPlace, haversine_km
from relevansi.records import Item
from relevansi.services.gold import gold
from relevansi.services.rating import tasks
from relevansi.services.study import studies

Key = TypeVar("Key", int, str)

NOTHING, NO_RECORD = Particulars(), Card(title="")
"""What files have of most properties. They are one object each, so that ``is`` finds them."""
PORTION = 200
"""Answers in memory at once, so that the run may have any size."""
RECORDED = (
    *("price", "price_max", "price_note", "price_period", "listing_type", "location"),
    *("bedrooms", "bathrooms", "land_area", "building_area", "floors", "certificate"),
)
"""The fields of a card that a record may state otherwise, or alone."""

_ORDER = {name: n for n, name in enumerate(dict.fromkeys(property_particulars.FACTS.values()))}
_NUMBERED = re.compile(
    r"\b(?:bagian|section|part|halaman|page|hasil|results?|pilihan|opsi|option|peringkat|rank|top"
    r"|nomor|no)\b[^\w]{0,3}\d",
    re.IGNORECASE,
)
_RANKED = re.compile(
    r"\b(?:teratas|terbaik|best|utama|alternatif|alternatives?|lainnya|others?)\b", re.IGNORECASE
)
"""Words of a chatbot that reveal a card's place in its answer: hidden from blind raters."""


class Background(Struct, Generic[Key], frozen=True):
    """The texts above and under the cards of a page: ``note`` is the owner's on the question."""

    note: str
    cards: Mapping[Key, CardParticulars]


class _Source(Struct, frozen=True):
    text: ListedText
    listed: Particulars
    recorded: Particulars
    record: Card


def shared_facts(
    cards: Sequence[Item], particulars: Iterable[CardParticulars | None]
) -> dict[str, str]:
    """Return what all cards of a list state alike, if there are several: once above them."""
    properties = [card for card in cards if isinstance(card, Card)]
    if len(properties) < 2:
        return {}
    types = [dict(each.listed.facts).get("property_type") if each else None for each in particulars]
    values_by_fact: dict[str, list[Any]] = {
        "property_type": types,
        "offer": [card.price_note or card.listing_type for card in properties],
        "source": [card.source if card.source == "project" else None for card in properties],
        "location": [card.location for card in properties],
    }
    alike = {name: values[0] for name, values in values_by_fact.items() if len({*values}) == 1}
    return {name: str(value) for name, value in alike.items() if value}


def of_answer(session: Session, study: Study, run_id: str, query_id: int) -> Background[int]:
    """Return the texts of the page of a run's answer, those of its cards by rank."""
    run = session.get_one(Run, run_id)
    where = (Query.run_id == run_id) & (Query.query_id == query_id)
    for query, _, particulars_by_rank in of_run(session, run, where, with_record=study.show_record):
        return Background(query.note or "", particulars_by_rank)
    return Background("", {})


def of_run(
    session: Session, run: Run, where: ColumnElement[bool], *, with_record: bool
) -> Iterator[tuple[Row[Any], list[Row[Any]], dict[int, CardParticulars]]]:
    """Yield answers of a run, their results, and what is known of the card at each rank.

    They come in the order of their questions, with a portion of them in memory.
    """
    is_shared = KINDS[session.get_one(Study, run.study_id).kind].of_one_run is not None
    answers = _answers(session, run.question_set_id, where, with_items=is_shared)
    for query, results, place in answers:
        yield query, results, _by_rank(query, results, place, with_record=with_record)


def of_task(session: Session, rater: Rater, task_id: str) -> Background[str]:
    """Return the texts of the page of a blind task, those of its cards by their keys."""
    task = tasks.find(session, rater, task_id)
    question = session.get_one(Question, task.question_id)
    in_unit = Query.run_id == func.coalesce(task.run_id, Query.run_id)
    where = (Query.question_id == question.id) & in_unit
    answers = [*_answers(session, question.question_set_id, where, with_items=True)]
    cards = _of_items(answers, with_record=rater.study.show_record)
    return Background(question.note or "", {tasks.key(task, key): each for key, each in cards})


Answer = tuple[Row[Any], list[Row[Any]], AskedPlace | None]
"""An answer, its results, and the place that its question asks for."""


def _answers(
    session: Session, question_set_id: int, where: ColumnElement[bool], *, with_items: bool
) -> Iterator[Answer]:
    connection = core(session)
    numbers = dict(
        connection.execute(select(Query.id, Query.query_id).where(where).order_by(Query.id)).all()
    )
    places = gold.asked_places(session, {question_set_id}, {*numbers.values()})
    answers = select(
        *(Query.id, Query.query_id, Query.response, Query.state, Query.extra, Query.emptiness_id),
        *(Question.text, Question.category, Question.note, Question.external_id),
    ).join(Question)
    listed = select(Result.query_key, Result.rank, Result.card, Result.judged_item_id)
    listed = listed.add_columns((JudgedItem.card if with_items else null()).label("shared"))
    listed = listed.where(Result.judged_item_id.is_not(None))
    listed = listed.join(JudgedItem) if with_items else listed
    keys = iter(numbers)
    while portion := list(islice(keys, PORTION)):
        results: dict[int, list[Row[Any]]] = {key: [] for key in portion}
        of_portion = listed.where(Result.query_key.in_(portion))
        for row in connection.execute(of_portion.order_by(Result.query_key, Result.rank)).all():
            results[row.query_key].append(row)
        of_queries = answers.where(Query.id.in_(portion)).order_by(Query.id)
        for query in connection.execute(of_queries).all():
            yield query, results[query.id], places.get(query.query_id)


def _by_rank(
    query: Row[Any], results: list[Row[Any]], place: AskedPlace | None, *, with_record: bool
) -> dict[int, CardParticulars]:
    return {
        result.rank: _particulars_of(card, [source], place, with_record=with_record)
        for result, card, source in _sources(query, results)
    }


def _of_items(
    answers: Sequence[Answer], *, with_record: bool
) -> Iterator[tuple[int, CardParticulars]]:
    shared_cards: dict[int, Any] = {}
    sources: defaultdict[int, list[_Source]] = defaultdict(list)
    for query, results, _ in answers:
        for result, _, source in _sources(query, results):
            shared_cards[result.judged_item_id] = result.shared
            sources[result.judged_item_id].append(source)
    place = answers[0][2] if answers else None
    for key, row in shared_cards.items():
        card = Card(**(row or {}))
        merged = _particulars_of(card, sources[key], place, with_record=with_record)
        lines = tuple(text for text in merged.lines if not _NUMBERED.search(text))
        unnumbered = (text for text in merged.headings if not _NUMBERED.search(text))
        headings = tuple(text for text in unnumbered if not _RANKED.search(text))
        yield key, replace(merged, headings=headings, lines=lines)


def _sources(query: Row[Any], results: list[Row[Any]]) -> Iterator[tuple[Row[Any], Card, _Source]]:
    results = [result for result in results if kinds.of(result.card).states_more]
    if not results:
        return
    texts = property_cards.read(query.response)
    raws = query.extra.get("properties")
    raws = raws if isinstance(raws, list) else []
    properties, _ = read_properties("", "", raws)
    cards = [Card(**result.card) for result in results]
    for result, card, place in zip(results, cards, places(cards, properties), strict=True):
        at = result.rank - 1
        # Cards that the owner wrote by hand are in no answer's text.
        is_in_text = at < len(texts) and texts[at][0].title == card.title
        raw = raws[place] if place is not None else {}
        record = raw.get("api_data") if raw.get("verified") is True else None
        source = _Source(
            text=texts[at][1] if is_in_text else ListedText(),
            listed=property_particulars.read_particulars(raw) if raw else NOTHING,
            recorded=property_particulars.read_particulars(record) if record else NOTHING,
            record=_card(record) if record else NO_RECORD,
        )
        yield result, card, source


def _card(record: object) -> Card:
    (card,), _ = read_properties("", "", [record if isinstance(record, dict) else {}])
    return filled(Card(title=""), card)


def _particulars_of(
    card: Card, sources: Sequence[_Source], place: AskedPlace | None, *, with_record: bool
) -> CardParticulars:
    listed = _without(_fullest([source.listed for source in sources]), card, Particulars())
    card_particulars = CardParticulars(
        headings=tuple(sorted({source.text.heading for source in sources} - {""})),
        lines=_lines([source.text.lines for source in sources]),
        listed=listed,
        place=place.name if place else "",
        listed_km=_distance(place, listed),
    )
    if not with_record:
        return card_particulars
    recorded = _without(_fullest([source.recorded for source in sources]), card, listed)
    return replace(
        card_particulars,
        recorded=recorded,
        record=_differing(card, [source.record for source in sources], recorded),
        recorded_km=None if card_particulars.listed_km is not None else _distance(place, recorded),
    )


def _lines(several: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the lines of the answer with most text, then those of the others alone, sorted."""
    longest = max(several, key=lambda lines: (sum(map(len, lines)), lines), default=())
    every = {line for lines in several for line in lines}
    return tuple(dict.fromkeys((*longest, *sorted(every))))


def _fullest(several: Sequence[Particulars]) -> Particulars:
    """Return the longest text of each kind, whatever the order of `several`."""
    several = [source for source in several if source is not NOTHING]
    if not several:
        return NOTHING
    facts: dict[str, str | bool] = {}
    for name, value in sorted((fact for source in several for fact in source.facts), key=str):
        if name not in facts or len(str(value)) > len(str(facts[name])):
            facts[name] = value
    points = [(source.latitude, source.longitude) for source in several]
    located = [point for point in points if None not in point]
    return Particulars(
        max((source.description for source in several), key=lambda text: (len(text), text)),
        max((source.features for source in several), key=lambda texts: (len(texts), texts)),
        tuple(facts.items()),
        *min(located, default=(None, None)),
    )


def _without(details: Particulars, card: Card, listed: Particulars) -> Particulars:
    """Return the details that neither the card nor `listed` has."""
    if details is NOTHING:
        return details
    other_features = {text.casefold() for text in listed.features}
    every = (*listed.facts, *details.facts)
    addresses = (str(value) for name, value in every if name == "address")
    place = " ".join((card.location or "", *addresses)).casefold()
    facts = [
        (name, value)
        for name, value in details.facts
        if (name, value) not in listed.facts
        and value != card.location
        and not (name in {"district", "city"} and str(value).casefold() in place)
    ]
    return replace(
        details,
        description="" if details.description == listed.description else details.description,
        features=tuple(text for text in details.features if text.casefold() not in other_features),
        facts=tuple(sorted(facts, key=lambda fact: _ORDER.get(fact[0], len(_ORDER)))),
    )


def _differing(card: Card, records: Iterable[Card], recorded: Particulars) -> Card:
    """Return the fields of the fullest record that the card lacks or states otherwise."""
    records = [record for record in records if record is not NO_RECORD]
    if not records:
        return NO_RECORD
    fullest = max(records, key=lambda record: (-astuple(record).count(None), str(record)))
    values = {name: getattr(fullest, name) for name in RECORDED}
    differing = {k: v for k, v in values.items() if v is not None and v != getattr(card, k)}
    if differing.get("location") in {value for _, value in recorded.facts}:
        del differing["location"]  # it is the address
    return Card(title="", **differing)


def _distance(place: AskedPlace | None, located: Particulars) -> float | None:
    if place is None or located.latitude is None or located.longitude is None:
        return None
    return haversine_km(place.latitude, place.longitude, located.latitude, located.longitude)


NOTE_KEYS = ("notes", "note", "evaluation_criteria", "evaluation criteria", "criteria")
"""The fields in which a gold question may carry its note; the first with a text is read."""
LONGEST_NOTE = 2000
"""Characters of a note."""


def question_notes(session: Session, study: Study) -> list[list[tuple[Question, str]]]:
    """Return the questions of every question set with the notes of their gold questions, by set."""
    sets = session.scalars(
        select(QuestionSet).where(QuestionSet.study_id == study.id).order_by(QuestionSet.id)
    )
    return [_notes_of(session, question_set) for question_set in sets if question_set.questions]


def set_notes(session: Session, study: Study, texts: Mapping[int, str], now: datetime) -> None:
    """Set the notes of questions, by the question's id; logged, the others stay."""
    for question, _ in chain.from_iterable(question_notes(session, study)):
        before = question.note or ""
        text = texts.get(question.id, before).replace("\r\n", "\n").strip()[:LONGEST_NOTE]
        if text != before:
            question.note = text or None
            subject = f"question {question.position}"
            studies.log(session, study, "set note", subject, before, text, now)


def show_offered_notes(
    session: Session, study: Study, now: datetime, question_id: int | None = None
) -> None:
    """Let raters read the offered note of one question, or of all, that has no other note."""
    offered = {
        question.id: text
        for question, text in chain.from_iterable(question_notes(session, study))
        if text and not question.note and question_id in (None, question.id)
    }
    set_notes(session, study, offered, now)


def _notes_of(session: Session, question_set: QuestionSet) -> list[tuple[Question, str]]:
    """Return the questions of a set with the notes that its latest gold questions offer."""
    document = session.scalar(
        select(GoldVersion.document)
        .where(GoldVersion.question_set_id == question_set.id)
        .order_by(GoldVersion.id.desc())
        .limit(1)
    )
    gold_questions = (document or {}).get("questions", [])
    note_by_number = {question["id"]: _note_in(question) for question in gold_questions}
    of_set = Question.question_set_id == question_set.id
    rows = select(Query.question_id, Query.query_id).join(Question).where(of_set)
    numbers = dict(session.execute(rows.order_by(Query.query_id.desc())).all())
    notes = []
    for question in question_set.questions:
        note = note_by_number.get(numbers.get(question.id, question.position), "")
        notes.append((question, note[:LONGEST_NOTE]))
    return notes


def _note_in(question: Mapping[str, object]) -> str:
    for key in NOTE_KEYS:
        note = question.get(key)
        if isinstance(note, str) and note.strip():
            return note.strip()
    return ""
