"""A table of times: each piece of work beside a yardstick on the same data, as a ratio.

Only ratios are worth comparing between machines. The data is made up with a fixed seed;
every yardstick is checked to give the same figures before it is timed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import fmean

import ir_measures
from ir_measures import RR, P, Qrel, ScoredDoc
from rich.console import Console
from rich.table import Table

from benchmarks.comparing import comparing
from benchmarks.races import Race, expect, milliseconds
from webapp.importers import property_cards
from webapp.metrics.queries import QueryJudgments, summarise
from webapp.metrics.totals import Totals
from webapp.records import QueryState, Relevance

QUERIES = 300
RESULTS = 10
CARDS = 1_000

CARD = (
    "{n}. **[Rumah Cemara Asri {n}](https://example.org/listing/rumah-{n})**\n"
    "   - 📍 Cemara, Medan\n"
    "   - 💰 Rp 1.670.000.000\n"
    "   - 🏠 4 Kamar Tidur, 3 Kamar Mandi, LT 105.0m², LB 150m²\n"
)


def main() -> None:
    """Print the table; end with 1 when a yardstick does not agree with our figures."""
    table = Table("work", "ours, ms", "yardstick", "its ms", "ours / yardstick")
    for race in (parsing(), *judging(), *comparing()):
        ours, theirs = milliseconds(race.ours), milliseconds(race.theirs)
        ratio = f"{ours / theirs:.2f}"
        table.add_row(race.work, f"{ours:.1f}", race.yardstick, f"{theirs:.1f}", ratio)
    Console().print(table)


def parsing() -> Race:
    """Cards out of one long answer, against twenty times the answer of a twentieth."""
    long, short = answer(CARDS), answer(CARDS // 20)
    expect((len(property_cards.parse(long)),), (CARDS,))
    return Race(
        f"parse {CARDS} cards in one answer (linear: about 1)",
        lambda: property_cards.parse(long),
        f"20 answers of {CARDS // 20} cards",
        lambda: [property_cards.parse(short) for _ in range(20)],
    )


def answer(cards: int) -> str:
    """A chatbot answer that lists `cards` properties."""
    return "\n".join(CARD.format(n=n) for n in range(1, cards + 1))


def judging() -> Iterator[Race]:
    """The figures of one run: with their bounds, and the two that ir_measures also has."""
    chance = random.Random(5)  # noqa: S311
    verdicts = (Relevance.RELEVANT, Relevance.NOT_RELEVANT)
    rows = [tuple(chance.choices(verdicts, k=RESULTS)) for _ in range(QUERIES)]
    qrels, scored = trec(rows)
    expect(of_run(rows), of_run_by_ir_measures(qrels, scored))
    yield Race(
        f"every figure with its bounds, {QUERIES} queries x {RESULTS} results",
        lambda: of_run(rows),
        "ir_measures: P@5 and RR only",
        lambda: of_run_by_ir_measures(qrels, scored),
    )


def trec(rows: list[tuple[Relevance, ...]]) -> tuple[list[Qrel], list[ScoredDoc]]:
    """The same judgments and ranking in the form ir_measures reads."""
    ranked = [(str(q), str(r), row[r]) for q, row in enumerate(rows) for r in range(len(row))]
    qrels = [Qrel(q, r, int(verdict)) for q, r, verdict in ranked]
    return qrels, [ScoredDoc(q, r, -float(r)) for q, r, _ in ranked]


def of_run(rows: list[tuple[Relevance, ...]]) -> tuple[float, float]:
    """Mean P@5 and MRR out of the full summaries and their totals."""
    summaries = [summarise(QueryJudgments(QueryState.RESULTS, row)) for row in rows]
    Totals.of(summaries)
    precision = fmean(s.precision_at_5.value or 0 for s in summaries)
    return precision, fmean(s.reciprocal_rank.value or 0 for s in summaries)


def of_run_by_ir_measures(qrels: list[Qrel], scored: list[ScoredDoc]) -> tuple[float, float]:
    """Mean P@5 and MRR as ir_measures has them."""
    found = ir_measures.calc_aggregate([P @ 5, RR], qrels, scored)
    return found[P @ 5], found[RR]


if __name__ == "__main__":
    main()
