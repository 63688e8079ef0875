"""Records of tools in which people grade results (Label Studio, Argilla): a row for each grade."""

from __future__ import annotations

from collections.abc import Iterator

from relevansi.importers.results.records import at
from relevansi.importers.results.rows import Values, as_text, guessed

_PARTS = ("data", "fields", "metadata")
"""Objects of a record that hold what is graded."""
_GRADES = ("annotations", "responses")
_RATERS = ("completed_by.email", "completed_by", "user_id")


def rows_in(value: object) -> list[Values] | None:
    """A row for each grade of a record, at least one; ``None`` for any other value."""
    if not isinstance(value, dict):
        return None
    grades = next((value[name] for name in _GRADES if name in value), None)
    parts = [value[name] for name in _PARTS if isinstance(value.get(name), dict)]
    if not parts or not isinstance(grades, list | dict):
        return None
    row: Values = {}
    for part in parts:
        row |= part
    rows = [row | grade for grade in _grades_of(grades)]
    return rows or [row]


def _grades_of(value: object) -> Iterator[Values]:
    """The grades that a record has, each with its rater, by the names of what was asked."""
    by_rater: dict[str, Values] = {}
    if isinstance(value, dict):  # the answers of all raters by question
        value = [
            {"user_id": at(answer, "user_id"), "values": {name: answer}}
            for name, answers in value.items()
            for answer in (answers if isinstance(answers, list) else ())
        ]
    for entry in value if isinstance(value, list) else ():
        if (
            not isinstance(entry, dict)
            or entry.get("was_cancelled")
            or entry.get("status") in _OPEN
        ):
            continue
        rater = next(filter(None, (as_text(at(entry, path)) for path in _RATERS)), "")
        by_rater.setdefault(rater, {}).update(_answers_of(entry))
    for rater, answers in by_rater.items():
        has_grade = "grade" in guessed(tuple(answers))
        names = {} if has_grade or len(answers) != 1 else dict.fromkeys(answers, "grade")
        yield {names.get(name, name): answer for name, answer in answers.items()} | {"rater": rater}


_OPEN = ("draft", "discarded", "pending")
_VALUES = ("choices", "rating", "number", "text")


def _answers_of(entry: Values) -> Values:
    """What one rater answered, by the names of what was asked."""
    values = entry.get("values")
    if isinstance(values, dict):
        return {name: at(answer, "value") for name, answer in values.items()}
    results = entry.get("result")
    answers: Values = {}
    for result in results if isinstance(results, list) else ():
        answer = at(result, "value")
        inner = next((at(answer, name) for name in _VALUES if at(answer, name) is not None), None)
        answers[as_text(at(result, "from_name"))] = as_text(inner)
    return answers
