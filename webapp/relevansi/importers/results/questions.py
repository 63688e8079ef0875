"""The questions of an import, found again by their ids and by their texts, and their numbers."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from operator import itemgetter

from msgspec import Struct, field

from relevansi.importers.results.files import File
from relevansi.importers.results.rows import Row
from relevansi.kinds.document import normalised
from relevansi.records import LARGEST_INTEGER

plain_text = lru_cache(maxsize=1024)(normalised)
"""The text of a question without what makes no other one of it; each question has many rows."""


class Question(Struct):
    external_id: str | None  # none where the files state only a text
    text: str = ""
    category: str = ""
    extra: dict[str, object] = field(default_factory=dict)


class Questions(dict[str, Question]):
    """The questions by their keys: the id that the files state, else the text."""

    def __init__(self) -> None:
        super().__init__()
        self._topics: dict[str, None] = {}  # that a file of topics asks, in order
        self._keys_of_texts: dict[str, str] = {}

    def key_of(self, row: Row) -> str:
        if row.query_id:
            return f"id {row.query_id}"
        plain = plain_text(row.query)
        return self._keys_of_texts.get(plain, f"text {plain}")

    def key_of_graded(self, row: Row) -> str:
        """The key of the question of a grade; files may have its text for its id."""
        key = self.key_of(row)
        return key if key in self else self._keys_of_texts.get(plain_text(row.query_id), key)

    def add(self, key: str, row: Row, file: File) -> Question:
        """The question of a row, with what the row says first of it."""
        question = self.get(key)
        if question is None:
            file.budget.spend("questions", file)
            question = self[key] = Question(row.query_id or None)
        question.text = question.text or row.query
        question.category = question.category or row.category
        if row.query:
            self._keys_of_texts.setdefault(plain_text(row.query), key)
        return question

    def add_topic(self, row: Row, file: File) -> None:
        """Add a question that is asked, whether or not it has a list; the first of a key counts."""
        key = self.key_of(row)
        file.counts["results_twice"] += key in self._topics
        if key not in self._topics:
            self._topics[key] = None
            self.add(key, row, file).extra.update(row.extra)

    def numbers(self, listed: Container[str], graded: set[str]) -> dict[str, int]:
        """The number of each question by its key: the files' own if all have one, else its place.

        These are the keys of lists and of grades.
        """
        topics = set(self._topics)
        if graded & topics:
            topics &= graded  # the questions of a collection include those of other splits
        order = dict.fromkeys((*self._topics, *self))
        keys = [key for key in order if key in listed or key in topics]
        ids = [self[key].external_id or "" for key in keys]
        numbers = [int(text) for text in ids if text.isascii() and re.fullmatch(r"\d{1,10}", text)]
        if len(set(numbers)) == len(keys) and max(numbers, default=0) <= LARGEST_INTEGER:
            by_key = dict(zip(keys, numbers, strict=True))
            return by_key if topics else dict(sorted(by_key.items(), key=itemgetter(1)))
        return {key: place for place, key in enumerate(keys, 1)}
