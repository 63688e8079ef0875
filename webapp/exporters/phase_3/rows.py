"""All of phase 3 as rows, participants by pseudonym: for CSV files and one workbook.

Names of columns are the same in any language; what is undefined is blank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from webapp.exporters.comparisons.json_file import moment_json
from webapp.exporters.frame.csv_cells import Cell, csv_bytes
from webapp.exporters.frame.spreadsheets import Sheet, workbook
from webapp.metrics.judging.queries import Undefined
from webapp.metrics.phase_3.user_study import FIGURES, OwnAnswer, Person, UserStudyReport
from webapp.records import USABILITY_ITEMS

QUERY_FIGURES = (
    "precision_at_5",
    "overall_precision",
    "reciprocal_rank",
    "success",
    "response_quality",
)
ASKED = ("participant", "question_number", "question", "category", "conversation")
ANSWERED = (
    *("question_state", "answer_state", "results_count", "judged_count", "relevant_count"),
    *("unsure_count", "first_relevant_rank", "empty_outcome", "rated"),
)
COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "participants": (
            *("participant", "number", "stage", "consent_version", "agreed_at", "finished_at"),
            *("questions", "rated", "failed", "unreadable", "sus_score", *FIGURES),
        ),
        "answers": (
            *ASKED,
            "asked_at",
            "answered_at",
            *ANSWERED,
            *QUERY_FIGURES,
            "notes",
            "response",
        ),
        "cards": (
            *(*ASKED, "rank", "title", "url", "price", "location", "relevance"),
            *("results_count", "response_quality"),
        ),
        "questionnaire": ("participant", "item", "answer"),
        "comments": ("participant", "comment", "question", "theme", "text"),
    }
)
"""Every sheet with its columns; "answers" and "cards" have one row per answer and per card."""


def sheet(report: UserStudyReport, name: str) -> Sheet:
    """Return one of the sheets; raises ``KeyError`` for an unknown name."""
    rows = _ROWS[name]
    return Sheet(name, COLUMNS[name], [row for person in report.people for row in rows(person)])


def csv_file(report: UserStudyReport, name: str) -> bytes:
    """Return one of the sheets as CSV; raises ``KeyError`` for an unknown name."""
    found = sheet(report, name)
    return csv_bytes([found.columns, *found.rows])


def xlsx_file(report: UserStudyReport) -> bytes:
    """Return all sheets as one workbook."""
    return workbook([sheet(report, name) for name in COLUMNS])


def _participants(person: Person) -> Iterator[list[Cell]]:
    found, score = person.figures, person.usability_score
    yield [
        person.pseudonym,
        person.number,
        str(person.stage),
        person.consent,
        moment_json(person.agreed_at),
        moment_json(person.finished_at),
        len(person.answers),
        person.n_rated,
        person.n_failed,
        person.n_unreadable,
        None if isinstance(score, Undefined) else score,
        *(found[name].value for name in FIGURES),
    ]


def _answers(person: Person) -> Iterator[list[Cell]]:
    for answer in person.answers:
        notes = answer.row.notes if answer.row else ""
        yield [
            *_asked(person, answer),
            moment_json(answer.asked_at),
            moment_json(answer.answered_at),
            answer.state,
            *_answered(answer),
            notes,
            answer.response,
        ]


def _answered(answer: OwnAnswer) -> Iterator[Cell]:
    if answer.row is None:
        yield from [None] * (len(ANSWERED) - 1 + len(QUERY_FIGURES))
        return
    found = answer.row.summary
    yield found.state.value
    yield found.results_count
    yield found.judged_count
    yield found.relevant_count
    yield found.unsure_count
    yield found.first_relevant_rank
    yield found.empty_outcome.value if found.empty_outcome else None
    yield int(answer.is_rated) if answer.asks_for_a_rating else None
    for name in QUERY_FIGURES:
        yield found.span(name).value


def _cards(person: Person) -> Iterator[list[Cell]]:
    for answer in person.answers:
        summary = answer.row.summary if answer.row else None
        for shown in answer.cards:
            card = shown.card
            yield [
                *_asked(person, answer),
                shown.rank,
                card.title,
                card.url,
                card.price,
                card.location,
                shown.verdict.value if shown.verdict else None,
                summary.results_count if summary else None,
                summary.quality if summary else None,
            ]


def _questionnaire(person: Person) -> Iterator[list[Cell]]:
    for item, answer in zip(USABILITY_ITEMS, person.usability, strict=True):
        if answer is not None:
            yield [person.pseudonym, item, answer]


def _comments(person: Person) -> Iterator[list[Cell]]:
    for comment in person.comments:
        for theme in comment.themes or (None,):
            yield [person.pseudonym, comment.name, comment.question, theme, comment.text]


_ROWS: Mapping[str, Callable[[Person], Iterator[list[Cell]]]] = MappingProxyType(
    {
        "participants": _participants,
        "answers": _answers,
        "cards": _cards,
        "questionnaire": _questionnaire,
        "comments": _comments,
    }
)


def _asked(person: Person, answer: OwnAnswer) -> Iterator[Cell]:
    yield person.pseudonym
    yield answer.number
    yield answer.question
    yield answer.category or None
    yield answer.conversation
