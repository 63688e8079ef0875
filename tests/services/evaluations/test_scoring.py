"""Files scored: the recorded evaluation of a real run, and rows that are never held."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.services.evaluations.scored_files import PROVENANCE
from tests.services.gold.json_leaves import leaves
from webapp.exporters.gold.constraint_reports import constraints_json
from webapp.i18n import speaking
from webapp.importers.evaluations import expected_json
from webapp.importers.evaluations.expected_json import JsonAnswerSet
from webapp.importers.runs import problems
from webapp.metrics.evaluations.answers import AnswerScale, AnswerScore
from webapp.metrics.evaluations.chunks import ChunkScore
from webapp.metrics.evaluations.json_answers import FIELDS, LISTS, Gate
from webapp.metrics.gold.constraints import MissingRule
from webapp.records import Problem
from webapp.services.evaluations import scoring
from webapp.services.evaluations.scoring import ConstraintScoring, NamedBytes

SCALE = AnswerScale()


def score_real(folder: Path, *, by_hand: bool) -> ConstraintScoring:
    def file(name: str) -> NamedBytes:
        return NamedBytes(name, (folder / name).read_bytes())

    manual = file("manual_input.json") if by_hand else None
    return scoring.constraint_scoring(file("questions_v2.json"), file("results.json"), manual)


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
    found = score_real(real_run, by_hand=by_hand)

    assert dict(leaves(constraints_json(found.report))) == theirs
    assert len(theirs) == 380  # 3 + 6 + 3 + 8 totals, 12 categories of 5, 30 questions of 10
    assert found.problems == ()


@pytest.mark.real
def test_the_real_run_with_missing_left_out_is_at_least_as_good(real_run: Path) -> None:
    files = [
        NamedBytes(n, (real_run / n).read_bytes()) for n in ("questions_v2.json", "results.json")
    ]
    counted = scoring.constraint_scoring(*files).report.totals
    left_out = scoring.constraint_scoring(*files, missing=MissingRule.LEFT_OUT).report.totals

    assert left_out.pca["floors"] is not None
    assert counted.pca["floors"] == Fraction(3, 4)
    assert left_out.pca["floors"] >= counted.pca["floors"]


def gold(*questions: dict[str, Any], **top: object) -> NamedBytes:
    asked = [
        {"question": "ada?", "category": "a", "expected_result": "has_data", **question}
        for question in questions
    ]
    return NamedBytes("gold.json", json.dumps({**top, "questions": asked}).encode())


def results(**cards: int) -> NamedBytes:
    entries = [
        {"query_id": int(name[1:]), "properties": [{"property_type": "rumah"}] * n}
        for name, n in cards.items()
    ]
    return NamedBytes("results.json", json.dumps({"results": entries}).encode())


@pytest.mark.parametrize(
    ("stated", "in_file", "used"),
    [(None, {}, Fraction(3, 5)), (None, {"threshold_t": 0.8}, Fraction(4, 5)),
     (Fraction(0), {"threshold_t": 0.8}, Fraction(0))],
)  # fmt: skip
def test_the_threshold_is_the_one_given_else_the_gold_file_s(
    stated: Fraction | None, in_file: dict[str, object], used: Fraction
) -> None:
    found = scoring.constraint_scoring(gold({"id": 1}, **in_file), results(q1=1), threshold=stated)

    assert found.report.threshold == used


def test_decisions_and_results_that_belong_nowhere_are_told() -> None:
    manual = {
        "manual_evaluations": {"1": {"0": {"result": "fail"}, "7": {"result": "pass"}}},
        "constraint_overrides": {"5": {"0": {"location": "pass"}}},
    }
    found = scoring.constraint_scoring(
        gold({"id": 1}), results(q1=1, q9=1), NamedBytes("manual.json", json.dumps(manual).encode())
    )

    assert found.report.totals.mean_cpr == 0
    with speaking("en"):
        told = " ".join(problems.message(problem) for problem in found.problems)
    assert "question 9: the gold file has no such question" in told
    assert "manual_evaluations.1.7 is wrong" in told
    assert "constraint_overrides.5 is wrong" in told
    assert "question 1: people decided on its cards" in told


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
    file = Endless(line, 3000)
    taken: list[int] = []

    def take(_: AnswerScore) -> None:
        taken.append(file.n_read)

    found = scoring.score_answers("a.jsonl", file, SCALE, take, pytest.fail)  # type: ignore[arg-type]

    assert taken == list(range(1, 3001))
    assert found.n_scored == 3000
    assert found.head["summary"]["p95_latency_ms"] == 5


def test_the_first_rows_are_the_first_lines_good_or_bad() -> None:
    lines = [b'{"id": 1, "answer": ""}', b"no json", b'{"id": 3, "answer": ""}', b'{"id": 4}']
    met: list[object] = []
    file = io.BytesIO(b"\n".join(lines))
    found = scoring.score_answers("a.jsonl", file, SCALE, met.append, met.append, first=3)

    assert [type(one) for one in met] == [AnswerScore, Problem, AnswerScore]
    assert (found.n_scored, found.head["left_out"]) == (2, 1)


def test_cosines_that_do_not_fit_cost_their_line() -> None:
    rows = [{"id": 1, "answer": "Ada. Ada.", "claim_similarities": [1]}, {"id": 2, "answer": ""}]
    data = "\n".join(map(json.dumps, rows)).encode()
    good: list[AnswerScore] = []
    wrong: list[Problem] = []
    scoring.score_answers("a.jsonl", io.BytesIO(data), SCALE, good.append, wrong.append)

    (problem,) = wrong
    with speaking("en"):
        assert "claim_similarities has 1 numbers" in problems.message(problem)
        assert "claim sentences: 2" in problems.message(problem)
    assert len(good) == 1


def test_chunks_are_scored_row_by_row() -> None:
    data = b'{"id": 1, "expected_answer": "a", "retrieved_chunks": ["a"]}\nx\n'
    met: list[object] = []
    found = scoring.score_chunks("c.jsonl", io.BytesIO(data), met.append, met.append)

    assert [type(one) for one in met] == [ChunkScore, Problem]
    assert (found.n_scored, found.head["left_out"]) == (1, 1)


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


def test_the_dev_set_comes_first_and_then_all() -> None:
    found = scoring.json_scoring(answered(True, False, True), gate=Gate(), subset=["q2", "q3"])

    assert found.subset is not None
    assert (found.subset.count, found.subset.n_schema_ok) == (2, 1)
    assert (found.summary.count, found.summary.n_schema_ok) == (3, 2)


@pytest.mark.parametrize(("subset", "n_scored"), [(["q2"], 1), (["q1"], 3)])
def test_a_dev_set_that_does_not_pass_ends_the_scoring(subset: list[str], n_scored: int) -> None:
    gate = Gate(min_average=Fraction(10))
    found = scoring.json_scoring(
        answered(True, False, True), gate=gate, subset=subset, stop_at_gate=True
    )

    assert (len(found.scores), found.stopped) == (n_scored, n_scored == 1)
