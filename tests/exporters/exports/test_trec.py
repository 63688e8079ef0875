from __future__ import annotations

from collections.abc import Sequence

import pytest

from relevansi.exporters.exports.judged_results import JudgedResult, document, qrels, run_file
from relevansi.i18n import speaking
from relevansi.records import BINARY, Relevance

R, N, U = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE


def results(verdicts: Sequence[Relevance | None], query_id: int = 1) -> list[JudgedResult]:
    return [
        JudgedResult(str(query_id), rank, f"slug:rumah-{rank}", BINARY.number(verdict))
        for rank, verdict in enumerate(verdicts, 1)
    ]


def test_qrels_hold_the_decided_results_and_the_notes_what_is_left_out() -> None:
    with speaking("en"):
        assert qrels(results((R, U, N, None, None))) == (
            "1 0 slug:rumah-1 1\n1 0 slug:rumah-3 0\n",
            (
                "1 result is left out of the qrels: cannot tell.",
                "2 results are left out of the qrels: not judged yet.",
                "Evaluation tools count what is left out as not relevant.",
            ),
        )
    assert qrels([]) == ("", ())


def test_the_score_falls_with_the_rank_in_every_list() -> None:
    assert run_file([*results((R, N)), *results((N,), query_id=2)], tag="hybrid gpt 4") == (
        "1 Q0 slug:rumah-1 1 2 hybrid%20gpt%204\n"
        "1 Q0 slug:rumah-2 2 1 hybrid%20gpt%204\n"
        "2 Q0 slug:rumah-1 1 1 hybrid%20gpt%204\n"
    )


@pytest.mark.parametrize(
    ("doc_id", "written"),
    [
        ("title:rumah cemara|medan/1", "title:rumah%20cemara|medan/1"),
        ("a\tb\u00a0c\nd", "a%09b%C2%A0c%0Ad"),
        ("rumah-é", "rumah-é"),
    ],
)
def test_a_document_id_is_one_word_and_stays_distinct(doc_id: str, written: str) -> None:
    assert document(JudgedResult("1", 1, doc_id)) == written


def test_a_property_listed_twice_is_in_the_run_twice_and_in_the_qrels_once() -> None:
    twice = [JudgedResult("1", rank, "slug:a/1", 1, repetition=rank) for rank in (1, 2)]

    assert qrels(twice)[0] == qrels(twice, unjudged=True)[0] == "1 0 slug:a/1 1\n"
    assert "slug:a/1#2 2 1 t" in run_file(twice, tag="t")
