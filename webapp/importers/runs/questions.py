"""Question files: the ordered list of questions that is put to a chatbot."""

from __future__ import annotations

from dataclasses import dataclass

from webapp.importers.runs.json_documents import load
from webapp.importers.runs.json_values import FromPerson, SaidWords, Whole, read_object
from webapp.importers.runs.problems import UnusableQuestions, error
from webapp.records import Problem


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """One question of a set; ``context_dependent`` is ``None`` where nothing says."""

    query_id: int
    text: str
    category: str = ""
    context_dependent: bool | None = None


class QuestionInFile(FromPerson):
    """One question as the file has it."""

    id: Whole
    question: SaidWords
    category: str | None = None
    context_dependent: bool | None = None


def read(name: str, data: bytes) -> tuple[ReadQuestion, ...]:
    """The questions in the file `name`, in order, each with its own number.

    A question set with a hole in it would make other runs incomparable, so one wrong
    question refuses the file: `UnusableQuestions` carries every problem. `UnreadableFile`
    is raised for what is not JSON.
    """
    document, numbers = load(name, data, expected="question_file")
    if not isinstance(document, list):
        looks = {"found": looks_like(document), "expected": "question_file"}
        raise UnusableQuestions(error("unknown_format", name, looks))
    if not document:
        raise UnusableQuestions(error("no_queries", name))
    problems = list(numbers)
    questions: dict[int, ReadQuestion] = {}
    for position, raw in enumerate(document):
        question, wrong = _question(name, f"[{position}]", raw)
        problems.extend(wrong)
        if question and question.query_id in questions:
            problems.append(_repeated(name, position, question.query_id))
        elif question:
            questions[question.query_id] = question
    if problems:
        raise UnusableQuestions(*problems)
    return tuple(questions.values())


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


def _question(
    name: str, place: str, raw: object
) -> tuple[ReadQuestion | None, tuple[Problem, ...]]:
    entry, problems = read_object(
        QuestionInFile,
        raw,
        file=name,
        place=place,
        outcomes=dict.fromkeys(("", *QuestionInFile.model_fields), "file_refused"),
    )
    if entry is None:
        return None, problems
    category = (entry.category or "").strip()
    depends = context_dependent(entry.context_dependent, category)
    return ReadQuestion(entry.id, entry.question.strip(), category, depends), problems


def _repeated(name: str, position: int, query_id: int) -> Problem:
    return error("question_id_repeated", name, {"place": f"[{position}].id"}, query_id=query_id)
