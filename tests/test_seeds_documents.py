"""The sample study of documents hangs together: every id that a file names is known."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from relevansi.records import Scale

DOCUMENTS = Path(__file__).parents[1] / "seeds" / "documents"
Grades = dict[tuple[str, str], str]


def _lines(name: str) -> list[str]:
    return (DOCUMENTS / name).read_text("utf-8").splitlines()


def _ids(name: str) -> set[str]:
    ids = [json.loads(line)["_id"] for line in _lines(name)]
    assert len(ids) == len(set(ids))
    return set(ids)


def _grades(rater: str) -> Grades:
    rows = list(csv.DictReader(_lines(f"ratings-{rater}.csv")))
    grades = {(row["query_id"], row["doc_id"]): row["grade"] for row in rows}
    assert len(grades) == len(rows)
    return grades


@pytest.mark.parametrize("run", ["bm25", "char_ngrams", "lsa"])
def test_a_run_lists_known_passages_by_falling_score(run: str) -> None:
    lists = defaultdict(list)
    for line in _lines(f"runs/{run}.run"):
        query, _, passage, rank, score, _ = line.split()
        lists[query].append((int(rank), float(score), passage))
    assert set(lists) == _ids("queries.jsonl")
    for ranks, scores, passages in (zip(*listed, strict=True) for listed in lists.values()):
        assert ranks == tuple(range(1, min(len(ranks), 20) + 1))
        assert all(above > below for above, below in pairwise(scores))
        assert len(set(passages)) == len(set(passages) & _ids("corpus.jsonl")) == len(passages)


def test_both_raters_use_the_whole_scale_and_the_qrels_have_the_lower_grade() -> None:
    scale = json.loads((DOCUMENTS / "scale.json").read_text("utf-8"))
    votes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for grades in map(_grades, ("dewi", "rafi")):
        assert set(grades.values()) == set(Scale.stored(scale | scale["id"]).verdicts)
        assert {query for query, _ in grades} == _ids("queries.jsonl")
        assert {passage for _, passage in grades} <= _ids("corpus.jsonl")
        for pair, grade in grades.items():
            votes[pair] += [grade] * (grade != "unsure")
    fields = map(str.split, _lines("qrels.txt"))
    qrels = {(query, passage): grade for query, _, passage, grade in fields}
    assert qrels == {pair: min(grades) for pair, grades in votes.items() if grades}
