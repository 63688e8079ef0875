from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from relevansi.exporters.evaluations.score_documents import COLUMNS, json_row, json_summary
from relevansi.metrics.evaluations import json_answers
from relevansi.metrics.evaluations.json_answers import (
    WEIGHTS,
    Context,
    Gate,
    JsonQuestion,
    JsonScore,
    JsonSummary,
    TooFewQuestions,
    evidence_of,
    keywords,
    read_output,
    score,
)
from relevansi.metrics.evaluations.similarity import cover, likeness

EXAMPLE: dict[str, Any] = {
    "target_audience": "home buyers",
    "main_topic": "price",
    "sub_topic": "mortgage",
    "detailed_description": ["low interest rate", "long tenor"],
    "original_evidence": "alpha bravo charlie delta echo foxtrot golf hotel india juliet",
    "source_map": [{"refs": [{"file": "a.md", "anchors": ["alpha bravo"]}]}],
    "predicted_questions": ["how long is the tenor"],
}
CONTEXTS = (Context("a.md", "alpha bravo charlie"), Context("b.md", "delta"))


def question(output: object = None, **changed: object) -> JsonQuestion:
    fields = {**EXAMPLE, **changed}
    text = output if isinstance(output, str) or output is None else json.dumps(output)
    return JsonQuestion("1", "?", EXAMPLE, text or json.dumps(fields), CONTEXTS)


def test_the_expected_answer_itself_scores_100() -> None:
    assert sum(WEIGHTS.values()) == 1
    assert score(question()).score == 100


@pytest.mark.parametrize(
    ("output", "reason", "field"),
    [
        (None, "not_json", None),
        ("", "not_json", None),
        ("I cannot.", "not_json", None),
        ('{"a": undefined}', "not_json", None),
        ('{"a": NaN}', "not_json", None),
        ('{"target_audience": "ho', "truncated", None),
        ('{"detailed_description": ["a", ', "truncated", None),
        ("[1, 2", "truncated", None),
        ("```json\n{}\n```", "code_fence", None),
        ("Here you are: {}", "extra_text", None),
        ("{} I hope it helps", "extra_text", None),
        ("{}{}", "extra_text", None),
        ("[]", "not_an_object", None),
        ('"text"', "not_an_object", None),
        ("{}", "missing_field", "target_audience"),
        (json.dumps({**EXAMPLE, "source_map": {}}), "wrong_type", "source_map"),
        (json.dumps({**EXAMPLE, "main_topic": 1}), "wrong_type", "main_topic"),
        (json.dumps({**EXAMPLE, "predicted_questions": "?"}), "wrong_type", "predicted_questions"),
        (json.dumps({**EXAMPLE, "original_evidence": None}), "wrong_type", "original_evidence"),
    ],
)
def test_an_output_of_another_form_scores_0_with_a_reason(
    output: str | None, reason: str, field: str | None
) -> None:
    scores = score(JsonQuestion("1", "?", EXAMPLE, output, CONTEXTS))

    assert (scores.schema_ok, scores.reason, scores.output.field) == (False, reason, field)
    assert json_row(scores).result == {
        **dict.fromkeys(COLUMNS["json-v2"], 0.0),
        "id": "1",
        "schema_ok": False,
        "reason": reason,
    }


def test_blanks_around_the_object_and_further_fields_do_no_harm() -> None:
    assert read_output(f"\n {json.dumps({**EXAMPLE, 'more': 1})} \n").fields == EXAMPLE


@pytest.mark.parametrize(
    ("expected", "text", "matches"),
    [
        ("home buyers", "homebuyers of Medan", True),
        ("homebuyers of Medan", "home buyers", True),
        # abcdefgh against abcdefgx: 6 common pairs of 8: 0.75; against abcdefxy: 5 of 9.
        ("abcdefgh", "abcdefgx", True),
        ("abcdefgh", "abcdefxy", False),
        # 18 common pairs of 25 are exactly 0.72.
        ("abcdefghijklmnopqrsTUV", "abcdefghijklmnopqrsWXYZ", True),
        ("", "", False),
        (" ", "a", False),
        ("a", "", False),
        ("a", "b", False),
        ("Price", "price", False),
        (None, "price", False),
        ("price", 5, False),
    ],
)
def test_soft_matches(expected: object, text: object, matches: bool) -> None:
    assert likeness(expected, text).matches is matches


@pytest.mark.parametrize(
    ("expected", "items", "f1"),
    [
        ([], [], Fraction(1)),
        ([], ["a"], Fraction(0)),
        (["a"], [], Fraction(0)),
        (["satu", "dua"], ["dua", "satu"], Fraction(1)),
        (["satu"], ["satu", "satu"], Fraction(2, 3)),  # P 1/2, R 1
        (["satu", "satu"], ["satu"], Fraction(2, 3)),  # one given pairs once
        (["a"], ["x"] * 12 + ["a"], Fraction(0)),  # the thirteenth is not looked at
        (["a"], ["x"] * 11 + ["a"], Fraction(2, 13)),
        (["a", 5], ["a", None], Fraction(1, 2)),
    ],
)
def test_lists_cover_each_other(expected: list[Any], items: list[Any], f1: Fraction) -> None:
    assert cover(expected, items, most=12).f1 == f1


def test_each_expected_item_takes_the_first_that_is_free() -> None:
    """The first, ab, takes abc, so that the second is left without."""
    result = cover(["ab", "abc"], ["abc", "xyz"], most=12)

    assert result.pairs == ((0, 0),)


def test_keywords_are_english_tokens_and_then_chinese_pairs() -> None:
    assert keywords("資料集 and LoRA-v2 ab C_3.x LORA-V2 料") == (
        "and",
        "lora-v2",
        "c_3.x",
        "資料",
        "料集",
    )


