"""Flat rows of several files made into runs: order, ties, depth, and texts joined to ids."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isnan, nan
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from webapp.importers.results.files import BROKEN, File
from webapp.importers.results.rows import FlatRow, as_number, as_text
from webapp.importers.runs.problems import ImportRefused, warning
from webapp.kinds.document import Document, beginning, normalised, text_hash
from webapp.printable import label_line
from webapp.records import LARGEST_INTEGER, QueryState, ReadQuery, ReadRun, Relevance

MOST_IN_TAIL = 1_000
CANNOT_TELL = {"unsure", "cannot tell", "cannot_tell", "?"}
"""The texts of a grade that say that the rater could not tell."""
_OF_TEXT = re.compile("(?:text|title):[0-9a-f]{64}")  # an identity, as exports name what has no id
_SHOWN_IDS = 5
_SAME = 6  # characters by which texts of one id are sorted before they are compared


class Judged(Struct, frozen=True):
    """A verdict on an item from a file: a grade from 0 or "unsure"; ``identity`` is the item's.

    ``rater`` is "" where the file does not say whose it is.
    """

    external_id: str | None
    question: str
    identity: str
    verdict: str
    rater: str = ""


class _Question(Struct):
    external_id: str | None  # none where the files state only a text
    text: str = ""
    category: str = ""
    extra: dict[str, object] = field(default_factory=dict)


class _Entry(NamedTuple):
    rank: int  # -1 for none
    score: float  # nan for none
    item: Document | str

    @property
    def doc_id(self) -> str:
        return self.item if isinstance(self.item, str) else self.item.doc_id or ""


class _List(Struct):
    """One list on its way: compact while it grows, since there may be millions of entries."""

    answer: str = ""
    extra: dict[str, object] = field(default_factory=dict)
    ranks: array[int] = field(default_factory=lambda: array("q"))
    scores: array[float] = field(default_factory=lambda: array("d"))
    items: list[Document | str] = field(default_factory=list)
    top: list[_Entry] = field(default_factory=list)
    rest: list[Document | str] = field(default_factory=list)  # below the top


_Source = tuple[str, File]  # a system and the file that has its lists


class Gathered:
    """The rows of all files of one import, on their way to runs."""

    def __init__(self, depth: int, *, has_passages: bool) -> None:
        self.depth = depth
        self.sample: list[FlatRow] = []
        self.header: tuple[str, ...] = ()  # of the first table
        self.documents: dict[str, Document] = {}  # of collections, by id
        self.has_passages = has_passages
        self._questions: dict[str, _Question] = {}
        self._topics: dict[str, None] = {}  # the questions that a file of topics asks, in order
        self._keys_of_texts: dict[str, str] = {}
        self._lists: dict[_Source, dict[str, _List]] = defaultdict(dict)
        self._places: dict[tuple[str, File, str], dict[int, int]] = defaultdict(dict)
        self._grades: list[tuple[File, FlatRow]] = []
        self._known: dict[str, Document] = {}  # of rows that state a text, by id
        self._versions: dict[tuple[str, str], list[str]] = {}  # beginnings of texts, by id

    def take(self, file: File, found: Iterable[FlatRow | Document | tuple[str, ...]]) -> None:
        """Take the rows of a file, its documents, and the names of its columns."""
        try:
            for row in found:
                self._add(file, row)
        except ImportRefused as refused:
            file.note(*refused.problems)
        except BROKEN:
            file.error("results_cut_off")

    def _add(self, file: File, row: FlatRow | Document | tuple[str, ...]) -> None:
        match row:
            case tuple():
                self.header = self.header or row
            case FlatRow(role="document", item=Document() as document) | (Document() as document):
                if document.doc_id:
                    known = self.documents.setdefault(document.doc_id, document)
                    file.counts["results_twice"] += known is not document
            case FlatRow(role="question"):
                key = self._key(row)
                if key in self._topics:
                    file.counts["results_twice"] += 1
                else:
                    self._topics[key] = None
                    self._asked(key, row).extra.update(row.extra)
            case FlatRow(role="grade"):
                self._add_grade(file, row)
                if not self._lists and len(self.sample) < 3:
                    self.sample.append(row)
            case FlatRow(role="result"):
                self._add_result(file, row)

    def _add_grade(self, file: File, row: FlatRow) -> None:
        if row.grade not in (None, ""):  # else the document is only known to be unjudged
            self._grades.append((file, row))

    def _key(self, row: FlatRow) -> str:
        if row.query_id:
            return f"id {row.query_id}"
        plain = normalised(row.query)
        return self._keys_of_texts.get(plain, f"text {plain}")

    def _asked(self, key: str, row: FlatRow) -> _Question:
        question = self._questions.setdefault(key, _Question(row.query_id or None))
        question.text = question.text or row.query
        question.category = question.category or row.category
        if row.query:
            self._keys_of_texts.setdefault(normalised(row.query), key)
        return question

    def _add_result(self, file: File, row: FlatRow) -> None:
        first = self._key(row)
        question = self._asked(first, row)
        # The same question asked twice in one file is two questions.
        places = self._places[row.system, file, first]
        again = places.setdefault(row.place, len(places) + 1)
        key = first if again == 1 else f"{first} ({again})"
        if key not in self._questions:
            number = question.external_id and f"{question.external_id}/{again}"
            self._questions[key] = _Question(number, question.text, question.category)
        if row.query and normalised(question.text) != normalised(row.query):
            file.counts["results_question_differs"] += 1
        one = self._lists[row.system or file.stem, file].setdefault(key, _List())
        one.answer = one.answer or row.answer
        one.extra |= row.extra
        if row.item is None:
            return
        if len(self.sample) < 3:
            self.sample.append(row)
        if isinstance(row.item, Document) and row.item.doc_id and row.item.text:
            self._know(row.item.doc_id, row.item)
        one.ranks.append(-1 if row.rank is None else min(row.rank, LARGEST_INTEGER))
        one.scores.append(nan if row.score is None else row.score)
        one.items.append(row.item)
        self._add_grade(file, row)

    def _know(self, doc_id: str, item: Document) -> None:
        """Keep the texts that are stated of one id, the longest of those that begin alike."""
        self._known.setdefault(doc_id, item)
        text = beginning(item.text)
        versions = self._versions.setdefault((doc_id, text[:_SAME]), [])
        for number, version in enumerate(versions):
            if version.startswith(text) or text.startswith(version):
                versions[number] = max(version, text, key=len)
                return
        versions.append(text)

    def wanted(self) -> frozenset[str]:
        """The ids of items that will be cards and have no text yet; puts the lists in order."""
        ids: set[str] = set()
        for (_, file), lists in self._lists.items():
            for one in lists.values():
                entries = _ordered(file, list(map(_Entry, one.ranks, one.scores, one.items)))
                one.top, rest = entries[: self.depth], entries[self.depth :]
                one.rest = [entry.item for entry in rest[:MOST_IN_TAIL]]
                one.ranks, one.scores, one.items = array("q"), array("d"), []
                ids |= {e.doc_id for e in one.top if isinstance(e.item, str) or not e.item.text}
        return frozenset(ids - {""})

    def runs(self) -> tuple[ReadRun, ...]:
        """One run for each system, with the questions of all, in one order."""
        numbers = self._numbers()
        versions = Counter(key[0] for key, texts in self._versions.items() for _ in texts)
        several = sum(count > 1 for count in versions.values())
        self.has_passages = self.has_passages or several > 0
        runs: list[ReadRun] = []
        for label, of_system in self._systems():
            lists = {key: one for source in of_system for key, one in self._lists[source].items()}
            queries = tuple(
                self._query(number, key, lists.get(key) or _List())
                for key, number in numbers.items()
            )
            files = list(dict.fromkeys(file for _, file in of_system))
            twice = sum(len({c.identity for c in q.cards}) < len(q.cards) for q in queries)
            files[0].counts["results_items_twice"] += twice
            files[0].counts["results_lists_missing"] += len(numbers.keys() - lists.keys())
            hashes = [file.sha256() for file in files]
            runs.append(
                ReadRun(
                    file_format=files[0].format,
                    name=files[0].name,
                    sha256=hashes[0] if len(hashes) == 1 else _hash("\n".join(hashes)),
                    queries=queries,
                    search_method=label_line(label),
                    key=_run_key(queries),
                )
            )
        if runs:
            first, *_ = self._lists
            self._tell(first[1], several, runs)
        return tuple(runs)

    def _numbers(self) -> dict[str, int]:
        """The number of each question: the files' own if all are numbers, else its place."""
        graded = {self._key(row) for _, row in self._grades}
        listed = {key for lists in self._lists.values() for key in lists}
        asked = set(self._topics)
        if graded & asked:
            asked &= graded  # the questions of a collection include those of other splits
        order = dict.fromkeys((*self._topics, *self._questions))
        keys = [key for key in order if key in listed or key in asked]
        ids = [self._questions[key].external_id or "" for key in keys]
        own = [int(one) for one in ids if one.isascii() and one.isdigit() and len(one) <= 10]
        if len(set(own)) == len(keys) and max(own, default=0) <= LARGEST_INTEGER:
            numbers = dict(zip(keys, own, strict=True))
            return numbers if asked else dict(sorted(numbers.items(), key=itemgetter(1)))
        return {key: place for place, key in enumerate(keys, 1)}

    def _systems(self) -> Iterator[tuple[str, list[_Source]]]:
        """Each system with its lists: of all files, unless two answer the same question."""
        by_system: dict[str, list[_Source]] = defaultdict(list)
        for source in self._lists:
            by_system[source[0]].append(source)
        for system, sources in by_system.items():
            counts = Counter(key for source in sources for key in self._lists[source])
            if max(counts.values()) == 1 or len(sources) == 1:
                yield system, sources
            else:
                yield from ((f"{system} ({source[1].name})", [source]) for source in sources)

    def _query(self, number: int, key: str, one: _List) -> ReadQuery:
        question = self._questions[key]
        cards = tuple(map(self._card, one.top))
        tail = tuple(map(self._identity, one.rest))
        one.top, one.rest = [], []  # there may be millions
        return ReadQuery(
            query_id=number,
            question=question.text.strip() or question.external_id or "-",
            category=question.category,
            response=one.answer,
            state=QueryState.RESULTS if cards else QueryState.EMPTY,
            cards=cards,
            context_dependent=False,
            extra={**question.extra, **one.extra},
            external_id=question.external_id,
            tail=tail,
        )

    def _card(self, entry: _Entry) -> Document:
        item = Document(doc_id=entry.item) if isinstance(entry.item, str) else entry.item
        known = self.documents.get(entry.doc_id) or self._known.get(entry.doc_id)
        if known and not item.text:
            title, url = item.title or known.title, item.url or known.url
            item = replace(known, title=title, url=url, meta={**known.meta, **item.meta})
        return replace(
            self._told_apart(item),
            score=None if isnan(entry.score) else entry.score,
            position=item.position if entry.rank < 0 else entry.rank - 1,
        )

    def _told_apart(self, item: Document) -> Document:
        if not (self.has_passages and item.doc_id and item.text):
            return item
        text = beginning(item.text)
        versions = self._versions.get((item.doc_id, text[:_SAME]), [])
        whole = next((version for version in versions if version.startswith(text)), text)
        return replace(item, passage=text_hash(whole)[:8])

    def _identity(self, item: Document | str) -> str:
        if isinstance(item, Document):
            return self._told_apart(item).identity
        return item if _OF_TEXT.fullmatch(item) else f"doc:{item}"

    def grades(self) -> tuple[Judged, ...]:
        """The grades of the questions there are; of all where only grades were dropped."""
        judged: dict[tuple[str, str, str], Judged] = {}
        for file, row in self._grades:
            key = self._key(row)
            said = as_text(row.grade).strip()
            is_unsure = said.casefold() in CANNOT_TELL
            number = 0 if is_unsure else as_number(row.grade)
            if self._questions and key not in self._questions:
                file.counts["results_grades_unknown"] += 1
            elif number is None or number % 1:
                file.error("results_grade_wrong", row.line, value=said[:40])
            elif number < 0:
                file.counts["results_grades_below"] += 1
            else:
                question = self._questions.get(key) or _Question(row.query_id or None, row.query)
                identity = self._identity(row.item or "")
                verdict = str(Relevance.UNSURE) if is_unsure else str(int(number))
                one = Judged(question.external_id, question.text, identity, verdict, row.rater)
                known = judged.setdefault((key, identity, row.rater), one)
                file.counts["results_grades_differ"] += known != one
        return tuple(judged.values())

    def _tell(self, file: File, several: int, runs: list[ReadRun]) -> None:
        cards = {card.identity: card for run in runs for q in run.queries for card in q.cards}
        blank = [card.doc_id or "-" for card in cards.values() if not (card.text or card.title)]
        if blank:
            ids = ", ".join(blank[:_SHOWN_IDS])
            told: dict[str, str | int] = {"count": len(blank), "of": len(cards), "ids": ids}
            file.note(warning("results_without_text", file.name, told))
        untold = sum(query.question in ("-", query.external_id) for query in runs[0].queries)
        file.counts["results_passages"] += several
        file.counts["results_without_ids"] += sum(card.doc_id is None for card in cards.values())
        file.counts["results_questions_untold"] += untold


def _ordered(file: File, entries: list[_Entry]) -> list[_Entry]:
    ranks = [entry.rank for entry in entries]
    has_ranks = -1 not in ranks
    has_scores = not any(isnan(entry.score) for entry in entries)
    if not (has_ranks or has_scores):
        return entries
    # Falling document numbers first, then what counts more: sorting keeps their order.
    entries.sort(key=lambda entry: entry.doc_id, reverse=True)
    entries.sort(key=lambda one: (one.rank if has_ranks else 0, -one.score if has_scores else 0))
    pairs = list(pairwise(entry.score for entry in entries)) if has_scores else []
    if has_ranks and any(after > before for before, after in pairs):
        file.counts["results_rank_against_score"] += 1
    if has_ranks and sorted(ranks) != list(range(1, len(ranks) + 1)):
        file.counts["results_ranks_renumbered"] += 1
    if not has_ranks and any(after == before for before, after in pairs):
        file.counts["results_ties"] += 1
    return entries


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _run_key(queries: Iterable[ReadQuery]) -> str:
    told = [
        (
            query.external_id or normalised(query.question),
            [*(card.identity for card in query.cards), *query.tail],
            query.response,
        )
        for query in queries
    ]
    return _hash(json.dumps(told))
