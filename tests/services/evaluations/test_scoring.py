from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from relevansi.exporters.evaluations.score_documents import ScoredRow
from relevansi.exporters.gold.constraint_reports import constraints_json
from relevansi.importers.evaluations import expected_json
from relevansi.importers.evaluations.expected_json import JsonAnswerSet
from relevansi.metrics.evaluations.json_answers import FIELDS, LISTS, Gate
from relevansi.metrics.gold.constraints import MissingRule
from relevansi.records import Problem
from relevansi.services.evaluations import scoring
from relevansi.services.evaluations.evaluations import EvaluationKind
from relevansi.services.evaluations.scoring import NamedBytes, ScoringSettings
from tests.services.evaluations.scored_files import PROVENANCE, lines
from tests.services.gold.gold_files import leaves

OF_ANSWERS = ScoringSettings(EvaluationKind.ANSWERS)


@pytest.mark.real
@pytest.mark.parametrize(
    ("recorded", "by_hand"),
    [("recorded_metrics_before_manual_input.json", False), ("recorded_final_metrics.json", True)],
)
def test_every_recorded_figure_of_the_real_run_comes_out_to_4_decimals(
    real_run: Path, recorded: str, by_hand: bool
) -> None:
    """The recorded files nest the totals under ``metrics``; ours is one flat object."""
    file: dict[str, Any] = json.loads((real_run / recorded).read_text("utf-8"))
    theirs = dict(leaves({**file["metrics"], "evaluations": file["evaluations"]}))
    names = ["questions_v2.json", "results.json", *(["manual_input.json"] if by_hand else [])]
    files = [NamedBytes(name, (real_run / name).read_bytes()) for name in names]
    report, problems = scoring.constraint_scoring(*files)

    assert dict(leaves(constraints_json(report))) == theirs
    assert len(theirs) == 380  # 3 + 6 + 3 + 8 totals, 12 categories of 5, 30 questions of 10
    assert problems == ()


def gold(*questions: dict[str, Any], **top: object) -> NamedBytes:
    entries = [
        {"question": "ada?", "category": "a", "expected_result": "has_data", **question}
        for question in questions
    ]
    return NamedBytes("gold.json", json.dumps({**top, "questions": entries}).encode())


def results(**cards: int) -> NamedBytes:
    entries = [
        {"query_id": int(name[1:]), "properties": [{"property_type": "rumah"}] * n}
        for name, n in cards.items()
    ]
    return NamedBytes("results.json", json.dumps({"results": entries}).encode())


@pytest.mark.parametrize(
    ("option", "in_file", "used"),
    [(None, {}, Fraction(3, 5)), (None, {"threshold_t": 0.8}, Fraction(4, 5)),
     (Fraction(0), {"threshold_t": 0.8}, Fraction(0))],
)  # fmt: skip
def test_the_threshold_is_the_one_given_else_the_gold_file_s(
    option: Fraction | None, in_file: dict[str, object], used: Fraction
) -> None:
    report, _ = scoring.constraint_scoring(
        gold({"id": 1}, **in_file), results(q1=1), threshold=option
    )

    assert report.threshold == used


def test_decisions_and_results_that_belong_nowhere_are_told() -> None:
    manual = {
        "manual_evaluations": {"1": {"0": {"result": "fail"}, "7": {"result": "pass"}}},
        "constraint_overrides": {"5": {"0": {"location": "pass"}}},
    }
    report, problems = scoring.constraint_scoring(
        gold({"id": 1}), results(q1=1, q9=1), NamedBytes("manual.json", json.dumps(manual).encode())
    )

    assert report.totals.mean_cpr == 0
    assert [
        (problem.code, problem.query_id, problem.details.get("place")) for problem in problems
    ] == [
        ("result_without_question", 9, None),
        ("value_wrong", 1, "manual_evaluations.1.7"),
        ("value_wrong", 5, "constraint_overrides.5"),
        ("decision_on_automatic", 1, None),
    ]


