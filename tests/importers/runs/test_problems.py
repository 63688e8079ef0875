"""Every problem is told in both languages, with its file, its place and a remedy."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest
from msgspec.structs import asdict

from relevansi.i18n import LANGUAGES, speaking
from relevansi.importers.runs.problems import (
    Edge,
    ImportRefused,
    catalogue,
    error,
    message,
    remarks,
    to_dict,
    warning,
)
from relevansi.records import Problem, Severity

MESSAGES = catalogue()["messages"]
_PLACE = re.compile(r"%\((\w+)\)s")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_can_be_filled_in_every_language(language: str) -> None:
    for code, text in MESSAGES.items():
        names = set(_PLACE.findall(text)) - {"file", "line", "query"}
        problem = error(code, "run.json", dict.fromkeys(names, "x"), query_id=7, line=3)

        with speaking(language):
            sentence = message(problem)

        assert "%(" not in sentence, code
        assert ("run.json" in sentence) == ("%(file)s" in text), code


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


def test_a_word_inside_a_message_is_translated_and_text_of_the_file_told_as_it_is() -> None:
    wrong = {"place": "results[3].query_id", "found": "text", "expected": "number_in_range"}
    value = error("value_wrong", "run.json", wrong | {"outcome": "entry_left_out"})
    call = warning("call_failed", "a%s.json", {"error": "100% list %(x)s"}, query_id=4)

    with speaking("en"):
        assert message(value) == (
            "run.json: results[3].query_id is wrong; found: a text; expected: a whole number "
            "from 0 to 2147483647. The entry is left out. Correct it and import the file again."
        )
        assert message(call).startswith("a%s.json, question 4: ")
        assert "(100% list %(x)s)" in message(call)


def test_a_problem_is_printed_as_json_and_told_again_as_it_was_stored() -> None:
    problem = error("json_broken", "run.json", {"column": 9}, line=3)
    stored = json.loads(json.dumps(asdict(problem)))

    with speaking("en"):
        printed = to_dict(problem)
        assert str(ImportRefused(problem)) == printed.pop("message")
    place = {"severity": "error", "file": "run.json", "query_id": None, "line": 3}
    assert printed == place | {"code": "json_broken"}
    assert Problem.stored(stored) == problem


SHOWN_BESIDE = {"results_json_unknown"}
"""Those that are shorter on the page, which shows the smallest file that works by itself."""
OF_PACKS = {"pack_not_zip", "pack_without_manifest"}
"""Those of proof packs, which no page and no program reads: only the command line verifies them."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_the_command_line_is_told_of_its_options(language: str) -> None:
    option = re.compile(r"[ (]--[a-z]")
    for code in MESSAGES.keys() - OF_PACKS:
        names = set(_PLACE.findall(MESSAGES[code])) - {"file", "line", "query"}
        problem = error(code, "run.json", dict.fromkeys(names, "x=y"), line=3)

        with speaking(language):
            command, page, program = (message(problem, edge) for edge in get_args(Edge))

        has_option = bool(option.search(command))
        of_page = code in catalogue()["page"] and code not in SHOWN_BESIDE
        assert has_option == of_page == (code in catalogue()["program"])
        assert not option.search(page + program)
        assert "%(" not in page + program


def test_a_mapping_is_written_as_the_command_or_a_program_takes_it() -> None:
    problem = error(
        "results_json_guessed", "r.json", {"map": "query=the text,items=a", "keys": "x"}
    )

    assert "--map 'query=the text,items=a' (" in message(problem)
    assert 'map={"query":"the text","items":"a"} (' in message(problem, "program")
