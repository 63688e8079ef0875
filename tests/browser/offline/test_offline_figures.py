from __future__ import annotations

import random
from typing import Any, get_args

import pytest
from playwright.sync_api import Browser

from relevansi import notation
from relevansi.exporters.exports.csv_ratings import rated_csv
from relevansi.exporters.frame.csv_cells import cell_text
from relevansi.exporters.offline.page import bundle
from relevansi.i18n import speaking
from relevansi.metrics.judging.figures import QueryRow, RunReport, figures, totals
from relevansi.metrics.judging.queries import (
    MEANS,
    QueryJudgments,
    as_counted,
    suggested_quality,
    summarise,
)
from relevansi.records import CannotTell, EmptyOutcome, QueryState, Relevance

RUNS = 60
NOTES = (
    "baik;=1+1",
    *("", "", "bagus", "=1+1", "'=1+1", "\t@x", "\uff1d1", 'a "b", c', "satu\ndua", "a\r\nb\rc"),
    *("call failed", "Own words: call failed", "own words: cannot tell: rank 2", " spasi "),
    *("Cannot tell (not relevant): rank 3", "own words: cannot tell (not relevant): rank 3"),
    *("unreadable an\u017fwer", "no data exists", "ünïcode 🏠", "-", ","),
)
SCRIPT = """(runs) => {
  %s
  const { figures, MEANS, span, suggestedQuality } = parts["figures.js"];
  return runs.map((queries) => ({
    figures: figures(queries),
    spans: queries.map((query) => Object.values(MEANS).map((name) => span(name, query))),
    suggested: queries.map(suggestedQuality),
    csv: parts["csv.js"].ratedCsv(queries),
  }));
}"""
PRINTED = """(values) => {
  %s
  return values.map((value) => parts["table.js"].twoDecimals(value, ","));
}"""


def script(source: str) -> str:
    names = ("figures.js", "csv.js", "table.js")
    return source % bundle({name: f"offline/{name}" for name in names})


def row(dice: random.Random, number: int, cannot_tell: CannotTell) -> QueryRow:
    state = dice.choice([QueryState.RESULTS] * 5 + list(QueryState))
    length = dice.choice((1, 2, 3, 5, 6, 10, 32, 33)) if state is QueryState.RESULTS else 0
    choices: list[Relevance | None] = [*Relevance] if dice.random() < 0.6 else [*Relevance, None]
    weights = [dice.random() for _ in choices]
    verdicts = tuple(dice.choices(choices, weights, k=length))
    judgments = QueryJudgments(
        state=state,
        verdicts=verdicts,
        empty_outcome=dice.choice((None, *EmptyOutcome)) if state is QueryState.EMPTY else None,
        quality=dice.choice((None, 0, 1, 2, 3, 4, 5)),
    )
    question = dice.choice(("Rumah di Cemara?", "=SUM(A1)", 'Kata "dia", ya?'))
    notes = dice.choice(NOTES)
    summary = summarise(judgments, cannot_tell=cannot_tell)
    return QueryRow(number, question, "harga", notes, summary, verdicts)


def as_script_has_it(row: QueryRow, cannot_tell: CannotTell) -> dict[str, Any]:
    summary = row.summary
    unreadable = summary.state is QueryState.UNREADABLE
    count = None if unreadable else summary.results_count
    return {
        "state": str(summary.state),
        "verdicts": [verdict and str(verdict) for verdict in row.verdicts],
        "outcome": summary.empty_outcome and str(summary.empty_outcome),
        "quality": summary.quality,
        "notes": row.notes,
        "cannot_tell": cannot_tell,
        "cells": [cell_text(cell) for cell in (row.query_id, row.question, row.category, count)],
    }


def rounded(figure: dict[str, float | None]) -> dict[str, float | None]:
    return {side: value and round(value, 12) for side, value in figure.items()}


@pytest.mark.browser
@pytest.mark.parametrize("cannot_tell", get_args(CannotTell))
def test_random_ratings_give_the_same_figures_and_the_same_csv(
    browser: Browser, cannot_tell: CannotTell
) -> None:
    dice = random.Random(20260301)
    runs = [[row(dice, n, cannot_tell) for n in range(1, dice.randint(1, 12))] for _ in range(RUNS)]
    page = browser.new_page()
    arguments = [[as_script_has_it(row, cannot_tell) for row in rows] for rows in runs]
    result = page.evaluate(script(SCRIPT), arguments)
    page.close()

    for rows, computed in zip(runs, result, strict=True):
        report = RunReport("r", "rater Ani", tuple(rows), cannot_tell=cannot_tell)
        expected = {
            name: {side: getattr(figure, side) for side in ("value", "lower", "upper", "n", "of")}
            for name, figure in figures(totals(report)).items()
        }
        assert {name: rounded(figure) for name, figure in computed["figures"].items()} == {
            name: rounded(figure) for name, figure in expected.items()
        }
        spans = [[row.summary.figures[name] for name in MEANS] for row in rows]
        assert computed["spans"] == [
            [{"value": s.value, "lower": s.lower, "upper": s.upper} for s in figure]
            for figure in spans
        ]
        assert computed["suggested"] == [
            suggested_quality(row.summary.state, as_counted(row.verdicts, cannot_tell=cannot_tell))
            for row in rows
        ]
        assert computed["csv"] == rated_csv(report).decode()


@pytest.mark.browser
def test_a_figure_is_printed_as_the_app_prints_it(browser: Browser) -> None:
    shares = [top / bottom for bottom in range(1, 65) for top in range(bottom + 1)]
    values = [*shares, 0.125, 0.155, 0.285, 2.675, 4.995, 5.0, 0.995, 3.6666666666666665]
    page = browser.new_page()
    result = page.evaluate(script(PRINTED), values)
    page.close()

    with speaking("id"):
        assert result == [notation.figure(value) for value in values]
