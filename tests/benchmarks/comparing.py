"""Comparing runs, and the figures it rests on, beside ranx and ir_measures on the same data."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Sequence

import ir_measures
import ranx
from ir_measures import RR, P, Qrel, ScoredDoc, Success

from tests.benchmarks.races import Race, expect
from webapp.metrics.comparisons.comparisons import compare
from webapp.metrics.comparisons.differences import ComparedQuery, ComparedRun
from webapp.metrics.comparisons.stability import stability
from webapp.metrics.judging.figures import Totals, figures
from webapp.metrics.judging.queries import QueryJudgments, QuerySummary, summarise
from webapp.records import QueryState, Relevance

METHODS = ("api_only", "hybrid", "vector_only")
RESULTS = 8
RESAMPLES = 10_000
THREE = {"mean_precision_at_5": "precision@5", "mrr": "mrr", "success_rate": "hit_rate"}
"""Three figures of ours, and what ranx calls them."""

Judged = dict[str, list[tuple[Relevance, ...]]]


def comparing(sizes: Sequence[int]) -> Iterator[Race]:
    """Three rated runs of few and of many questions."""
    for size in sizes:
        judged = verdicts(size)
        runs = [compared(name, rows) for name, rows in judged.items()]
        qrels, ranked = trec(judged)
        lists = [as_lines(rows) for rows in judged.values()]
        wanted = three_by_ranx(qrels, ranked)
        expect(summed_up(judged), wanted)
        expect(summed_up(judged), three_by_ir_measures(lists))
        expect(of_comparison(runs), wanted)
        by_ranx(qrels, ranked)  # compiled now, not while it is timed
        alone = f"3 runs x {size:,} questions: every figure with its bounds"
        yield Race(
            alone,
            lambda judged=judged: summed_up(judged),  # type: ignore[misc]
            "ranx: 3 figures",
            lambda qrels=qrels, ranked=ranked: three_by_ranx(qrels, ranked),  # type: ignore[misc]
        )
        yield Race(
            alone,
            lambda judged=judged: summed_up(judged),  # type: ignore[misc]
            "ir_measures: 3 figures",
            lambda lists=lists: three_by_ir_measures(lists),  # type: ignore[misc]
        )
        yield Race(
            f"3 runs x {size:,} questions: figures, intervals, tests, stability",
            lambda runs=runs: (compare(runs, rule="majority"), stability(runs)),  # type: ignore[misc]
            "ranx: 3 figures and their tests",
            lambda qrels=qrels, ranked=ranked: by_ranx(qrels, ranked),  # type: ignore[misc]
        )


def verdicts(size: int) -> Judged:
    """Made-up verdicts for each method, some better than others."""
    chance = random.Random(7)
    return {
        method: [
            tuple(Relevance("1" if chance.random() < share else "0") for _ in range(RESULTS))
            for _ in range(size)
        ]
        for method, share in zip(METHODS, (0.7, 0.6, 0.5), strict=True)
    }


def summary(row: tuple[Relevance, ...]) -> QuerySummary:
    """The figures of one question; none of its cards is "cannot tell"."""
    return summarise(QueryJudgments(QueryState.RESULTS, row), cannot_tell="not_relevant")


def compared(method: str, rows: list[tuple[Relevance, ...]]) -> ComparedRun:
    """A run as the comparison takes it."""
    queries = tuple(
        ComparedQuery(
            position=position,
            query_id=position,
            question=f"Question {position}",
            category=f"category_{position % 12}",
            summary=summary(row),
            verdicts=row,
        )
        for position, row in enumerate(rows, start=1)
    )
    return ComparedRun(method, method, method, "made up", queries)


def trec(judged: Judged) -> tuple[ranx.Qrels, list[ranx.Run]]:
    """The same verdicts and lists in the form ranx reads; every run has its own documents."""
    qrels: dict[str, dict[str, int]] = {}
    ranked = []
    for method, rows in judged.items():
        lists = {}
        for position, row in enumerate(rows):
            names = [f"{method}-{position}-{rank}" for rank in range(RESULTS)]
            found = dict(zip(names, map(int, row), strict=True))
            qrels.setdefault(str(position), {}).update(found)
            lists[str(position)] = {name: float(-rank) for rank, name in enumerate(names)}
        ranked.append(ranx.Run(lists, name=method))
    return ranx.Qrels(qrels), ranked


def by_ranx(qrels: ranx.Qrels, ranked: list[ranx.Run]) -> object:
    """The comparison by ranx: three figures with Fisher's randomisation test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranx.compare(
            qrels,
            ranked,
            metrics=["precision@5", "mrr", "hit_rate"],
            stat_test="fisher",
            n_permutations=RESAMPLES,
        )


def of_comparison(runs: list[ComparedRun]) -> tuple[float, ...]:
    """The three figures of each run as a comparison has them."""
    contenders = compare(runs, rule="majority").contenders
    return tuple(one.estimates[name].figure.value or 0.0 for one in contenders for name in THREE)


def summed_up(judged: Judged) -> tuple[float, ...]:
    """The three figures of each run, out of all of its figures."""
    found = [figures(Totals.of(map(summary, rows))) for rows in judged.values()]
    return tuple(one[name].value or 0.0 for one in found for name in THREE)


def three_by_ranx(qrels: ranx.Qrels, ranked: list[ranx.Run]) -> tuple[float, ...]:
    """The three figures of each run as ranx has them."""
    found = [ranx.evaluate(qrels, run, [*THREE.values()]) for run in ranked]
    return tuple(float(one[name]) for one in found for name in THREE.values())


def as_lines(rows: list[tuple[Relevance, ...]]) -> tuple[list[Qrel], list[ScoredDoc]]:
    """The judgments and the ranking of a run in the form ir_measures reads."""
    ranked = [(str(q), str(r), row[r]) for q, row in enumerate(rows) for r in range(len(row))]
    qrels = [Qrel(q, r, int(verdict)) for q, r, verdict in ranked]
    return qrels, [ScoredDoc(q, r, -float(r)) for q, r, _ in ranked]


def three_by_ir_measures(
    lists: Sequence[tuple[list[Qrel], list[ScoredDoc]]],
) -> tuple[float, ...]:
    """The three figures of each run as ir_measures has them."""
    wanted = (P @ 5, RR, Success @ RESULTS)
    found = [ir_measures.calc_aggregate(wanted, qrels, scored) for qrels, scored in lists]
    return tuple(one[measure] for one in found for measure in wanted)
