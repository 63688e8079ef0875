"""The scale of a study: which verdicts it has, what they mean, how it is stored."""

from __future__ import annotations

import json

import pytest
from msgspec import ValidationError

from relevansi.records import BINARY, Relevance, Scale

GRADED = Scale(3, 2, ("off", "touches", "in part", "answers"), ("a", "b", "c", "d"))


def test_on_the_binary_scale_a_verdict_means_what_it_always_meant() -> None:
    assert set(BINARY.verdicts) == {str(verdict) for verdict in Relevance}
    for verdict in Relevance:
        assert BINARY.binary(str(verdict)) is verdict
    assert BINARY.relevant == {"1"}


@pytest.mark.parametrize(
    ("text", "number", "grade", "binary"),
    [
        ("0", 0, 0, Relevance.NOT_RELEVANT),
        ("1", 1, 1, Relevance.NOT_RELEVANT),
        ("2", 2, 2, Relevance.RELEVANT),
        ("3", 3, 3, Relevance.RELEVANT),
        ("unsure", "unsure", None, Relevance.UNSURE),
        ("", None, None, None),
        (None, None, None, None),
    ],
)
def test_a_grade_is_read_at_the_threshold(
    text: str | None, number: int | str | None, grade: int | None, binary: Relevance | None
) -> None:
    assert GRADED.number(text) == number
    assert GRADED.grade(text) == grade
    assert GRADED.binary(text) is binary


@pytest.mark.parametrize("text", ["4", "-1", "1.0", " 1", "relevant", "¹"])
def test_a_text_that_the_scale_has_not_is_refused(text: str) -> None:
    assert not GRADED.accepts(text)
    for read in (GRADED.number, GRADED.grade, GRADED.binary):
        with pytest.raises(ValueError, match="scale"):
            read(text)


def test_the_relevant_verdicts_are_those_read_as_relevant() -> None:
    for scale in (Scale(top, low) for top in (1, 2, 3, 4) for low in range(1, top + 1)):
        read = {text for text in scale.verdicts if scale.binary(text) is Relevance.RELEVANT}
        assert scale.relevant == read


@pytest.mark.parametrize(
    ("top", "relevant_from", "words", "guidance"),
    [
        (0, 1, (), ()),
        (5, 1, (), ()),
        (2, 0, (), ()),
        (2, 3, (), ()),
        (2, 1, ("no", "yes"), ()),
        (2, 1, (), ("no", "in part", "yes", "more")),
    ],
)
def test_a_scale_that_cannot_be_is_refused(
    top: int, relevant_from: int, words: tuple[str, ...], guidance: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="grade"):
        Scale(top, relevant_from, words, guidance)
    stored = {"top": top, "from": relevant_from, "words": words, "guidance": guidance}
    with pytest.raises(ValidationError):
        Scale.stored(stored)


def test_a_scale_is_stored_as_json_and_read_back() -> None:
    stored = json.loads(json.dumps(GRADED.to_store()))
    assert stored == {
        "top": 3,
        "from": 2,
        "words": ["off", "touches", "in part", "answers"],
        "guidance": ["a", "b", "c", "d"],
    }
    assert Scale.stored(stored) == GRADED


def test_a_study_that_states_no_scale_has_the_binary_one() -> None:
    assert BINARY.to_store() is None
    assert Scale.stored(None) == BINARY
