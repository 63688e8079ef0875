from __future__ import annotations

from typing import Any

import pytest

from relevansi.exporters.evaluations.score_documents import COLUMNS, answer_row
from relevansi.metrics.evaluations.answers import (
    AnswerRow,
    AnswerScale,
    AnswerSummary,
    SimilaritiesDoNotFit,
    Support,
    match_gold,
    score,
    sentences,
)
from relevansi.metrics.evaluations.similarity import (
    DEFAULT_TAU_SIM,
    LEXICAL_TAU_SIM,
    LexicalEmbedder,
    cosine,
)

CONTEXTS = {"a": "Rumah dijual di Cemara dengan tiga kamar tidur", "b": "Ruko di Krakatau"}
FIVE = "Satu [CIT:a]. Dua. Tiga [CIT:a][CIT:b]. Empat [CIT:x]. Lima [CIT:b]. Tidak tahu [CIT:a]."


def row(answer: str = FIVE, **values: object) -> AnswerRow:
    return AnswerRow("1", "?", answer, **{"contexts": CONTEXTS, **values})  # type: ignore[arg-type]


def test_the_item_of_an_answer() -> None:
    """1 of 5 claims: overlap 0.2, faithfulness 0.6 + 0.4 x 0.2 = 0.68."""
    scores = score(
        row(
            claim_similarities=(0.6, 0.9, 0.9, 0.9, 0.59),
            gold="Satu",
            calls=((100, 20), (50, 5)),
            latency_ms=1200,
        )
    )
    item = answer_row(scores).result

    assert [(verdict.support, verdict.cosine) for verdict in scores.verdicts] == [
        (Support.SUPPORTED, 0.6),
        (Support.NO_CITATION, 0.9),
        (Support.SEVERAL_CITATIONS, 0.9),
        (Support.UNKNOWN_CONTEXT, 0.9),
        (Support.TOO_FAR, 0.59),
        (Support.DO_NOT_KNOW_CITED, None),
    ]
    assert tuple(item) == COLUMNS["answers"]
    assert item == {
        "id": "1",
        "sentences": 6,
        "claim_sentences": 5,
        "supported": 1,
        "overlap": 0.2,
        "faithfulness": pytest.approx(0.68),
        "em": 0,
        # satu dua tiga empat lima tidak tahu: 7 words, 1 in common
        "f1": 0.25,
        "abstain": False,
        "total_tokens": 175,
        "latency_ms": 1200,
        "idk_with_citation": 1,
    }


def test_without_cosines_and_embedder_overlap_is_undefined() -> None:
    scores = score(row())

    assert (scores.supported, scores.overlap, scores.faithfulness) == (None, None, None)
    assert scores.verdicts[0].support is Support.NOT_MEASURED
    assert scores.verdicts[1].support is Support.NO_CITATION


def test_an_answer_without_claims_has_overlap_0_whatever_measures() -> None:
    scores = score(row("Saya tidak tahu."))

    assert (scores.supported, scores.overlap, scores.faithfulness) == (0, 0.0, 0.6)


def test_another_number_of_cosines_than_claims_is_refused() -> None:
    with pytest.raises(SimilaritiesDoNotFit) as refused:
        score(row("Satu [CIT:a]. Tidak tahu.", claim_similarities=(0.9, 0.9)))

    assert refused.value.args == (2, 1)


@pytest.mark.parametrize(
    ("answer", "action", "abstain"),
    [
        ("Tidak tahu. I don't know!", None, True),
        ("Tidak tahu. Ada.", None, False),
        ("Ada.", "ABSTAIN", True),
        ("Ada.", "RETRIEVE", False),
        ("", None, False),
        ("", "ABSTAIN", True),
    ],
)
def test_when_a_system_abstains(answer: str, action: str | None, abstain: bool) -> None:
    assert score(row(answer, action=action)).abstain is abstain


@pytest.mark.parametrize(
    ("answer", "gold", "em", "f1"),
    [
        ("The House!", "house", 1, 1.0),
        ("  a  rumah ", "RUMAH.", 1, 1.0),
        ("rumah rumah kecil", "rumah besar", 0, 0.4),  # 1 common of 3 + 2
        ("rumah rumah", "rumah rumah rumah", 0, 0.8),  # 2 common of 2 + 3
        ("", "", 1, 1.0),
        ("the", "a.", 1, 1.0),  # both empty once normalised
        ("", "rumah", 0, 0.0),
        ("ruko", "rumah", 0, 0.0),
        ("Rp 800.000", "rp 800000", 1, 1.0),
        ("rumah\u2019", "rumah", 0, 0.0),  # only ASCII punctuation is deleted
    ],
)
def test_em_and_f1_on_normalised_words(answer: str, gold: str, em: int, f1: float) -> None:
    assert match_gold(answer, gold) == pytest.approx((em, f1))


def test_an_answer_that_keeps_the_contract_can_be_the_gold_answer() -> None:
    """Citations are left out of EM and F1 unless they are kept."""
    cited = row("Tiga kamar [CIT:a].", gold="tiga kamar", claim_similarities=(0.0,))
    without = score(cited, AnswerScale(tau_sim=0))
    as_it_stands = score(cited, AnswerScale(keep_citations=True))

    assert (without.em, without.f1, without.overlap) == (1, 1.0, 1.0)  # a threshold of 0 counts
    assert as_it_stands.em == 0
    assert as_it_stands.f1 == pytest.approx(0.8)  # 2 common of 3 + 2


