"""Phase 3 as a file: every format of its summary, and all that was given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from webapp.exporters.comparisons.files import XLSX, formats
from webapp.exporters.comparisons.json_file import interval_json, moment_json
from webapp.exporters.exports.json_runs import VERDICTS, whole
from webapp.exporters.frame.csv_cells import Cell, csv_bytes, rounded
from webapp.exporters.frame.spreadsheets import Sheet, workbook
from webapp.exporters.phase_3.summary import document
from webapp.metrics.judging.queries import Undefined
from webapp.metrics.phase_3.user_study import (
    FIGURES,
    ClusteredMean,
    OwnAnswer,
    Person,
    UserStudyReport,
)
from webapp.notation import file_day
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


def user_study_bytes(report: UserStudyReport) -> bytes:
    """Return ``user_study_json`` as a file, to four decimals."""
    document = rounded(user_study_json(report))
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def user_study_json(report: UserStudyReport) -> dict[str, Any]:
    """Return `report` as plain values.

    ``{study, phase, search_method, llm, version, settings, cannot_tell, judged_until, suggested,
    counts,
    figures: {name: {value, interval, participants, questions}}, usability, categories: [...],
    participants: [{participant, stage, consent_version, ..., figures, usability, comments,
    questions: [{..., results: [...]}]}]}``.
    """
    return {
        "study": report.study,
        "phase": 3,
        "search_method": report.search_method or None,
        "llm": report.llm or None,
        "version": report.version,
        "settings": {
            "resamples": report.settings.resamples,
            "seed": report.settings.seed,
            "confidence": report.settings.confidence,
            "interval": "percentile bootstrap over participants",
            "usability_interval": "Student's t over participants, cut at 0 and 100",
        },
        "cannot_tell": report.cannot_tell,
        "judged_until": moment_json(report.judged_until),
        "suggested": [moment_json(when) for when in report.suggested],
        "counts": {
            "participants": len(report.taking_part),
            "questions": report.n_questions,
            "failed": report.n_failed,
            "unreadable": report.n_unreadable,
            "declined": report.declined,
            "withdrawn": report.withdrawn,
        },
        "figures": _figures(report.figures),
        "usability": {
            "n": report.usability.n,
            "mean": report.usability.mean,
            "interval": interval_json(report.usability.interval),
            "adjective": report.usability.adjective,
            "grade": report.usability.grade,
        },
        "categories": [
            {
                "category": line.category or None,
                "questions": line.n_questions,
                "participants": line.n_people,
                "figures": _figures(line.figures),
            }
            for line in report.categories
        ],
        "participants": [_person(person) for person in report.people],
    }


def _person(person: Person) -> dict[str, Any]:
    score = person.usability_score
    return {
        "participant": person.pseudonym,
        "number": person.number,
        "stage": str(person.stage),
        "consent_version": person.consent,
        "agreed_at": moment_json(person.agreed_at),
        "finished_at": moment_json(person.finished_at),
        "figures": {
            name: {"value": found.value, "n": found.n} for name, found in person.figures.items()
        },
        "usability": {
            "answers": list(person.usability),
            "score": None if isinstance(score, Undefined) else score,
        },
        "comments": [
            {"comment": said.name, "text": said.text, "themes": list(said.themes)}
            for said in person.comments
        ],
        "questions": [_answer(answer) for answer in person.answers],
    }


def _answer(answer: OwnAnswer) -> dict[str, Any]:
    found = answer.row.summary if answer.row else None
    return {
        "number": answer.number,
        "question": answer.question,
        "category": answer.category or None,
        "conversation": answer.conversation,
        "state": answer.state,
        "asked_at": moment_json(answer.asked_at),
        "answered_at": moment_json(answer.answered_at),
        "response": answer.response,
        "answer_state": found.state.value if found else None,
        "empty_outcome": found.empty_outcome.value if found and found.empty_outcome else None,
        "rated": answer.is_rated if answer.asks_for_a_rating else None,
        "precision_at_5": found.precision_at_5.value if found else None,
        "overall_precision": found.overall_precision.value if found else None,
        "reciprocal_rank": found.reciprocal_rank.value if found else None,
        "success": whole(found.success.value) if found else None,
        "response_quality": whole(found.response_quality.value) if found else None,
        "notes": answer.row.notes if answer.row else "",
        "results": [
            {
                "rank": shown.rank,
                "title": shown.card.title,
                "url": shown.card.url,
                "price": shown.card.price,
                "location": shown.card.location,
                "relevance": VERDICTS[shown.verdict],
            }
            for shown in answer.cards
        ],
    }


def _figures(found: Mapping[str, ClusteredMean]) -> dict[str, Any]:
    return {name: _estimate(mean) for name, mean in found.items()}


def _estimate(found: ClusteredMean) -> dict[str, Any]:
    return {
        "value": found.value,
        "interval": interval_json(found.interval),
        "participants": found.clusters,
        "questions": found.n,
    }


CSV = "text/csv; charset=utf-8"


class Data(Struct, frozen=True):
    """One file of all that was given: how it is made and its media type."""

    render: Callable[[UserStudyReport], bytes]
    media_type: str


FORMATS = formats(document, user_study_bytes)
"""Every format of the summary by the name that the command line and the page give it."""


def _csv(name: str) -> Data:
    return Data(lambda report: csv_file(report, name), CSV)


DATA: Mapping[str, Data] = MappingProxyType(
    {
        **{f"{name}.csv": _csv(name) for name in COLUMNS},
        "phase3.xlsx": Data(xlsx_file, XLSX),
        "phase3.json": Data(user_study_bytes, "application/json"),
    }
)
"""Every file of the participants' data, by its name."""


def file_name(file_format: str, on: date) -> str:
    """Return the name of a summary's file; raises ``KeyError`` for an unknown format."""
    return f"phase3_summary_{file_day(on)}.{FORMATS[file_format].extension}"
