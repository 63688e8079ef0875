"""What participants gave, as the sheets of one workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from msgspec.structs import asdict

from relevansi.exporters.frame.spreadsheets import Sheet, workbook
from relevansi.exporters.phase_3.json_summary import answer_json, participant_json, results_json
from relevansi.metrics.phase_3.user_study import (
    CLUSTERED_FIGURES,
    OwnAnswer,
    Person,
    UserStudyReport,
)
from relevansi.records import USABILITY_ITEMS

QUESTION_COLUMNS = ("participant", "question_number", "question", "category", "conversation")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "participants": (
        *("participant", "number", "stage", "consent_version", "agreed_at", "finished_at"),
        *("questions", "rated", "failed", "unreadable", "sus_score", *CLUSTERED_FIGURES),
    ),
    "answers": (
        *(*QUESTION_COLUMNS, "asked_at", "answered_at", "question_state", "answer_state"),
        *("results_count", "judged_count", "relevant_count", "unsure_count"),
        *("first_relevant_rank", "empty_outcome", "rated", "precision_at_5"),
        *("overall_precision", "reciprocal_rank", "success", "response_quality"),
        *("notes", "response"),
    ),
    "cards": (
        *(*QUESTION_COLUMNS, "rank", "title", "url", "price", "location", "relevance"),
        *("results_count", "response_quality"),
    ),
    "questionnaire": ("participant", "item", "answer"),
    "comments": ("participant", "comment", "question", "theme", "text"),
}
"""Every sheet with its columns; "answers" and "cards" have one row per answer and per card."""


def sheet(report: UserStudyReport, name: str) -> Sheet:
    """Return one of the sheets; raises ``KeyError`` for an unknown name."""
    columns = COLUMNS[name]
    rows = chain.from_iterable(ROWS[name](person) for person in report.people)
    return Sheet(name, columns, [[row.get(column) for column in columns] for row in rows])


def data_workbook(report: UserStudyReport) -> bytes:
    """Return all that participants gave as one workbook."""
    return workbook([sheet(report, each) for each in COLUMNS])


def _answer_row(person: Person, answer: OwnAnswer) -> dict[str, Any]:
    values = answer_json(answer)
    return {
        **(answer.row.summary._asdict() if answer.row else {}),
        **values,
        "participant": person.pseudonym,
        "question_number": answer.number,
        "question_state": answer.state,
        "rated": values["rated"] and int(values["rated"]),
    }


def _answers(person: Person) -> Iterator[dict[str, Any]]:
    return (_answer_row(person, answer) for answer in person.answers)


def _cards(person: Person) -> Iterator[dict[str, Any]]:
    for answer in person.answers:
        row = _answer_row(person, answer)
        row["response_quality"] = answer.row.summary.quality if answer.row else None
        for (_, _, verdict), result in zip(answer.cards, results_json(answer), strict=True):
            yield {**row, **result, "relevance": verdict.value if verdict else None}


ROWS: Mapping[str, Callable[[Person], Iterable[Mapping[str, Any]]]] = {
    "participants": lambda person: [
        {
            **participant_json(person),
            "questions": len(person.answers),
            "rated": person.n_rated,
            "failed": person.totals.n_failed,
            "unreadable": person.totals.n_unreadable,
            "sus_score": person.usability_score,
            **{name: person.figures[name].value for name in CLUSTERED_FIGURES},
        }
    ],
    "answers": _answers,
    "cards": _cards,
    "questionnaire": lambda person: (
        {"participant": person.pseudonym, "item": item, "answer": answer}
        for item, answer in zip(USABILITY_ITEMS, person.usability, strict=True)
        if answer is not None
    ),
    "comments": lambda person: (
        {
            **asdict(comment),
            "participant": person.pseudonym,
            "comment": comment.name,
            "theme": theme,
        }
        for comment in person.comments
        for theme in comment.themes or (None,)
    ),
}
