"""Runs judged by hand apart from one another are read from pairs of files and compared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webapp.services.agreement.agreement import (
    HandJudgedRun,
    SameFolderTwice,
    compare,
    in_folders,
    judged_runs,
)
from webapp.services.agreement.agreement import run_names as names_of


def pair(
    name: str, *words: str, titles: str = "ab", question: str = "rumah di cemara"
) -> HandJudgedRun:
    """Return a run of one question with a verdict by hand on each of its cards."""
    entry: dict[str, Any] = {
        "query_id": 1,
        "question": question,
        "category": "location_simple",
        "response": "\n".join(
            f"{number}. **[Rumah {title}](https://x.example/properti/{title})**"
            for number, title in enumerate(titles, start=1)
        ),
        "properties": [{"name": f"Rumah {title}", "slug": title} for title in titles],
        "properties_count": len(titles),
    }
    run = {"timestamp": "t", "method": name, "threshold_t": 0.6, "results": [entry]}
    decided = {str(index): {"result": word} for index, word in enumerate(words)}
    manual = {"manual_evaluations": {"1": decided}}
    return HandJudgedRun(name, json.dumps(run).encode(), json.dumps(manual).encode())


def test_the_first_run_names_questions_and_properties() -> None:
    one = pair("one", "pass", "pass", question="Rumah?")
    found = compare(judged_runs([one, pair("other", "fail", "pass", question="RUMAH?")]))

    assert found.report.pairs_judged_more_than_once == 2
    assert found.report.contradictions == {(1, "slug:a"): {"one": True, "other": False}}
    assert found.questions == {1: (1, "Rumah?")}
    assert found.titles == {"slug:a": "Rumah a", "slug:b": "Rumah b"}
    assert found.problems == ()


def test_runs_of_one_name_stay_two_runs() -> None:
    found = judged_runs([pair("a", "pass"), pair("a", "fail"), pair("a (2)", "fail")])

    assert [run.name for run in found] == ["a", "a (2)", "a (2) (2)"]


def test_what_is_wrong_with_a_file_is_kept_beside_its_verdicts() -> None:
    (found,) = judged_runs([pair("a", "pass", "pass", "fail")])  # there are two cards

    assert len(found.verdicts) == 2
    assert [problem.file for problem in found.problems] == ["a/manual_input.json"]


def test_a_folder_with_one_of_the_two_files_is_named() -> None:
    files = {
        "study/hybrid/results.json": b"1",
        "study/hybrid/manual_input.json": b"2",
        "study/hybrid/notes.json": b"3",
        "study/api_only/results.json": b"4",
    }

    assert in_folders(files) == ([HandJudgedRun("hybrid", b"1", b"2")], ["api_only"])
    assert len(in_folders({"results.json": b"1", "manual_input.json": b"2"})[0]) == 1


def test_folders_are_named_as_shortly_as_tells_them_apart() -> None:
    assert names_of([("a", "x", "h"), ("b", "x", "h"), ("h",)]) == ["a/x/h", "b/x/h", "h"]
    with pytest.raises(SameFolderTwice):
        names_of([("a",), ("a",)])
