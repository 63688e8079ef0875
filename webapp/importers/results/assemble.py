"""Flat rows of several files made into runs: order, ties, depth, and texts joined to ids."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isnan, nan
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from webapp.importers.results.rows import File, FlatRow, as_number, as_text
from webapp.importers.runs.problems import error, warning
from webapp.kinds.document import Document, beginning, normalised, text_hash
from webapp.records import LARGEST_INTEGER, Problem, QueryState, ReadQuery, ReadRun

MOST_IN_TAIL = 1_000
CANNOT_TELL = {"unsure", "cannot tell", "cannot_tell", "?"}
"""The texts of a grade that say that the rater could not tell."""
_OF_TEXT = re.compile("(?:text|title):[0-9a-f]{64}")  # an identity, as exports name what has no id
_SHOWN_IDS = 5
_SAME = 6  # characters by which texts of one id are sorted before they are compared


class Judged(Struct, frozen=True):
    """A grade of an item from a file: ``grade`` is from 0.

    Without one the rater ``cannot_tell``, or the item is in the pool and unjudged.

    ``identity`` is the item's, ``query_id`` the number of the question in the runs of the same
    import, if there are any.
    """

    external_id: str | None
    question: str
    identity: str
    grade: int | None
    rater: str | None = None
    query_id: int | None = None
    cannot_tell: bool = False


class Question(Struct):
    """A question as the files name it; ``external_id`` is ``None`` where they state only a text."""

    external_id: str | None
    text: str = ""
    category: str = ""
    extra: dict[str, object] = field(default_factory=dict)


class _Entry(NamedTuple):
    rank: int | None
    score: float | None
    item: Document | str


class _List(Struct):
    """One list on its way: compact while it grows, since there may be millions of entries."""

    answer: str = ""
    extra: dict[str, object] = field(default_factory=dict)
    ranks: array[int] = field(default_factory=lambda: array("q"))  # -1 for none
    scores: array[float] = field(default_factory=lambda: array("d"))  # nan for none
    items: list[Document | str] = field(default_factory=list)
    top: list[_Entry] = field(default_factory=list)
    rest: list[Document | str] = field(default_factory=list)  # below the top

    def entries(self) -> list[_Entry]:
        stated = zip(self.ranks, self.scores, self.items, strict=True)
        return [
            _Entry(None if rank < 0 else rank, None if isnan(score) else score, item)
            for rank, score, item in stated
        ]


class _Grade(NamedTuple):
    file: str
    row: FlatRow


class Gathered:
    """The rows of all files of one import, on their way to runs."""

    def __init__(self, depth: int, *, has_passages: bool) -> None:
        self.depth = depth
        self.questions: dict[str, Question] = {}
        self.problems: list[Problem] = []
        self.sample: list[FlatRow] = []
        self.documents: dict[str, Document] = {}  # of collections, by id
        self.has_passages = has_passages
        self._topics: dict[str, None] = {}  # the questions that a file of topics asks, in order
        self._keys_of_texts: dict[str, str] = {}
        self._lists: dict[tuple[str, str], dict[str, _List]] = defaultdict(dict)
        self._places: dict[tuple[str, str, str], dict[int, int]] = defaultdict(dict)
        self._formats: dict[str, str] = {}
        self._grades: list[_Grade] = []
        self._known: dict[str, Document] = {}  # of rows that state a text, by id
        self._versions: dict[tuple[str, str], list[str]] = {}  # beginnings of texts, by id
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, file: File, file_format: str, row: FlatRow) -> None:
        match row.role:
            case "question":
                self._add_question(file, row)
            case "document" if isinstance(row.item, Document) and row.item.doc_id:
                self.add_document(file, row.item)
            case "grade":
                self._grades.append(_Grade(file.name, row))
                if not self._lists and len(self.sample) < 3:
                    self.sample.append(row)
            case "result":
                self._add_result(file, file_format, row)

    def add_document(self, file: File, document: Document) -> None:
        """Take a document of a collection; the first one of an id is kept."""
        known = self.documents.setdefault(document.doc_id or "", document)
        if known is not document:
            self._counts["results_documents_twice", file.name] += 1

    def _key(self, row: FlatRow) -> str:
        if row.query_id:
            return f"id {row.query_id}"
        plain = normalised(row.query)
        return self._keys_of_texts.get(plain, f"text {plain}")

    def _asked(self, key: str, row: FlatRow) -> Question:
        question = self.questions.setdefault(key, Question(row.query_id or None))
        question.text = question.text or row.query
        question.category = question.category or row.category
        if row.query:
            self._keys_of_texts.setdefault(normalised(row.query), key)
        return question

    def _add_question(self, file: File, row: FlatRow) -> None:
        key = self._key(row)
        if key in self._topics:
            self._counts["results_questions_twice", file.name] += 1
            return
        self._topics[key] = None
        self._asked(key, row).extra.update(row.extra)

    def _add_result(self, file: File, file_format: str, row: FlatRow) -> None:
        self._formats[file.name] = file_format
        lists = self._lists[row.system or file.stem, file.name]
        first = self._key(row)
        question = self._asked(first, row)
        # The same question asked twice in one file is two questions.
        places = self._places[row.system, file.name, first]
        again = places.setdefault(row.place, len(places) + 1)
        key = first if again == 1 else f"{first} ({again})"
        if key not in self.questions:
            number = question.external_id and f"{question.external_id}/{again}"
            self.questions[key] = Question(number, question.text, question.category)
        if row.query and question.text and normalised(question.text) != normalised(row.query):
            self._counts["results_question_differs", file.name] += 1
        one = lists.setdefault(key, _List())
        one.answer = one.answer or row.answer
        one.extra |= row.extra
        if row.item is None:
            return
        if len(self.sample) < 3:
            self.sample.append(row)
        if isinstance(row.item, Document):
            self._know(row.item)
        one.ranks.append(-1 if row.rank is None else min(row.rank, LARGEST_INTEGER))
        one.scores.append(nan if row.score is None else row.score)
        one.items.append(row.item)
        if row.grade is not None and row.grade != "":
            self._grades.append(_Grade(file.name, row))

    def _know(self, item: Document) -> None:
        """Keep the texts that are stated of one id, the longest of those that begin alike."""
        if not item.doc_id or not item.text:
            return
        self._known.setdefault(item.doc_id, item)
        text = beginning(item.text)
        versions = self._versions.setdefault((item.doc_id, text[:_SAME]), [])
        for number, version in enumerate(versions):
            if version.startswith(text) or text.startswith(version):
                versions[number] = max(version, text, key=len)
                return
        versions.append(text)

    def wanted(self) -> frozenset[str]:
        """The ids of items that will be cards and have no text yet; puts the lists in order."""
        ids: set[str] = set()
        for (_, name), lists in self._lists.items():
            for one in lists.values():
                entries = self._ordered(name, one.entries())
                one.top, rest = entries[: self.depth], entries[self.depth :]
                one.rest = [entry.item for entry in rest[:MOST_IN_TAIL]]
                one.ranks, one.scores, one.items = array("q"), array("d"), []
                for _, _, item in one.top:
                    doc_id = item if isinstance(item, str) else (not item.text and item.doc_id)
                    if doc_id:
                        ids.add(doc_id)
        return frozenset(ids)

    def _ordered(self, name: str, entries: list[_Entry]) -> list[_Entry]:
        ranks = [entry.rank for entry in entries]
        scores = [entry.score for entry in entries if entry.score is not None]
        if None not in ranks:
            # Falling document numbers first, then what counts more: sorting keeps their order.
            entries.sort(key=_doc_id, reverse=True)
            entries.sort(key=lambda entry: (entry.rank or 0, -(entry.score or 0.0)))
            ordered = [entry.score for entry in entries if entry.score is not None]
            if any(after > before for before, after in pairwise(ordered)):
                self._counts["results_rank_against_score", name] += 1
            if sorted(rank or 0 for rank in ranks) != list(range(1, len(ranks) + 1)):
                self._counts["results_ranks_renumbered", name] += 1
        elif len(scores) == len(entries):
            entries.sort(key=_doc_id, reverse=True)
            entries.sort(key=lambda entry: -(entry.score or 0.0))
            if len(set(scores)) < len(scores):
                self._counts["results_ties", name] += 1
        return entries

    def runs(self, hashes: Mapping[str, str]) -> tuple[ReadRun, ...]:
        """One run for each system, with the questions of all, in one order."""
        numbers = self.numbers()
        per_id = Counter(doc_id for doc_id, _ in self._versions)
        several = {key[0] for key, versions in self._versions.items() if len(versions) > 1}
        several |= {doc_id for doc_id, count in per_id.items() if count > 1}
        self.has_passages = self.has_passages or bool(several)
        runs: list[ReadRun] = []
        for label, names in self._systems():
            lists = {key: one for name in names for key, one in self._lists[name].items()}
            queries = tuple(
                self._query(number, key, lists.get(key) or _List())
                for key, number in numbers.items()
            )
            files = [name for _, name in names]
            twice = sum(len({c.identity for c in q.cards}) < len(q.cards) for q in queries)
            if twice:
                self._counts["results_items_twice", files[0]] += twice
            missing = len(numbers.keys() - lists.keys())
            if missing:
                self._counts["results_lists_missing", files[0]] += missing
            runs.append(
                ReadRun(
                    file_format=self._formats[files[0]],
                    name=files[0],
                    sha256=_joined_hash([hashes[name] for name in dict.fromkeys(files)]),
                    queries=queries,
                    search_method=label,
                    key=_run_key(queries),
                )
            )
        self._tell(several, runs)
        return tuple(runs)

    def numbers(self) -> dict[str, int]:
        """The number of each question: the files' own if all are numbers, else its place."""
        graded = {self._key(row) for _, row in self._grades}
        listed = {key for lists in self._lists.values() for key in lists}
        asked = set(self._topics)
        if graded & asked:
            asked &= graded  # the questions of a collection include those of other splits
        order = dict.fromkeys((*self._topics, *self.questions))
        keys = [key for key in order if key in listed or key in asked]
        ids = [self.questions[key].external_id or "" for key in keys]
        own = [int(one) for one in ids if one.isascii() and one.isdigit() and len(one) <= 10]
        if len(set(own)) == len(keys) and max(own, default=0) <= LARGEST_INTEGER:
            numbers = dict(zip(keys, own, strict=True))
            return numbers if asked else dict(sorted(numbers.items(), key=itemgetter(1)))
        return {key: place for place, key in enumerate(keys, 1)}

    def _systems(self) -> Iterable[tuple[str, list[tuple[str, str]]]]:
        """Each system with its lists: of all files, unless two answer the same question."""
        by_system: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for name in self._lists:
            by_system[name[0]].append(name)
        for system, names in by_system.items():
            counts = Counter(key for name in names for key in self._lists[name])
            if len(names) == 1 or max(counts.values()) == 1:
                yield system, names
            else:
                yield from ((f"{system} ({name[1]})", [name]) for name in names)

    def _query(self, number: int, key: str, one: _List) -> ReadQuery:
        question = self.questions[key]
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
        doc_id = item.doc_id or ""
        if not item.text:
            known = self.documents.get(doc_id) or self._known.get(doc_id)
            if known:
                item = replace(
                    known,
                    title=item.title or known.title,
                    url=item.url or known.url,
                    meta={**known.meta, **item.meta},
                )
        position = item.position if entry.rank is None else entry.rank - 1
        return replace(self._told_apart(item), score=entry.score, position=position)

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
        numbers = self.numbers()
        judged: dict[tuple[str, str, str], Judged] = {}
        for file, row in self._grades:
            key = self._key(row)
            if self.questions and key not in self.questions:
                self._counts["results_grades_unknown", file] += 1
                continue
            is_unsure = as_text(row.grade).strip().casefold() in CANNOT_TELL
            number = None if is_unsure else as_number(row.grade)
            is_whole = number is not None and number == int(number)
            if not (is_unsure or row.grade is None or is_whole):
                wrong = {"value": as_text(row.grade)[:40]}
                self.problems.append(error("results_grade_wrong", file, wrong, line=row.line))
                continue
            if number is not None and number < 0:
                self._counts["results_grades_below", file] += 1
                continue
            grade = None if number is None else int(number)
            identity = self._identity(row.item or "")
            question = self.questions.get(key) or Question(row.query_id or None, row.query)
            one = Judged(
                question.external_id,
                question.text,
                identity,
                grade,
                row.rater or None,
                numbers.get(key),
                is_unsure,
            )
            if judged.setdefault((key, identity, row.rater), one).grade != grade:
                self._counts["results_grades_differ", file] += 1
        return tuple(judged.values())

    def _tell(self, several: set[str], runs: Sequence[ReadRun]) -> None:
        first = runs[0].name if runs else ""
        if several:
            self._counts["results_passages", first] += len(several)
        cards = {card.identity: card for run in runs for q in run.queries for card in q.cards}
        blank = [card.doc_id or "-" for card in cards.values() if not (card.text or card.title)]
        if blank:
            ids: dict[str, str | int] = {
                "count": len(blank),
                "of": len(cards),
                "ids": ", ".join(blank[:_SHOWN_IDS]),
            }
            self.problems.append(warning("results_without_text", first, ids))
        unnamed = sum(card.doc_id is None for card in cards.values())
        if unnamed:
            self._counts["results_without_ids", first] += unnamed
        queries = runs[0].queries if runs else ()
        untold = sum(query.question in ("-", query.external_id) for query in queries)
        if untold:
            self._counts["results_questions_untold", first] += untold

    def counted(self) -> list[Problem]:
        """What is only counted, a warning each."""
        return [warning(code, file, {"count": n}) for (code, file), n in self._counts.items()]


def _doc_id(entry: _Entry) -> str:
    item = entry.item
    return item if isinstance(item, str) else item.doc_id or ""


def _joined_hash(hashes: Sequence[str]) -> str:
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def _run_key(queries: Iterable[ReadQuery]) -> str:
    told = [
        (
            query.external_id or normalised(query.question),
            [*(card.identity for card in query.cards), *query.tail],
            query.response,
        )
        for query in queries
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
