"""Question files, JSON or CSV: the ordered list of questions that is put to a chatbot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webapp.importers.runs.csv_ratings import read_table
from webapp.importers.runs.json_documents import FromPerson, SaidWords, Whole, load, read_object
from webapp.importers.runs.problems import UnusableQuestions, error, warning
from webapp.records import Problem

NUMBERS = ("query_id", "id")
COLUMNS = (*NUMBERS, "question", "category", "context_dependent")
_SPREADSHEET_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


class ReadQuestion(Struct, frozen=True):
    """One question of a set; ``context_dependent`` is ``None`` where nothing says."""

    query_id: int
    text: str
    category: str = ""
    context_dependent: bool | None = None


class QuestionFile(Struct, frozen=True):
    """The questions of a file in order, and remarks on it that cost no question."""

    questions: tuple[ReadQuestion, ...]
    remarks: tuple[Problem, ...] = ()


class QuestionInFile(FromPerson):
    """One question as the file has it."""

    id: Whole
    question: SaidWords
    category: str | None = None
    context_dependent: bool | None = None


class _Row(Struct, frozen=True):
    place: str
    value: object
    line: int | None = None


def read(name: str, data: bytes) -> QuestionFile:
    """The questions in the file `name`, in order, each with its own number.

    A question set with a hole in it would make other runs incomparable, so one wrong
    question refuses the file: `UnusableQuestions` carries every problem. `UnreadableFile`
    is raised for what is neither JSON nor CSV.
    """
    rows, problems = (_csv_rows if _is_csv(data) else _json_rows)(name, data)
    questions: dict[int, ReadQuestion] = {}
    for row in rows:
        question, wrong = _question(name, row)
        problems.extend(wrong)
        if question and question.query_id in questions:
            problems.append(_repeated(name, row, question.query_id))
        elif question:
            questions[question.query_id] = question
    if problems:
        raise UnusableQuestions(*problems)
    return QuestionFile(tuple(questions.values()), tuple(_unread(name, rows)))


def context_dependent(said: bool | None, category: str) -> bool | None:
    """Whether a question depends on earlier turns: stated, else by category, else unknown."""
    if said is not None:
        return said
    return True if category.startswith("context_") else None


def looks_like(document: object) -> str:
    """The catalogue's word for JSON that is not what was expected."""
    if isinstance(document, dict):
        return "gold_file" if isinstance(document.get("questions"), list) else "other_object"
    if isinstance(document, list):
        first = document[0] if document else None
        is_question = isinstance(first, dict) and "question" in first and "response" not in first
        return "questions_of_a_set" if is_question else "list"
    return "other_value"


def _json_rows(name: str, data: bytes) -> tuple[Sequence[_Row], list[Problem]]:
    document, numbers = load(name, data, expected="question_file")
    if not isinstance(document, list):
        looks = {"found": looks_like(document), "expected": "question_file"}
        raise UnusableQuestions(error("unknown_format", name, looks))
    if not document:
        raise UnusableQuestions(error("no_queries", name))
    return [_Row(f"[{n}]", value) for n, value in enumerate(document)], list(numbers)


def _is_csv(data: bytes) -> bool:
    try:
        first_line = data.decode("utf-8-sig").lstrip().partition("\n")[0]
    except UnicodeDecodeError:
        return False
    return not first_line.startswith(("[", "{", "<")) and bool(re.search("[,;\t]", first_line))


def _csv_rows(name: str, data: bytes) -> tuple[Sequence[_Row], list[Problem]]:
    table = read_table(name, data, required=("question",))
    lacks = [] if "question" in table.columns else ["question"]
    if not set(NUMBERS) & set(table.columns):
        lacks.insert(0, "query_id")
    if lacks and table.columns:
        named = {"columns": ", ".join(lacks), "known": ", ".join(COLUMNS)}
        raise UnusableQuestions(error("question_columns_missing", name, named, line=1))
    if not (table.records or table.problems):
        raise UnusableQuestions(error("csv_without_rows", name))
    rows = [_Row("", _json_value(record.cells), record.line) for record in table.records]
    return rows, list(table.problems)


def _json_value(cells: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {name: cell for name, cell in cells.items() if cell.strip()}
    for name in NUMBERS:
        if re.fullmatch(r"\s*\d{1,10}\s*", cells.get(name, ""), re.ASCII):
            values[name] = int(cells[name])
    said = cells.get("context_dependent", "").strip().lower()
    if said in _SPREADSHEET_BOOLEANS:
        values["context_dependent"] = _SPREADSHEET_BOOLEANS[said]
    return values


def _question(name: str, row: _Row) -> tuple[ReadQuestion | None, tuple[Problem, ...]]:
    number, value = _number(row.value), row.value
    if isinstance(value, dict) and number in value:
        value = {**value, "id": value[number]}
    entry, problems = read_object(
        QuestionInFile,
        value,
        file=name,
        place=row.place,
        outcomes=dict.fromkeys(("", *QuestionInFile.model_fields), "file_refused"),
    )
    if entry is None or problems:
        return None, tuple(_placed(problem, row, number) for problem in problems)
    category = (entry.category or "").strip()
    depends = context_dependent(entry.context_dependent, category)
    return ReadQuestion(entry.id, entry.question.strip(), category, depends), ()


def _number(value: object) -> str:
    return "query_id" if isinstance(value, dict) and "query_id" in value else "id"


def _placed(problem: Problem, row: _Row, number: str) -> Problem:
    place = re.sub(r"\bid$", number, str(problem.details["place"]))
    code = problem.code if row.line is None else f"question_line_{problem.code}"
    return replace(problem, code=code, line=row.line, details={**problem.details, "place": place})


def _repeated(name: str, row: _Row, query_id: int) -> Problem:
    if row.line is not None:
        return error("question_line_repeated", name, query_id=query_id, line=row.line)
    place = {"place": f"{row.place}.{_number(row.value)}"}
    return error("question_id_repeated", name, place, query_id=query_id)


def _unread(name: str, rows: Sequence[_Row]) -> Iterator[Problem]:
    named = [key for row in rows if isinstance(row.value, dict) for key in row.value]
    unread = [key for key in dict.fromkeys(named) if key not in COLUMNS]
    if unread:
        names = {"columns": ", ".join(unread), "known": ", ".join(COLUMNS)}
        yield warning("question_columns_unread", name, names)
