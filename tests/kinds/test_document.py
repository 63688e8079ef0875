"""Documents: when one verdict serves two of them, what raters see, and excerpts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi.kinds import from_row, to_row
from relevansi.kinds.document import WINDOW, Document, Scalar, excerpt

LONG = "Long red dress, in linen and cotton"


@pytest.mark.parametrize(
    ("document", "identity"),
    [
        (Document(doc_id="d7", text=LONG, url="https://a.example"), "doc:d7"),
        (Document(doc_id="d7", passage="1a2b3c4d"), "doc:d7#1a2b3c4d"),
        (Document(url="https://a.example"), "url:https://a.example"),
    ],
)
def test_an_id_comes_first(document: Document, identity: str) -> None:
    assert document.identity == identity


def test_equal_texts_without_ids_are_one_document_wherever_they_are() -> None:
    first = Document(text="Long  RED dress\n", url="https://a.example/1")
    second = Document(text="long red \uff44ress", title="Dress")

    assert first.identity == second.identity
    assert first.identity != Document(text="Long red skirt").identity


@pytest.mark.parametrize(
    ("first", "second", "differing"),
    [
        (Document(text=LONG), Document(text=LONG[:14] + "…"), ()),
        (Document(text=LONG), Document(text=LONG[:14] + " ..."), ()),
        (Document(text=LONG), Document(text="Blue shirt"), ("text",)),
        (Document(text=LONG, title="A"), Document(text=LONG, title="B"), ()),
        (Document(title="A"), Document(title="B"), ("title",)),
        (Document(title="A"), Document(text=LONG), ()),
        (Document(text=LONG), Document(), ()),
    ],
)
def test_one_verdict_serves_texts_of_which_one_begins_with_the_other(
    first: Document, second: Document, differing: tuple[str, ...]
) -> None:
    assert first.differences(second) == differing
    assert second.differences(first) == differing


def test_the_fullest_document_has_the_longer_text_and_the_common_metadata() -> None:
    first = Document(doc_id="d", text=LONG[:9], meta={"year": 2019, "lang": "en", "chunk": 1})
    second = Document(
        doc_id="d", text=LONG, meta={"year": 2019, "lang": "id"}, url="https://a.example"
    )

    fullest = first.fullest(second)

    assert (fullest.text, fullest.meta, fullest.url) == (LONG, {"year": 2019}, "https://a.example")
    assert fullest.fullest(Document(doc_id="d")) == fullest
    assert Document(doc_id="d").fullest(fullest) == fullest


def test_a_blind_rater_sees_nothing_named_after_a_system() -> None:
    names = (
        "score",
        "bm25_score",
        "vectorRank",
        "retriever",
        "model-name",
        "@index",
        "search method",
    )
    meta: dict[str, Scalar] = dict.fromkeys(names, "canary")
    meta |= {"author": "Liu", "underscored": 1}

    blind_document = Document(text=LONG, meta=meta, score=1.5, position=3).uniform(None)

    assert blind_document == Document(text=LONG, meta={"author": "Liu", "underscored": 1})


def test_a_document_is_stored_and_read_again() -> None:
    document = Document(title="T", text=LONG, doc_id="d7", meta={"year": 2019}, score=0.5)

    assert from_row(to_row(document)) == document


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        (
            "Blue shirts. " * 40 + "Long red dresses. " + "Hats. " * 99,
            "a RED dress?",
            {"red", "dresses"},
        ),
        (
            "Dijual. " * 60 + "Rumah dengan taman. " + "Ya. " * 99,
            "rumah yang ada taman",
            {"Rumah", "taman"},
        ),
        ("Rien. " * 90 + "Un café noir.", "CAFE", {"café"}),
        ("我们的公司在北京。" * 50 + "猫喜欢吃鱼。", "猫吃什么鱼", {"猫", "吃", "鱼"}),
        ("ไม่มี " * 99 + "บ้านในเมือง", "บ้าน", {"บ้าน"}),
        ("نص طويل. " * 60 + "السِّيارة حمراء؟", "السيارة", {"السِّيارة"}),
        ("It is. " * 80 + "Who?", "who", {"Who"}),
    ],
)
def test_an_excerpt_is_where_the_words_of_the_question_are(
    text: str, question: str, marked: set[str]
) -> None:
    result = excerpt(text, question)

    assert {piece for piece, is_marked in result.pieces if is_marked} == marked
    assert result.before


def test_the_earliest_of_equal_windows_wins() -> None:
    result = excerpt("A red one. " + "Nothing here. " * 60 + "A red two.", "red")

    assert not result.before
    assert result.after


@given(st.text(max_size=900), st.text(max_size=60))
def test_an_excerpt_is_a_part_of_its_text(text: str, question: str) -> None:
    result = excerpt(text, question)
    text_shown = "".join(piece for piece, _ in result.pieces)

    assert len(text_shown) <= WINDOW
    assert text_shown.split() == text_shown.strip().split()
    assert " ".join(text_shown.split()) in " ".join(text.split())
    assert bool(text_shown) == bool(text.strip())
    assert not any(
        piece[1] and after[1] and not piece[0] for piece, after in pairwise(result.pieces)
    )