@pytest.mark.parametrize(
    ("expected", "evidence", "value"),
    [
        # 8 hits are enough, 40 characters too.
        ("aaa bbb ccc ddd eee fff ggg hhh iii", "aaa bbb ccc ddd eee fff ggg hhh 12345678", 1),
        ("aaa bbb ccc ddd", "aaa bbb ccc ddd" + "." * 25, Fraction(3, 8)),  # ddd... is a token
        ("aaa bbb", "  aaa bbb  ", Fraction(2, 8) * Fraction(7, 40)),
        ("aaa", "bbb" + " " * 50, 0),
        ("", "aaa" * 20, 0),
    ],
)
def test_the_score_of_the_evidence(expected: str, evidence: str, value: Fraction | int) -> None:
    assert evidence_of(expected, evidence).score == value


def test_only_the_first_30_expected_keywords_count() -> None:
    expected = " ".join(f"w{n:02}" for n in range(40))

    assert evidence_of(expected, "w29 w30 w31" + " x" * 30).hits == ("w29",)


def ref(file: object = "a.md", *anchors: object) -> dict[str, object]:
    return {"file": file, "anchors": list(anchors)}


@pytest.mark.parametrize(
    ("source_map", "value"),
    [
        ([], 0),
        ([{"refs": []}], 0),
        (["text", {"refs": "a.md"}, {}], 0),
        ([{"refs": [ref("a.md", "alpha")]}], 1),
        ([{"refs": [ref("a.md", "delta")]}], 1),  # in the contexts' text, wherever
        ([{"refs": [ref("a.md", "charlie\ndelta")]}], 1),  # joined by newlines
        ([{"refs": [ref("c.md", "alpha")]}], 0),
        ([{"refs": [ref("a.md", "Alpha")]}], 0),
        ([{"refs": [ref("a.md", "", " ")]}], 0),
        ([{"refs": [ref("a.md", *["x"] * 6, "alpha")]}], 0),  # the seventh anchor
        ([{"refs": [ref("a.md", *["x"] * 5, "alpha"), ref("a.md")]}], Fraction(1, 2)),
        ([{"refs": [ref("a.md", "alpha")] * 6 + [ref("x")] * 9}], 1),  # the first 6 refs
        ([{"refs": [ref("a.md", "alpha")]}] * 12 + [{"refs": [ref("x")]}], 1),
        ([{"refs": ["a.md", ref(["a.md"], "alpha"), ref("a.md", 5)]}], 0),
    ],
)
def test_grounding(source_map: list[Any], value: Fraction | int) -> None:
    assert score(question(source_map=source_map)).parts["grounding"] == value


def test_the_score_is_the_weighted_sum_of_the_parts() -> None:
    """One class wrong, one of two points, no questions: 10 + 10 + 0 + 15 + 20 + 0 + 10 = 65."""
    scores = score(
        question(
            sub_topic="tax",
            detailed_description=["low interest rate", "sea view"],
            predicted_questions=[],
        )
    )

    assert scores.score == 65
    assert scores.parts["detailed_description"] == Fraction(1, 2)


def test_too_many_items_are_a_warning_and_no_failure() -> None:
    scores = score(question(detailed_description=["x"] * 9, predicted_questions=["x"] * 6))

    assert scores.schema_ok
    assert scores.too_long == ("detailed_description", "predicted_questions")
    assert score(question(detailed_description=["x"] * 8)).too_long == ()


def summary_of(*scores: JsonScore) -> JsonSummary:
    summary = JsonSummary(Gate())
    for question_score in scores:
        summary.add(question_score)
    return summary


def test_failures_count_as_0_in_every_mean() -> None:
    result = summary_of(score(question()), score(question("no")))

    assert json_summary(result) == {
        "count": 2,
        "eval_score_avg": 50.0,
        "schema_pass_rate": 0.5,
        "gate_passed": False,
    }
    assert result.reasons == {"not_json": 1}
    assert set(result.part_means.values()) == {0.5}


@pytest.mark.parametrize(
    ("n_good", "n_bad", "passed"), [(49, 1, True), (48, 1, False), (1, 0, True), (0, 0, False)]
)
def test_the_gate_is_met_by_exactly_its_ends(n_good: int, n_bad: int, passed: bool) -> None:
    """49 of 50 are 0.98 and score 98; 48 of 49 are below."""
    good, bad = score(question()), score(question("no"))

    assert summary_of(*[good] * n_good, *[bad] * n_bad).gate_passed is passed


TOPICS = ["rumah"] * 503 + ["ruko"] * 301 + ["tanah"] * 196


def test_topics_share_the_set_in_proportion_by_the_largest_remainder() -> None:
    """50.3, 30.1 and 19.6 of 100: the one left over goes to tanah."""
    assert json_answers.shares(TOPICS, 100) == {"rumah": 50, "ruko": 30, "tanah": 20}
    assert json_answers.shares(["b", "a", "c"], 2) == {"b": 1, "a": 1, "c": 0}  # ties: the first


def test_a_drawn_set_has_these_shares_in_the_order_of_the_file() -> None:
    drawn = json_answers.draw_dev_set(TOPICS, 100, seed=42)

    assert drawn == sorted(set(drawn)) == json_answers.draw_dev_set(TOPICS, 100, seed=42)
    assert drawn != json_answers.draw_dev_set(TOPICS, 100, seed=43)
    assert Counter(TOPICS[position] for position in drawn) == json_answers.shares(TOPICS, 100)


def test_all_questions_can_be_drawn_and_no_more() -> None:
    assert json_answers.draw_dev_set(["a", "b"], 2, seed=1) == [0, 1]
    with pytest.raises(TooFewQuestions):
        json_answers.draw_dev_set(["a", "b"], 3, seed=1)
