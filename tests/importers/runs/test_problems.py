"""Every problem is told in both languages, with its file, its place and a remedy."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import asdict

from webapp.i18n import LANGUAGES, gettext, speaking
from webapp.importers.runs.problems import (
    MESSAGES,
    WORDS,
    ImportRefused,
    error,
    message,
    remarks,
    to_dict,
    warning,
)
from webapp.records import Problem, Severity

_PLACE = re.compile(r"%\((\w+)\)s")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", MESSAGES)
def test_every_message_can_be_filled_in_every_language(code: str, language: str) -> None:
    names = set(_PLACE.findall(MESSAGES[code])) - {"file", "line", "query"}
    problem = error(code, "run.json", dict.fromkeys(names, "x"), query_id=7, line=3)

    with speaking(language):
        told = message(problem)

    assert "%(" not in told
    assert ("run.json" in told) == ("%(file)s" in MESSAGES[code])


@pytest.mark.parametrize("text", [*MESSAGES.values(), *WORDS.values()])
def test_every_message_and_word_is_translated(text: str) -> None:
    names = dict.fromkeys(_PLACE.findall(text), "x")

    with speaking("id"):
        assert gettext(text, **names) != (text % names if names else text)


def test_equal_remarks_are_one_line_with_a_count_and_the_first_places() -> None:
    """28 counts that differ, of questions 1 to 28; the two others are of their own kind."""
    counts = [
        warning("count_differs", "run.json", {"claimed": n, "count": 10}, query_id=n)
        for n in range(1, 29)
    ]
    failed = [
        warning("call_failed", "run.json", {"error": why}, query_id=29) for why in ("late", "busy")
    ]
    wrong = {"found": "text", "expected": "number", "outcome": "value_ignored"}
    values = [
        error("value_wrong", "run.json", {**wrong, "place": f"results[{n}].url"}) for n in (3, 5)
    ]

    with speaking("en"):
        first, late, busy, value = remarks([*counts, *failed, *values])

    assert first.severity is Severity.WARNING
    assert first.text.startswith("run.json, question 1: results claimed by the file: 1,")
    assert first.text.endswith(
        "(and 27 more like this: question 2, question 3, question 4, question 5, question 6, …)"
    )
    assert ("late" in late.text, "busy" in busy.text) == (True, True)
    assert value.severity is Severity.ERROR
    assert value.text.endswith("(and 1 more like this: results[5].url)")


def test_a_word_inside_a_message_is_translated_with_it() -> None:
    wrong = {"place": "results[3].query_id", "found": "text", "expected": "number_in_range"}
    problem = error("value_wrong", "run.json", wrong | {"outcome": "entry_left_out"})

    with speaking("en"):
        assert message(problem) == (
            "run.json: results[3].query_id is wrong; found: a text; expected: a whole number "
            "from 0 to 2147483647. The entry is left out. Correct it and import the file again."
        )


def test_text_of_the_file_is_told_as_it_is() -> None:
    """A percent sign and a word of the catalogue in the file's own text change nothing."""
    problem = warning("call_failed", "a%s.json", {"error": "100% list %(x)s"}, query_id=4)

    with speaking("en"):
        told = message(problem)

    assert told.startswith("a%s.json, question 4: ")
    assert "(100% list %(x)s)" in told


def test_a_problem_is_printed_as_json() -> None:
    problem = error("json_broken", "run.json", {"column": 9}, line=3)

    with speaking("en"):
        printed = json.loads(json.dumps(to_dict(problem)))

    assert printed == {
        "severity": "error",
        "file": "run.json",
        "query_id": None,
        "line": 3,
        "code": "json_broken",
        "message": "run.json is not complete JSON: reading stops in line 3, column 9. The file "
        "was probably cut off or edited by hand; export or copy it again.",
    }


def test_a_stored_problem_is_told_again_the_same() -> None:
    problem = warning("count_differs", "run.json", {"claimed": 4, "count": 3}, query_id=2)
    stored = json.loads(json.dumps(asdict(problem)))

    assert Problem(**stored | {"severity": Severity(stored["severity"])}) == problem


def test_a_refusal_speaks_the_language_in_force() -> None:
    refusal = ImportRefused(error("no_queries", "run.json"))

    with speaking("en"):
        assert str(refusal).startswith("run.json holds no question")
