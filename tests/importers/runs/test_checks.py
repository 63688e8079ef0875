"""Claims of a run file about itself are checked against what it holds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.runs.run_files import SITE, entry, read, v1
from webapp.records import ReadRun, Severity


def codes(run: ReadRun) -> list[str]:
    return [problem.code for problem in run.problems]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (v1(entry(results_count=3)), "count_differs"),
        (v1(entry(response="Ada lima!", results_count=5)), "answer_unreadable"),
        (v1(entry(success=False, error="timeout")), "call_failed"),
        (v1(entry(success=False)), "call_failed_unexplained"),
        (v1(entry(category="")), "category_missing"),
        (v1(entry(response=f"1. [A]({SITE}/a)\n2. [B]({SITE}/a)")), "card_repeated"),
        (v1(entry(response="1. **A**\n2. **B**")), "card_without_slug"),
        (v1(entry(1), entry(3)), "questions_missing"),
        (v1(entry(1), successful=0), "successful_differs"),
        (v1(entry(1), total_questions=2**31 - 1), "total_differs"),
    ],
)
def test_a_claim_that_does_not_hold_is_a_warning(document: object, code: str) -> None:
    run = read(document)

    assert codes(run) == [code]
    assert run.problems[0].severity is Severity.WARNING


def test_a_count_of_0_beside_cards_is_no_warning() -> None:
    """As of a chatbot whose metadata say that it returned 0 and whose text has the cards."""
    run = read(v1(entry(results_count=0)))

    assert len(run.queries[0].cards) == 2
    assert codes(run) == []


def test_missing_questions_are_named() -> None:
    run = read(v1(entry(2), entry(4), total_questions=5))

    assert codes(run) == ["total_differs", "questions_missing"]
    assert run.problems[1].details["ids"] == "1, 3, 5"


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("hybrid/test_results.json", {}, []),
        ("api_only/test_results.json", {}, ["method_differs"]),
        ("test_results_api_only_20260126.json", {}, ["method_differs"]),
        (r"C:\data\vector_only\test_results.json", {}, ["method_differs"]),
        ("hybrid/test_results.json", {"search_method": "Hybrid (60/40)"}, []),
        ("api-only/test_results.json", {"search_method": "api_only"}, []),
        ("api_only/test_results.json", {"search_method": ...}, []),
        ("/home/hybrid/a/b/c/run.json", {"search_method": "api_only"}, []),
        ("claude/test_results.json", {"llm": "openai"}, ["llm_differs"]),
        ("gpt-4o-mini/test_results.json", {"llm": "openai"}, []),
        ("google/test_results.json", {"llm": "gemini-1.5-flash"}, []),
        ("google/test_results.json", {"llm": "llama"}, ["llm_differs"]),
        ("anthropic/test_results.json", {}, []),
    ],
)
def test_a_label_that_contradicts_name_or_folder_is_reported(
    name: str, labels: dict[str, Any], expected: list[str]
) -> None:
    document = {key: value for key, value in v1(entry(), **labels).items() if value is not ...}

    assert codes(read(document, name)) == expected
