"""Where sentences end, what they cite and which claim nothing."""

from __future__ import annotations

import pytest

from webapp.metrics.evaluations.answers import sentences


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("Ada. Tidak ada!", ["Ada.", "Tidak ada!"]),
        ("Harga 1.5 M. Luas 90.", ["Harga 1.5 M.", "Luas 90."]),
        ("Ada? Ya... mungkin", ["Ada?", "Ya...", "mungkin"]),
        ("Benar?! Ya", ["Benar?!", "Ya"]),
        ("baris satu\nbaris dua", ["baris satu\nbaris dua"]),
        ("Ada.\nYa.", ["Ada.", "Ya."]),
        ("Ada [CIT:a]. Ya [CIT:b].", ["Ada [CIT:a].", "Ya [CIT:b]."]),
        ("Ada. [CIT:a] Ya.", ["Ada. [CIT:a]", "Ya."]),
        ("Ada.[CIT:a] Ya.", ["Ada.[CIT:a]", "Ya."]),
        ("Ada.[CIT:a][CIT:b]Ya.", ["Ada.[CIT:a][CIT:b]", "Ya."]),
        ("Ada.[CIT:a]. Ya.", ["Ada.[CIT:a].", "Ya."]),
        ("[CIT:a] Ada.", ["[CIT:a] Ada."]),
        ("[CIT:a]", ["[CIT:a]"]),
        ("", []),
        (" ... ! ", []),
        ("Ada. !", ["Ada."]),
    ],
)
def test_where_a_sentence_ends(answer: str, texts: list[str]) -> None:
    assert [sentence.text for sentence in sentences(answer)] == texts


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Ada [CIT:doc_1-b].", ("doc_1-b",)),
        ("Ada [CIT:a] dan [CIT:b].", ("a", "b")),
        ("Ada [CIT:a][CIT:a].", ("a", "a")),
        ("Ada [cit:a] [CIT: a] [CIT:] [CIT:a b] (CIT:a).", ()),
    ],
)
def test_a_citation_is_exactly_that(text: str, ids: tuple[str, ...]) -> None:
    assert sentences(text)[0].citations == ids


@pytest.mark.parametrize(
    ("text", "is_idk"),
    [
        ("I don't know.", True),
        ("I DON\u2019T KNOW!", True),
        ("i dont know", True),
        ("Tidak tahu [CIT:a].", True),
        ("Saya  tidak tahu?!", True),
        ("Saya tidak tahu harganya.", False),
        ("I do not know.", False),
    ],
)
def test_which_sentences_say_they_do_not_know(text: str, is_idk: bool) -> None:
    assert sentences(text)[0].is_do_not_know is is_idk


def test_a_claim_is_compared_without_its_citations() -> None:
    assert sentences("Ada [CIT:a] kolam [CIT:b]. [CIT:c]")[0].claim == "Ada  kolam ."


def test_a_long_answer_is_read_once() -> None:
    assert len(sentences("Ada. " * 20_000 + "." * 20_000 + " " * 20_000)) == 20_000
