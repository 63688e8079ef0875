"""Comparing runs: the whole page, and the comparison alone, beside ranx on the same data."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import ranx
from flask.testing import FlaskClient
from sqlalchemy import insert, select

from benchmarks.races import Race, expect
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.db.models import JudgedThing, Judgment, Query
from webapp.metrics.compared_runs import ComparedQuery, ComparedRun
from webapp.metrics.comparisons import compare
from webapp.metrics.queries import QueryJudgments, summarise
from webapp.metrics.stability import stability
from webapp.records import Card, QueryState, ReadQuery, ReadRun, Relevance
from webapp.services import imports, live_metrics, studies
from webapp.services.imports import Labels
from webapp.web.access import now

METHODS = ("api_only", "hybrid", "vector_only")
RESULTS = 8
SIZES = (30, 1_000)
RESAMPLES = 10_000

Judged = dict[str, list[tuple[Relevance, ...]]]


def comparing() -> Iterator[Race]:
    """Three rated runs of few and of many questions."""
    for size in SIZES:
        judged = verdicts(size)
        runs = [compared(name, rows) for name, rows in judged.items()]
        qrels, ranked = trec(judged)
        expect(mean_reciprocal_ranks(runs), mean_reciprocal_ranks_by_ranx(qrels, ranked))
        by_ranx(qrels, ranked)  # compiled now, not while it is timed
        yield Race(
            f"3 runs x {size} questions: figures, intervals, tests, stability",
            lambda runs=runs: (compare(runs, rule="majority"), stability(runs)),  # type: ignore[misc]
            "ranx: 3 figures and their tests",
            lambda qrels=qrels, ranked=ranked: by_ranx(qrels, ranked),  # type: ignore[misc]
        )
        client = served(judged)
        yield Race(
            f"3 runs x {size} questions: the page of the comparison",
            lambda client=client: client.get("/comparisons/").get_data(),  # type: ignore[misc]
            "ranx: 3 figures and their tests",
            lambda qrels=qrels, ranked=ranked: by_ranx(qrels, ranked),  # type: ignore[misc]
        )


def verdicts(size: int) -> Judged:
    """Made-up verdicts for each method, some better than others."""
    chance = random.Random(7)  # noqa: S311
    return {
        method: [
            tuple(Relevance("1" if chance.random() < share else "0") for _ in range(RESULTS))
            for _ in range(size)
        ]
        for method, share in zip(METHODS, (0.7, 0.6, 0.5), strict=True)
    }


def compared(method: str, rows: list[tuple[Relevance, ...]]) -> ComparedRun:
    """A run as the comparison takes it."""
    queries = tuple(
        ComparedQuery(
            position=position,
            query_id=position,
            question=f"Question {position}",
            category=f"category_{position % 12}",
            summary=summarise(QueryJudgments(QueryState.RESULTS, row)),
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
    """What ranx compares: three figures with Fisher's randomisation test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranx.compare(
            qrels,
            ranked,
            metrics=["precision@5", "mrr", "hit_rate"],
            stat_test="fisher",
            n_permutations=RESAMPLES,
        )


def mean_reciprocal_ranks(runs: list[ComparedRun]) -> tuple[float, ...]:
    """The MRR of each run as we have it."""
    contenders = compare(runs, rule="majority").contenders
    return tuple(one.estimates["mrr"].figure.value or 0.0 for one in contenders)


def mean_reciprocal_ranks_by_ranx(qrels: ranx.Qrels, ranked: list[ranx.Run]) -> tuple[float, ...]:
    """The MRR of each run as ranx has it."""
    return tuple(float(ranx.evaluate(qrels, run, "mrr")) for run in ranked)


def served(judged: Judged) -> FlaskClient:
    """A browser on an app whose database holds the three runs, rated by the owner."""
    folder = Path(mkdtemp(prefix="relevansi-bench-"))
    app = create_app(Settings(sqlite_url(folder / "bench.sqlite"), folder))
    with app.extensions["database"].writing() as session:
        study = studies.open_or_make(session, now())
        owner = studies.raters(session, study)[0]
        for method, rows in judged.items():
            run_id = imports.store(session, study, read(method, len(rows)), Labels(), now()).id
            said = [verdict for row in rows for verdict in row]
            things = session.scalars(
                select(JudgedThing.id).where(JudgedThing.card.is_not(None)).order_by(JudgedThing.id)
            ).all()[-len(said) :]
            session.execute(
                insert(Judgment),
                [
                    {
                        "rater_id": owner.id,
                        "judged_thing_id": thing,
                        "verdict": str(verdict.value),
                        "changed_at": now(),
                    }
                    for thing, verdict in zip(things, said, strict=True)
                ],
            )
            live_metrics.refresh(session, [owner.id], Query.run_id == run_id)
        session.commit()
    return app.test_client()


def read(method: str, size: int) -> ReadRun:
    """A run file of `size` questions, its cards found by no other method."""
    return ReadRun(
        file_format="v1",
        name=f"{method}.json",
        sha256=method,
        search_method=method,
        queries=tuple(
            ReadQuery(
                query_id=position,
                question=f"Question {position}",
                category=f"category_{position % 12}",
                response=method,
                state=QueryState.RESULTS,
                cards=tuple(
                    Card(title=name, slug=name)
                    for name in (f"{method}-{position}-{rank}" for rank in range(RESULTS))
                ),
            )
            for position in range(1, size + 1)
        ),
    )
