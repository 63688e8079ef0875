"""Claims about reading manual_input.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from webapp.i18n import speaking
from webapp.importers.agreement import manual_input
from webapp.importers.agreement.manual_input import (
    ConstraintOverride,
    ConstraintResult,
    ManualEvaluation,
    ManualInput,
    ManualResult,
    UnknownManualInput,
)
from webapp.importers.runs import json_runs, problems
from webapp.metrics.agreement.report import VerdictByHand
from webapp.records import Card, QueryState, ReadQuery, ReadRun

NAME = "hybrid/manual_input.json"


def read(document: object) -> ManualInput:
    return manual_input.read(NAME, json.dumps(document).encode())


def evaluations(**questions: dict[str, Any]) -> dict[str, Any]:
    """A file with the evaluations of questions q1, q2, ..."""
    return {"manual_evaluations": {name[1:]: cards for name, cards in questions.items()}}


def told(manual: ManualInput) -> list[str]:
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


def test_evaluations_and_overrides_are_read_in_order() -> None:
    found = read(
        {
            "timestamp": "2026-01-26",
            "summary": {"manual_evaluations_count": 2},
            "manual_evaluations": {
                "22": {"0": {"result": "fail", "comment": "ruko"}, "1": {"result": "pass"}}
            },
            "constraint_overrides": {"2": {"9": {"location": "pass", "price": "na"}}},
        }
    )

    assert found.evaluations == (
        ManualEvaluation(22, 0, ManualResult.FAIL, "ruko"),
        ManualEvaluation(22, 1, ManualResult.PASS),
    )
    assert found.overrides == (
        ConstraintOverride(2, 9, "location", ConstraintResult.PASS),
        ConstraintOverride(2, 9, "price", ConstraintResult.NA),
    )
    assert found.problems == ()


@pytest.mark.parametrize("waiting", [{"result": "pending"}, {"result": None}, {"result": ""}, {}])
def test_a_card_without_a_decision_is_pending(waiting: dict[str, Any]) -> None:
    found = read(evaluations(q1={"0": waiting}))

    assert [e.result for e in found.evaluations] == [ManualResult.PENDING]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("cards", "place"),
    [
        ({"0": {"result": "passed"}}, "manual_evaluations.3.0.result"),
        ({"0": {"result": 1}}, "manual_evaluations.3.0.result"),
        ({"0": "pass"}, "manual_evaluations.3.0"),
        ({"-1": {"result": "pass"}}, "manual_evaluations.3.-1"),
        ({"01": {"result": "pass"}}, "manual_evaluations.3.01"),
        ({"²": {"result": "pass"}}, "manual_evaluations.3.²"),
        ({"9" * 5000: {"result": "pass"}}, "manual_evaluations.3.999"),
        ([], "manual_evaluations.3"),
    ],
)
def test_a_wrong_entry_is_named_and_the_others_are_kept(cards: Any, place: str) -> None:
    found = read(evaluations(q3=cards, q4={"0": {"result": "pass"}}))

    assert found.evaluations == (ManualEvaluation(4, 0, ManualResult.PASS),)
    (message,) = told(found)
    assert place in message
    assert "The entry is left out." in message


def test_a_wrong_comment_costs_the_comment_only() -> None:
    found = read(evaluations(q3={"0": {"result": "pass", "comment": 5}}))

    assert found.evaluations == (ManualEvaluation(3, 0, ManualResult.PASS),)
    assert "manual_evaluations.3.0.comment" in told(found)[0]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ({"location": "yes"}, ["constraint_overrides.2.0.location", "“yes”", "“na”"]),
        ({"location": ["pass"]}, ["constraint_overrides.2.0.location", "a list"]),
        ({"colour": "pass"}, ["constraint_overrides.2.0.colour", "“property_type”"]),
        (None, ["constraint_overrides.2.0", "null", "an object"]),
    ],
)
def test_a_wrong_override_says_what_is_allowed(override: Any, words: list[str]) -> None:
    found = read({"constraint_overrides": {"2": {"0": override, "1": {"price": "fail"}}}})

    assert found.overrides == (ConstraintOverride(2, 1, "price", ConstraintResult.FAIL),)
    (message,) = told(found)
    assert [word for word in words if word not in message] == []


def test_reasons_come_with_their_overrides_and_a_wrong_one_costs_itself_alone() -> None:
    manual = read(
        {
            "constraint_overrides": {"1": {"0": {"price": "pass", "floors": "na"}}},
            "override_reasons": {"1": {"0": {"price": " a typing error ", "floors": 7}}},
        }
    )

    assert [(one.constraint, one.reason) for one in manual.overrides] == [
        ("price", "a typing error"),
        ("floors", ""),
    ]
    assert [problem.details["place"] for problem in manual.problems] == [
        "override_reasons.1.0.floors"
    ]


@pytest.mark.parametrize("document", [[], {"results": []}])
def test_json_without_decisions_is_refused(document: object) -> None:
    with pytest.raises(UnknownManualInput) as refused, speaking("en"):
        read(document)

    assert "manual_evaluations" in str(refused.value)


class TestPlaces:
    """Decisions are about cards of a run, and those that are not are named."""

    run = run_of(("a", "b"), (), ("a",))

    def test_unknown_questions_and_cards_are_named_once(self) -> None:
        passed = {"result": "pass"}
        found = read(
            evaluations(q1={"2": passed}, q2={"0": passed}, q9={"0": passed, "1": passed})
            | {"constraint_overrides": {"3": {"1": {"price": "na", "floors": "na"}}}}
        )

        wrong = manual_input.check_places(found, self.run)

        assert [(p.query_id, p.details["place"], p.details["expected"]) for p in wrong] == [
            (1, "manual_evaluations.1.2", "0-1"),
            (2, "manual_evaluations.2", "1, 3"),
            (9, "manual_evaluations.9", "1, 3"),
            (3, "constraint_overrides.3.1", "0"),
        ]

    def test_a_verdict_belongs_to_the_property_on_the_card(self) -> None:
        found = read(
            evaluations(
                q1={"0": {"result": "fail"}, "1": {"result": "pending"}, "7": {"result": "pass"}},
                q3={"0": {"result": "pass"}},
                q9={"0": {"result": "pass"}},
            )
        )

        assert manual_input.verdicts(found, self.run, "hybrid") == (
            VerdictByHand("hybrid", 1, "slug:a", passed=False),
            VerdictByHand("hybrid", 3, "slug:a", passed=True),
        )


@pytest.mark.real
def test_the_real_file_is_read_whole(real_run: Path) -> None:
    """68 evaluations of which 5 fail, and 3 overrides, as the file's own summary counts."""
    data = (real_run / "manual_input.json").read_bytes()
    run = json_runs.read("hybrid/results.json", (real_run / "results.json").read_bytes())
    found = manual_input.read(NAME, data)

    summary = json.loads(data)["summary"]
    assert len(found.evaluations) == summary["manual_evaluations_count"] == 68
    assert len(found.overrides) == summary["constraint_overrides_count"] == 3
    assert (found.problems, manual_input.check_places(found, run)) == ((), ())
    verdicts = manual_input.verdicts(found, run, "hybrid")
    assert (len(verdicts), sum(not verdict.passed for verdict in verdicts)) == (68, 5)