class Endless(io.RawIOBase):
    """A file that makes its lines as they are read, and counts them."""

    def __init__(self, line: bytes, n: int) -> None:
        self.line, self.left, self.n_read = line, n, 0

    def readline(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002
        if not self.left:
            return b""
        self.left, self.n_read = self.left - 1, self.n_read + 1
        return self.line


def test_no_answer_is_held_while_the_next_one_is_scored() -> None:
    """One line is read for each score that is taken; the summary keeps numbers alone."""
    line = json.dumps({"id": 1, "answer": "Tidak tahu.", "latency_ms": 5}).encode() + b"\n"
    file: Any = Endless(line, 3000)
    positions: list[int] = []

    head, _ = scoring.score_rows(
        OF_ANSWERS,
        "a.jsonl",
        file,
        lambda _: positions.append(file.n_read),
        pytest.fail,  # type: ignore[arg-type]
    )

    assert positions == list(range(1, 3001))
    assert head["summary"]["p95_latency_ms"] == 5


def test_the_first_rows_are_the_first_lines_good_or_bad() -> None:
    """A line with two problems is one; cosines that do not fit its claims cost their line."""
    data = b"\n".join(
        [
            b'{"id": 1, "answer": ""}',
            b'{"id": {}, "answer": 1}',
            b'{"id": 3, "answer": ""}',
            b'{"id": 4, "answer": "Ada. Ada.", "claim_similarities": [1]}',
            b'{"id": 5}',
        ]
    )
    met: list[object] = []
    settings = ScoringSettings(EvaluationKind.ANSWERS, first=4)
    head, _ = scoring.score_rows(settings, "a.jsonl", io.BytesIO(data), met.append, met.append)

    assert [type(each) for each in met] == [ScoredRow, Problem, Problem, ScoredRow, Problem]
    last = met[-1]
    assert isinstance(last, Problem)
    assert (last.code, last.details) == ("line_similarities_count", {"found": 1, "expected": 2})
    assert (head["summary"]["count"], head["left_out"]) == (2, 2)


def test_chunks_of_several_strategies_have_means_of_their_own() -> None:
    rows = [
        {"id": 1, "expected_answer": "a b", "retrieved_chunks": [chunk], "strategy": strategy}
        for strategy, chunk in (("kecil", "a"), ("besar", "a b"), ("besar", "c"), (None, "a b"))
    ]
    settings, met = ScoringSettings(EvaluationKind.CHUNKS), list[object]()
    file = io.BytesIO(lines(*rows) + b"x")
    head, _ = scoring.score_rows(settings, "c.jsonl", file, met.append, met.append)

    assert [type(each) for each in met] == [*[ScoredRow] * 4, Problem]
    assert head["summary"]["recall"] == 0.625  # 1/2, 1, 0, 1
    recalls = {name: part["recall"] for name, part in head["strategies"].items()}
    assert recalls == {"kecil": 0.5, "besar": 0.5, "": 1.0}


def answered(*good: bool) -> JsonAnswerSet:
    """A set whose answers q1, q2, ... are what was expected, or nothing."""
    example = {name: ["a"] if name in LISTS else "a" for name in FIELDS}
    items = [
        {"id": f"q{n}", "expected": {"answer_example": example}, "output": json.dumps(example)}
        if is_good
        else {"id": f"q{n}", "expected": {"answer_example": example}, "output": ""}
        for n, is_good in enumerate(good, 1)
    ]
    document = {**PROVENANCE, "items": items}
    return expected_json.read("a.json", json.dumps(document).encode())


@pytest.mark.parametrize(
    ("subset", "stops", "counts", "stopped"),
    [
        (["q2", "q3"], False, (2, 3), False),
        (["q2"], True, (1, 1), True),
        (["q1"], True, (1, 3), False),
    ],
)
def test_the_dev_set_comes_first_and_may_end_the_scoring(
    subset: list[str], stops: bool, counts: tuple[int, int], stopped: bool
) -> None:
    settings = ScoringSettings(
        EvaluationKind.JSON,
        gate=Gate(min_average=Fraction(10)),
        subset=NamedBytes("dev.json", json.dumps(subset).encode()),
        stop_at_gate=stops,
    )
    rows: list[ScoredRow] = []
    head, _ = scoring.score_json(
        settings,
        answered(True, False, True),
        rows.append,
        pytest.fail,  # type: ignore[arg-type]
    )

    assert (head["subset"]["count"], head["summary"]["count"]) == counts
    assert (len(rows), head["stopped"]) == (counts[1], stopped)


def test_a_question_of_which_no_card_has_a_pass_rate_has_no_mean_and_one_without_cards_0() -> None:
    """With MISSING left out, a card without any of the facts that are asked is in no mean."""
    rule = {"bedrooms": {"min": 3}}
    question = {"question": "ada?", "category": "x", "expected_result": "has_data"}
    gold = {"questions": [{"id": n, "constraints": rule, **question} for n in (1, 2)]}
    results = {"results": [{"query_id": 1, "properties": [{"name": "rumah"}]}]}
    files = [NamedBytes("x.json", json.dumps(document).encode()) for document in (gold, results)]

    report, _ = scoring.constraint_scoring(*files, missing=MissingRule.LEFT_OUT)

    evaluations: Any = constraints_json(report)["evaluations"]
    assert [evaluation["mean_cpr"] for evaluation in evaluations] == [None, 0]
