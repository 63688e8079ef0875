from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi.kinds.property import Card
from relevansi.records import Relevance
from relevansi.services.machine_judges import prompts
from relevansi.services.machine_judges.prompts import (
    EXPLANATIONS,
    MAX_REASON,
    PLACES,
    VERDICTS,
    MachineVerdict,
    UnreadableVerdict,
)
from relevansi.services.rating.conversations import EarlierTurn


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("I think it is relevant.", "not_json"),
        ('{"verdict": "relevant", "rea', "truncated"),
        ('```json\n{"verdict": "relevant", "reason": "x"}', "code_fence"),
        ('```json\n{"verdict": "relevant", "reason": "x"}\n```\nSure?', "code_fence"),
        ('```json\n{"verdict": "relevant"}\n```', "other_fields"),
        ('```\n{"verdict": "relevant", "reason": "x"}\n{"verdict": "relevant"}\n```', "extra_text"),
        ('Sure: {"verdict": "relevant", "reason": "x"}', "extra_text"),
        ('["relevant"]', "not_an_object"),
        ('{"verdict": "relevant"}', "other_fields"),
        ('{"verdict": "relevant", "reason": "x", "score": 1}', "other_fields"),
        ('{"verdict": "Relevant", "reason": "x"}', "no_verdict"),
        ('{"verdict": 1, "reason": "x"}', "no_verdict"),
        ('{"verdict": "relevant", "reason": " "}', "no_reason"),
        ('{"verdict": "relevant", "reason": ["x"]}', "no_reason"),
        ("[" * 100_000, "not_json"),
        ("", "not_json"),
    ],
)
def test_an_answer_that_is_not_the_expected_json_has_a_code_and_no_verdict(
    answer: str, code: str
) -> None:
    with pytest.raises(UnreadableVerdict) as refused:
        prompts.read(answer)

    assert str(refused.value) == code
    assert code in EXPLANATIONS


@pytest.mark.parametrize("fence", ["```json\n%s\n```", "```\n%s\n```\n", " ```JSON %s```"])
def test_an_answer_in_a_code_fence_is_read_and_noted(fence: str) -> None:
    answer = '{"verdict": "relevant", "reason": "With ``` in it."}'

    answer_read = prompts.read(fence % answer)
    assert (answer_read.verdict, answer_read.reason) == (Relevance.RELEVANT, "With ``` in it.")
    assert (answer_read.flaw, prompts.read(answer).flaw) == ("code_fence", None)


def test_our_own_prompt_has_every_place_once_and_the_guidelines_in_it() -> None:
    prompt = prompts.default("Harga boleh 10% di atas.")

    prompts.check(prompt)
    assert [prompt.count(f"{{{place}}}") for place in PLACES] == [1, 1, 1]
    assert "\nHarga boleh 10% di atas.\n" in prompt
    assert "{guidelines}" not in prompts.default("")
    for word in prompts.VERDICTS:
        assert f'"{word}"' in prompt


def test_a_conversation_is_in_the_prompt_turn_by_turn() -> None:
    turns = (EarlierTurn("Rumah?", "Ada dua."), EarlierTurn("Yang murah?", "Ada satu."))
    conversation = prompts.filled("{earlier}", "", turns, Card("x"))

    assert conversation == (
        "Question: Rumah?\nAnswer: Ada dua.\n\nQuestion: Yang murah?\nAnswer: Ada satu."
    )


TEXTS = st.text(max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {"verdict": st.sampled_from([*VERDICTS, "Relevant", "1"]) | JSON, "reason": TEXTS | JSON}
)


@given((JSON | NEARLY).map(json.dumps) | st.text())
def test_every_answer_is_a_verdict_or_a_named_failure(answer: str) -> None:
    result = _read(answer)
    if isinstance(result, str):
        assert result in EXPLANATIONS
        return
    decoded = json.loads(answer)
    assert VERDICTS[decoded["verdict"]] == result.verdict
    assert 0 < len(result.reason) <= MAX_REASON


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_filled_prompt_is_its_parts_whatever_they_say(
    question: str, earlier_question: str, answered: str, title: str
) -> None:
    """The three places are filled once: braces in what fills them stay what they are."""
    card, turns = Card(title), (EarlierTurn(earlier_question, answered),)
    filled = prompts.filled("<{earlier}>|<{question}>|<{card}>", question, turns, card)

    described = card.described()
    assert filled.endswith(f"|<{question}>|<{described}>")
    assert earlier_question in filled
    assert answered in filled


def _read(answer: str) -> MachineVerdict | str:
    """The verdict and reason of an answer, or the code of the failure to read it."""
    try:
        return prompts.read(answer)
    except prompts.UnreadableVerdict as refused:
        return str(refused)
