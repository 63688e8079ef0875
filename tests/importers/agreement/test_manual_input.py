"""Claims about reading manual_input.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relevansi.i18n import speaking
from relevansi.importers.agreement import manual_input
from relevansi.importers.agreement.manual_input import ManualInput
from relevansi.importers.runs import json_runs, problems
from relevansi.importers.runs.problems import ImportRefused
from relevansi.kinds.property import Card
from relevansi.metrics.agreement.conflicts import VerdictByHand
from relevansi.metrics.gold.constraints import CARD
from relevansi.records import QueryState, ReadQuery, ReadRun

NAME = "hybrid/manual_input.json"


def read(document: object) -> ManualInput:
    return manual_input.read(NAME, json.dumps(document).encode())


def evaluations(**questions: dict[str, Any]) -> dict[str, Any]:
    """A file with the evaluations of questions q1, q2, ..."""
    return {"manual_evaluations": {name[1:]: cards for name, cards in questions.items()}}


def codes_of(manual: ManualInput) -> list[str]:
    with speaking("en"):
        return [problems.message(problem) for problem in manual.problems]


def run_of(*titles: tuple[str, ...]) -> ReadRun:
    """A run whose questions, from number 1 on, have cards with these slugs."""
    queries = tuple(
        ReadQuery(
            query_id=number,
            question="?",
            category="",
            response="",
            state=QueryState.RESULTS if slugs else QueryState.EMPTY,
            cards=tuple(Card(title="Rumah", slug=slug) for slug in slugs),
        )
        for number, slugs in enumerate(titles, 1)
    )
    return ReadRun("v2", "hybrid/results.json", "0" * 64, queries)


def test_evaluations_overrides_and_reasons_are_read_in_order() -> None:
    result = read(
        {
            "timestamp": "2026-01-26",
            "manual_evaluations": {
                "22": {"0": {"result": "fail", "comment": "ruko"}, "1": {"result": "pass"}},
                "23": {"0": {"result": "pending"}, "1": {"result": None}, "2": {"result": ""}},
            },
            "constraint_overrides": {"2": {"9": {"location": "pass", "price": "na"}}},
            "override_reasons": {"2": {"9": {"location": " a typing error "}}},
        }
    )

    assert result.decisions == (
        (22, 0, CARD, "fail", "ruko"),
        (22, 1, CARD, "pass", ""),
        *((23, card, CARD, None, "") for card in range(3)),
        (2, 9, "location", "pass", "a typing error"),
        (2, 9, "price", "na", ""),
    )
    assert result.problems == ()


@pytest.mark.parametrize(
    ("part", "cards", "words"),
    [
        ("manual_evaluations", {"0": {"result": "passed"}}, [".3.0.result", "“passed”"]),
        ("manual_evaluations", {"0": {"result": 0}}, [".3.0.result", "“pending”"]),
        ("manual_evaluations", {"0": "pass"}, [".3.0"]),
        ("manual_evaluations", {"-1": {"result": "pass"}}, [".3.-1"]),
        ("manual_evaluations", {"01": {"result": "pass"}}, [".3.01"]),
        ("manual_evaluations", {"²": {"result": "pass"}}, [".3.²"]),
        ("manual_evaluations", {"9" * 5000: {"result": "pass"}}, [".3.999"]),
        ("manual_evaluations", [], [".3"]),
        ("constraint_overrides", {"0": {"location": "yes"}}, [".3.0.location", "“yes”", "“na”"]),
        ("constraint_overrides", {"0": {"location": ["pass"]}}, [".3.0.location", "a list"]),
        ("constraint_overrides", {"0": {"colour": "pass"}}, [".3.0.colour", "“property_type”"]),
        ("constraint_overrides", {"0": None}, [".3.0", "null", "an object"]),
        ("override_reasons", {"0": {"floors": 7}}, [".3.0.floors"]),
    ],
)
def test_a_wrong_entry_is_named_and_the_others_are_kept(
    part: str, cards: Any, words: list[str]
) -> None:
    good = {
        "manual_evaluations": {"result": "pass"},
        "constraint_overrides": {"price": "fail"},
        "override_reasons": {"price": "x"},
    }
    result = read({part: {"3": cards, "4": {"0": good[part]}}})

    extra = {"manual_evaluations": [CARD], "constraint_overrides": ["price"]}
    assert [decision[2] for decision in result.decisions] == extra.get(part, [])
    (message,) = codes_of(result)
    assert [word for word in (f"{part}{words[0]}", *words[1:]) if word not in message] == []


def test_a_wrong_comment_costs_the_comment_only() -> None:
    result = read(evaluations(q3={"0": {"result": "pass", "comment": 5}}))

    assert result.decisions == ((3, 0, CARD, "pass", ""),)
    assert "manual_evaluations.3.0.comment" in codes_of(result)[0]


@pytest.mark.parametrize("document", [[], {"results": []}])
def test_json_without_decisions_is_refused(document: object) -> None:
    with pytest.raises(ImportRefused):
        read(document)


def test_decisions_are_about_cards_of_a_run_and_those_that_are_not_are_named() -> None:
    run = run_of(("a", "b"), (), ("a",))
    passed = {"result": "pass"}
    result = read(
        evaluations(
            q1={"0": {"result": "fail"}, "1": {"result": "pending"}, "2": passed},
            q2={"0": passed},
            q3={"0": passed},
            q9={"0": passed, "1": passed},
        )
        | {"constraint_overrides": {"3": {"1": {"price": "na", "floors": "na"}}}}
    )

    wrong = manual_input.check_cards(result, {1: 2, 2: 0, 3: 1})
    assert [(p.query_id, p.details["place"], p.details["expected"]) for p in wrong] == [
        (1, "manual_evaluations.1.2", "0-1"),
        (2, "manual_evaluations.2", "1, 3"),
        (9, "manual_evaluations.9", "1, 3"),
        (3, "constraint_overrides.3.1", "0"),
    ]
    assert manual_input.verdicts(result, run) == (
        VerdictByHand(1, "slug:a", passed=False),
        VerdictByHand(3, "slug:a", passed=True),
    )


@pytest.mark.real
def test_the_real_file_is_read_whole(real_run: Path) -> None:
    """68 evaluations of which 5 fail, and 3 overrides, as the file's own summary counts."""
    data = (real_run / "manual_input.json").read_bytes()
    run = json_runs.read("hybrid/results.json", (real_run / "results.json").read_bytes())
    result = manual_input.read(NAME, data)

    summary = json.loads(data)["summary"]
    on_cards = sum(decision[2] == CARD for decision in result.decisions)
    assert on_cards == summary["manual_evaluations_count"] == 68
    assert len(result.decisions) - on_cards == summary["constraint_overrides_count"] == 3
    assert result.problems == ()
    verdicts = manual_input.verdicts(result, run)
    assert (len(verdicts), sum(not verdict.passed for verdict in verdicts)) == (68, 5)
