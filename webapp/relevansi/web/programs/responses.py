"""What programs get from the addresses under ``/api/v1``."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from relevansi.records import EmptyOutcome, Scale
from relevansi.services.programs.rows import RunRow


class StudyRow(Struct):
    """The settings of the study that its numbers rest on."""

    name: str
    kind: str
    scale: Scale
    merging: str
    headline: tuple[str, ...]
    cannot_tell: str
    asks_quality: bool
    blind: bool


class Runs(Struct):
    data: list[RunRow]


class Imported(Runs):
    """The runs of files; ``grades`` counts those that each rater got.

    ``remarks`` are what is wrong with files that were stored all the same, as lines left out.
    """

    grades: dict[str, int]
    remarks: list[dict[str, Any]]


class CatalogueOutcome(Struct):
    # What an import did to the catalogue, whose total is without what only runs returned.
    name: str
    kind: str
    total: int
    removed: int
    added: int
    changed: int
    unchanged: int
    repeated: int
    problems: list[dict[str, Any]]


class CataloguePage(Struct):
    """So many items fit, ``count`` of ``total``; each has the fields of its kind."""

    count: int
    total: int
    is_imported: bool
    items: list[dict[str, Any]]


class JobRow(Struct):
    """Work that goes on in the background, or its outcome.

    ``state`` is "waiting", "asking" (at work), "done" or "failed"; ``steps_done`` of ``steps`` are
    done. ``runs``, ``grades`` and ``remarks`` are those of an import, ``problems`` are why its
    files were refused, ``file`` is the address of a file that was made, ``failure`` says why there
    is nothing.
    """

    id: str
    kind: str
    state: str
    steps_done: int
    steps: int
    address: str
    runs: list[str] = []
    grades: dict[str, int] = {}
    remarks: list[dict[str, Any]] = []
    file: str | None = None
    problems: list[dict[str, Any]] = []
    failure: str | None = None


class TaskCard(Struct):
    card: str
    number: int
    fields: dict[str, Any]
    verdict: str | None
    reason: str | None


class TaskAnswer(Struct):
    answer: str
    letter: str
    state: str
    before: str
    cards: list[dict[str, Any]]
    after: str
    quality: int | None
    notes: str


class Task(Struct):
    """One question as the blind page shows it: cards, then emptiness, then whole answers.

    ``stage`` is "cards", "emptiness", "answers" or "done": what is to be given next.
    """

    id: str
    question: str
    category: str
    context_dependent: bool
    earlier_turns: list[dict[str, str]]
    scale: Scale
    stage: str
    cards: list[TaskCard]
    asks_emptiness: bool
    empty_outcome: EmptyOutcome | None
    answers: list[TaskAnswer]


class NextTask(Struct):
    """The question that is next for a rater, null if nothing is left; ``left`` turns are."""

    task: Task | None
    left: int
