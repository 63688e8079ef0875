"""Question files, JSON or CSV: the ordered list of questions that is put to a chatbot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from relevansi.importers.runs.csv_ratings import read_table
from relevansi.importers.runs.json_documents import (
    FromPerson,
    Reading,
    SaidWords,
    Whole,
    read_object,
)
from relevansi.importers.runs.problems import UnusableQuestions, error, warning
from relevansi.records import Problem

NUMBERS = ("query_id", "id")
COLUMNS = (*NUMBERS, "question", "category", "context_dependent")
_SPREADSHEET_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


class ReadQuestion(Struct, frozen=True):
    """One question of a set; ``context_dependent`` is ``None`` where nothing says."""

    query_id: int
    text: str
    category: str = ""
    context_dependent: bool | None = None


class QuestionInFile(FromPerson, frozen=True):
    """One question as the file has it."""

    id: Whole
    question: SaidWords
    category: str | None = None
    context_dependent: bool | None = None


class _Row(NamedTuple):
    """The JSON value of one question, and its place: a position, or a line of a CSV."""

    place: str
    value: object
    line: int | None = None

    @property
    def number_key(self) -> str:
        return "query_id" if isinstance(self.value, dict) and "query_id" in self.value else "id"


def read(name: str, data: bytes) -> tuple[tuple[ReadQuestion, ...], tuple[Problem, ...]]:
    """The questions in the file `name` and remarks; one wrong question refuses the whole set."""
    reading = Reading(name)
    rows = (_csv_rows if _is_csv(data) else _json_rows)(reading, data)
    questions: dict[int, ReadQuestion] = {}
    for row in rows:
        question = _question(reading, row)
        if question and question.query_id in questions:
            place = {"place": f"{row.place}.{row.number_key}".strip(".")}
            number = question.query_id
            reading.error("question_id_repeated", place, query_id=number, line=row.line)
        elif question:
            questions[question.query_id] = question
    if reading.problems:
        raise UnusableQuestions(*reading.problems)
    keys = [key for row in rows if isinstance(row.value, dict) for key in row.value]
    unread = [key for key in dict.fromkeys(keys) if key not in COLUMNS]
    names = {"columns": ", ".join(unread), "known": ", ".join(COLUMNS)}
    remarks = (warning("question_columns_unread", name, names),) if unread else ()
    return tuple(questions.values()), remarks


def context_dependent(stated_value: bool | None, category: str) -> bool | None:
    """Whether a question depends on earlier turns: stated, else by category, else unknown."""
    if stated_value is not None:
        return stated_value
    return True if category.startswith("context_") else None


def unknown_format(name: str, document: object, expected: str) -> Problem:
    """The problem that the JSON file `name` is of another kind than the `expected` one."""
    looks_like = "other_value"
    if isinstance(document, dict):
        looks_like = "gold_file" if isinstance(document.get("questions"), list) else "other_object"
    elif isinstance(document, list):
        first = document[0] if document else None
        is_question = isinstance(first, dict) and "question" in first and "response" not in first
        looks_like = "questions_of_a_set" if is_question else "list"
    return error("unknown_format", name, {"found": looks_like, "expected": expected})


def _json_rows(reading: Reading, data: bytes) -> list[_Row]:
    document = reading.document(data, "question_file")
    if not isinstance(document, list):
        raise UnusableQuestions(unknown_format(reading.name, document, "question_file"))
    if not document:
        raise UnusableQuestions(error("no_queries", reading.name))
    return [_Row(f"[{n}]", value) for n, value in enumerate(document)]


def _is_csv(data: bytes) -> bool:
    try:
        first_line = data.decode("utf-8-sig").lstrip().partition("\n")[0]
    except UnicodeDecodeError:
        return False
    return not first_line.startswith(("[", "{", "<")) and bool(re.search("[,;\t]", first_line))


def _csv_rows(reading: Reading, data: bytes) -> list[_Row]:
    columns, records = read_table(reading, data, required=("question",))
    lacks = [] if set(NUMBERS) & set(columns) else [NUMBERS[0]]
    lacks += [] if "question" in columns else ["question"]
    if columns and lacks:
        names = {"columns": ", ".join(lacks)}
        raise UnusableQuestions(error("csv_columns_missing", reading.name, names, line=1))
    if not (records or reading.problems):
        raise UnusableQuestions(error("no_queries", reading.name))
    return [_Row("", _json_value(record.cells), record.line) for record in records]


def _json_value(cells: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {name: cell for name, cell in cells.items() if cell.strip()}
    for name in NUMBERS:
        if re.fullmatch(r"\s*\d{1,10}\s*", cells.get(name, ""), re.ASCII):
            values[name] = int(cells[name])
    depends = cells.get("context_dependent", "").strip().lower()
    if depends in _SPREADSHEET_BOOLEANS:
        values["context_dependent"] = _SPREADSHEET_BOOLEANS[depends]
    return values


def _question(reading: Reading, row: _Row) -> ReadQuestion | None:
    value = row.value
    if isinstance(value, dict) and row.number_key in value:
        value = {**value, "id": value[row.number_key]}
    entry, wrong = read_object(
        QuestionInFile, value, file=reading.name, place=row.place, outcomes="file_refused"
    )
    for problem in wrong:
        place = re.sub(r"\bid$", row.number_key, str(problem.details["place"]))
        details = {**problem.details, "place": place}
        reading.problems.append(replace(problem, line=row.line, details=details))
    if entry is None:
        return None
    category = (entry.category or "").strip()
    depends = context_dependent(entry.context_dependent, category)
    return ReadQuestion(entry.id, entry.question.strip(), category, depends)
