from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi.exporters.evaluations.score_documents import answer_row, chunk_row, json_row
from relevansi.importers.evaluations import cited_answers, expected_json
from relevansi.metrics.evaluations import answers, chunks, json_answers
from relevansi.metrics.evaluations.answers import AnswerRow, AnswerScale, AnswerScore, AnswerSummary
from relevansi.metrics.evaluations.chunks import ChunkMeans, ChunkRow
from relevansi.metrics.evaluations.json_answers import read_output
from relevansi.metrics.evaluations.similarity import likeness
from tests.metrics.evaluations import scoring_oracle as oracle
from tests.services.evaluations.scored_files import PROVENANCE

# --- Answers ---------------------------------------------------------------------------

pieces = st.sampled_from(
    [
        *("Rumah di Cemara", "Harga Rp 1.5 M", "the", "5"),
        *("I don't know", "i dont know", "Saya tidak tahu", "I don\u2019t know"),
        *("[CIT:a]", "[CIT:b]", "[CIT:d-1_x]", "[CIT:]", "[cit:a]"),
        *(".", "!", "?!", "...", "-", " ", "\n", "\u00a0"),
    ]
)
texts = st.lists(pieces, max_size=14).map("".join)


@st.composite
def answer_rows(draw: st.DrawFn) -> dict[str, Any]:
    text = draw(texts)
    claims = [piece for piece in oracle.split(text) if not oracle.does_not_know(piece)]
    cosines = st.sampled_from([-1.0, 0.0, 0.59, 0.6, 0.61, 1.0])
    ids = draw(st.lists(st.sampled_from(["a", "b", "d-1_x"]), unique=True))
    tokens = st.integers(0, 5000)
    calls = st.fixed_dictionaries({"prompt_tokens": tokens, "completion_tokens": tokens})
    return {
        "id": draw(st.integers(0, 99)),
        "answer": text,
        "gold": draw(st.none() | texts),
        "contexts": [{"id": context_id, "text": "x"} for context_id in ids],
        "usage": draw(st.lists(calls, max_size=3)),
        "latency_ms": draw(st.integers(0, 9000)),
        "claim_similarities": [draw(cosines) for _ in claims],
        **({"action": "ABSTAIN"} if draw(st.booleans()) else {}),
    }


def read_answer(row: dict[str, Any]) -> AnswerRow:
    result = next(cited_answers.read_answers("a.jsonl", io.BytesIO(json.dumps(row).encode())))
    assert isinstance(result, tuple)
    return result[1]


@given(answer_rows(), st.sampled_from([0.0, 0.6, 0.7]))
def test_an_answer_scores_as_by_the_second_implementation(
    row: dict[str, Any], tau_sim: float
) -> None:
    scored = answers.score(read_answer(row), AnswerScale(tau_sim=tau_sim))
    result = answer_row(scored).result

    assert {**result, "id": None} == pytest.approx({"id": None, **oracle.answer(row, tau_sim)})


@given(st.lists(answer_rows(), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_answers_changes_no_figure(rows: list[dict[str, Any]], random: Any) -> None:
    scores = [answers.score(read_answer(row)) for row in rows]
    shuffled = list(scores)
    random.shuffle(shuffled)

    assert figures(scores) == figures(shuffled)


def figures(scores: list[AnswerScore]) -> object:
    summary = AnswerSummary()
    for score in scores:
        summary.add(score)
    return summary.figures()


# --- Chunks ----------------------------------------------------------------------------

word_lists = st.lists(st.sampled_from(["rumah", "Rumah", "di", "Cemara", "Cemara.", "3"]))
word_texts = st.builds(lambda words, blank: blank.join(words), word_lists, st.sampled_from(" \n\t"))
chunk_rows = st.builds(
    ChunkRow,
    row_id=st.just("1"),
    question=st.just("?"),
    expected_answer=word_texts,
    retrieved_chunks=st.lists(word_texts, max_size=4).map(tuple),
)


@given(chunk_rows)
def test_chunks_score_as_by_the_second_implementation(row: ChunkRow) -> None:
    result = chunk_row(chunks.score(row)).result
    expected = oracle.chunks(row.expected_answer, list(row.retrieved_chunks))

    assert {name: result[name] for name in expected} == pytest.approx(expected, abs=1e-12)


@given(st.lists(chunk_rows, min_size=1, max_size=6))
def test_the_order_of_rows_changes_no_mean(rows: list[ChunkRow]) -> None:
    forth, back = ChunkMeans(), ChunkMeans()
    for row in rows:
        forth.add(chunks.score(row))
    for row in reversed(rows):
        back.add(chunks.score(row))

    assert forth.figures() == back.figures()


# --- JSON answers ----------------------------------------------------------------------

short_texts = st.text(alphabet="ab c\n資料集 LoRA-v2", max_size=24)
text_lists = st.lists(short_texts, max_size=14)
anchors = st.sampled_from(["", " ", "資料", "LoRA", "nirgends"])
files = st.sampled_from(["a.md", "b.md", "c.md"])
refs = st.fixed_dictionaries({"file": files, "anchors": st.lists(anchors, max_size=8)})
entries = st.fixed_dictionaries({"refs": st.lists(refs, max_size=8)})
outputs = st.fixed_dictionaries(
    {
        "target_audience": short_texts,
        "main_topic": short_texts,
        "sub_topic": short_texts,
        "detailed_description": text_lists,
        "original_evidence": st.text(alphabet="abc 資料集._-", max_size=60),
        "source_map": st.lists(entries, max_size=14),
        "predicted_questions": text_lists,
    }
)
json_items = st.builds(
    lambda expected, output, texts: {
        "id": 1,
        "question": "?",
        "expected": {"answer_example": expected},
        "output": json.dumps(output, ensure_ascii=False),
        "context": [
            {"source_path": path, "text": text}
            for path, text in zip(("a.md", "b.md"), texts, strict=False)
        ],
    },
    outputs,
    outputs,
    st.lists(short_texts, max_size=2),
)


def read_json(item: dict[str, Any]) -> json_answers.JsonQuestion:
    document = {**PROVENANCE, "items": [item]}
    return expected_json.read("a.json", json.dumps(document).encode()).questions[0]


@given(json_items)
def test_a_json_answer_scores_as_by_the_second_implementation(item: dict[str, Any]) -> None:
    score = json_answers.score(read_json(item))
    result, expected = json_row(score).result, oracle.json_answer(item)

    assert all(0 <= part <= 1 for part in score.parts.values())
    assert 0 <= score.score <= 100
    assert result["schema_ok"] is True
    assert {name: result[name] for name in expected} == pytest.approx(expected, abs=1e-9)


@given(outputs)
def test_an_output_cut_off_anywhere_is_truncated(fields: dict[str, Any]) -> None:
    text = json.dumps(fields)

    assert read_output(text).fields == fields
    for end in range(1, len(text), 7):
        assert str(read_output(text[:end]).reason) == "truncated"


@given(short_texts, short_texts)
def test_likeness_has_no_direction(first: str, second: str) -> None:
    assert likeness(first, second) == likeness(second, first)