def test_a_gold_answer_with_citations_is_read_without_them_too() -> None:
    copied = row("Tiga kamar [CIT:a].", gold="Tiga kamar [CIT:a].")
    with_citations = AnswerScale(keep_citations=True)

    assert (score(copied, AnswerScale()).em, score(copied, AnswerScale()).f1) == (1, 1.0)
    assert score(copied, with_citations).em == 1
    assert score(row("Tiga kamar.", gold="Tiga kamar [CIT:a]."), AnswerScale()).em == 1
    assert score(row("Tiga kamar.", gold="Tiga kamar [CIT:a]."), with_citations).em == 0


def test_tf_idf_supports_a_claim_and_has_its_own_threshold() -> None:
    lexical = LexicalEmbedder()
    scores = score(row("Tiga kamar tidur [CIT:a]. Kolam [CIT:b]."), AnswerScale(lexical, 0.3))

    assert [verdict.support for verdict in scores.verdicts] == [Support.SUPPORTED, Support.TOO_FAR]
    assert (lexical.default_tau_sim, DEFAULT_TAU_SIM) == (LEXICAL_TAU_SIM, 0.6)


def test_tf_idf_is_scikit_learn_s() -> None:
    """The same weights and cosine from scikit-learn, its words those of the contexts."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

    texts = [*CONTEXTS.values(), "Apartemen di Podomoro, tiga kamar"]
    claim = "rumah dengan tiga tiga kamar"
    vectorizer = TfidfVectorizer(token_pattern=r"\w+").fit(texts)
    theirs = (vectorizer.transform([claim]) @ vectorizer.transform(texts).T).toarray()[0]

    ours = LexicalEmbedder().cosines([(claim, text) for text in texts], texts)
    assert ours == pytest.approx(list(theirs), abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [([1, 0], [1, 0], 1), ([1, 0], [-2, 0], -1), ([1, 0], [0, 3], 0), ([0, 0], [1, 1], 0)],
)
def test_the_cosine_of_vectors(a: list[float], b: list[float], value: float) -> None:
    assert cosine(a, b) == value


def summary_of(*rows: AnswerRow) -> dict[str, Any]:
    summary = AnswerSummary()
    for figure in rows:
        summary.add(score(figure))
    return {figure["name"]: figure["value"] or figure["why"] or 0 for figure in summary.figures()}


def test_the_summary_of_three_answers() -> None:
    """Overlap 1, 0, 0; EM 1 of 2 with gold.

    Latencies 100, 200, 400: the median is 200, 95 % lies at position 1.9: 200 + 0.9 x 200.
    """
    result = summary_of(
        row(
            "Ada [CIT:a].",
            claim_similarities=(0.9,),
            gold="ada",
            latency_ms=400,
            calls=((100, 10),),
        ),
        row("Tidak tahu [CIT:a].", gold="ruko", latency_ms=100, calls=((30, 4), (6, 0))),
        row("Ada.", claim_similarities=(0.9,), latency_ms=200, action="ABSTAIN"),
    )

    assert result == {
        "count": 3,
        "avg_faithfulness": pytest.approx((1 + 0.6 + 0.6) / 3),
        "avg_overlap": pytest.approx(1 / 3),
        "avg_em": 0.5,
        "avg_f1": 0.5,
        "abstain_rate": pytest.approx(2 / 3),
        "avg_total_tokens": 75.0,  # 110 and 40
        "avg_prompt_tokens": 68.0,  # 100 and 36
        "avg_completion_tokens": 7.0,  # 10 and 4
        "p50_latency_ms": 200.0,
        "p95_latency_ms": 380.0,
        "idk_with_citation_count": 1,
    }


def test_a_judge_s_faithfulness_is_reported_beside_the_fallback() -> None:
    judged = row("Ada [CIT:a].", claim_similarities=(0.9,), faithfulness_judge=0.25)
    result = summary_of(judged, row("Tidak tahu."))

    assert result["avg_faithfulness_judge"] == 0.25
    assert result["avg_faithfulness"] == pytest.approx(0.8)
    assert answer_row(score(judged)).result["faithfulness_judge"] == 0.25


def test_overlap_is_undefined_where_an_answer_with_claims_was_not_measured() -> None:
    figures = summary_of(row("Ada [CIT:a]."), row("Tidak tahu."))

    assert figures["avg_overlap"] == "no_embedder"


def test_what_no_answer_states_is_undefined_with_a_reason() -> None:
    figures = summary_of(row("Tidak tahu."))

    assert {name: why for name, why in figures.items() if isinstance(why, str)} == {
        **dict.fromkeys(["avg_em", "avg_f1"], "no_gold"),
        **dict.fromkeys(
            ["avg_total_tokens", "avg_prompt_tokens", "avg_completion_tokens"], "no_usage"
        ),
        **dict.fromkeys(["p50_latency_ms", "p95_latency_ms"], "no_latency"),
    }


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
def test_sentences_that_do_not_know_are_recognised(text: str, is_idk: bool) -> None:
    assert sentences(text)[0].is_do_not_know is is_idk
