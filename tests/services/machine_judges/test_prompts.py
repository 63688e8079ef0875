"""A prompt says nothing but what a card says, and an answer is read strictly or not at all."""

from __future__ import annotations

import pytest

from webapp.i18n import LANGUAGES
from webapp.records import Card, Relevance
from webapp.services.machine_judges import prompts
from webapp.services.machine_judges.prompts import EXPLANATIONS, PLACES, UnreadableVerdict
from webapp.services.rating.pages import EarlierTurn


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
def test_an_answer_that_is_not_the_json_asked_for_is_named_and_not_guessed(
    answer: str, code: str
) -> None:
    with pytest.raises(UnreadableVerdict) as refused:
        prompts.read(answer)

    assert refused.value.code == code
    assert code in EXPLANATIONS


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("relevant", Relevance.RELEVANT),
        ("not_relevant", Relevance.NOT_RELEVANT),
        ("cannot_tell", Relevance.UNSURE),
    ],
)
def test_the_three_verdicts_are_read_with_their_reason(word: str, verdict: Relevance) -> None:
    said = prompts.read(f'{{"reason": "Di  kota\\nlain.", "verdict": "{word}"}}\n')

    assert (said.verdict, said.reason) == (verdict, "Di kota lain.")


@pytest.mark.parametrize("fence", ["```json\n%s\n```", "```\n%s\n```\n", " ```JSON %s```"])
def test_an_answer_in_a_code_fence_is_read_and_noted(fence: str) -> None:
    answer = '{"verdict": "relevant", "reason": "With ``` in it."}'

    said = prompts.read(fence % answer)
    assert (said.verdict, said.reason) == (Relevance.RELEVANT, "With ``` in it.")
    assert (said.flaw, prompts.read(answer).flaw) == ("code_fence", None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_our_own_prompt_has_every_place_once_and_the_guidelines_in_it(language: str) -> None:
    prompt = prompts.default(language, "Harga boleh 10% di atas.")

    prompts.check(prompt)
    assert [prompt.count(f"{{{place}}}") for place in PLACES] == [1, 1, 1]
    assert "\nHarga boleh 10% di atas.\n" in prompt
    assert "{guidelines}" not in prompts.default(language, "")
    for word in prompts.VERDICTS:
        assert f'"{word}"' in prompt


def test_a_conversation_is_told_turn_by_turn() -> None:
    turns = (EarlierTurn("Rumah?", "Ada dua."), EarlierTurn("Yang murah?", "Ada satu."))
    told = prompts.filled("{earlier}", "id", "", turns, Card("x"))

    assert told == (
        "Pertanyaan: Rumah?\nJawaban: Ada dua.\n\nPertanyaan: Yang murah?\nJawaban: Ada satu."
    )
