"""Every text of a model is a verdict it gave or a named failure; no text opens a place."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from webapp.records import Card
from webapp.services.machine_judges import prompts
from webapp.services.machine_judges.prompts import (
    EXPLANATIONS,
    LONGEST_REASON,
    VERDICTS,
    MachineVerdict,
)
from webapp.services.rating.pages import EarlierTurn

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
    said = _said(answer)
    if isinstance(said, str):
        assert said in EXPLANATIONS
        return
    stated = json.loads(answer)
    assert VERDICTS[stated["verdict"]] == said.verdict
    assert 0 < len(said.reason) <= LONGEST_REASON


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.sampled_from(["id", "en"]))
def test_a_filled_prompt_is_its_parts_whatever_they_say(
    question: str, asked: str, answered: str, title: str, language: str
) -> None:
    """The three places are filled once: braces in what fills them stay what they are."""
    card, turns = Card(title), (EarlierTurn(asked, answered),)
    filled = prompts.filled("<{earlier}>|<{question}>|<{card}>", language, question, turns, card)

    told = prompts.described(card, language)
    assert filled.endswith(f"|<{question}>|<{told}>")
    assert asked in filled
    assert answered in filled


def _said(answer: str) -> MachineVerdict | str:
    """The verdict and reason of an answer, or the code of the failure to read it."""
    try:
        return prompts.read(answer)
    except prompts.UnreadableVerdict as refused:
        return refused.code
