"""Ranking figures that every click keeps: those of ``graded``, whatever was clicked before."""

from __future__ import annotations

import random
from typing import Any

import ir_measures
import pytest
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Result, Run
from relevansi.db.tables.study import Study
from relevansi.metrics.judging.figures import Totals, figures, totals
from relevansi.services.exports import exports
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.judging.stored_summaries import RunProgress
from relevansi.services.runs import reports
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.judging.ranked_studies import make_graded, store_lists, store_qrels
from tests.services.judging.rater_rows import summary
from tests.services.runs.runs import card, click, query, run, store

judge: Any = judgments.judge  # whose verdicts were once those of a binary scale alone
NAMES = ("nDCG@10", "P@5", "AP", "RR", "recall@5", "bpref", "ERR@10", "RBP", "P@50", "infAP")


@pytest.mark.parametrize("seed", range(2))
def test_stored_figures_are_those_computed_anew(
    session: Session, study: Study, rater: Rater, seed: int
) -> None:
    """Lists with shared documents, tails, a document twice, an empty list, qrels of others."""
    make_graded(session, study, *NAMES)
    drawn = random.Random(seed)
    docs = [f"d{number}" for number in range(14)]
    names = ("q1", "q2", "q3")
    for method in ("bm25", "dense", "hybrid"):
        lists = {name: drawn.sample(docs, 8) for name in names}
        lists["q1"][2] = lists["q1"][0]
        if method == "dense":
            lists["q3"] = []
        store_lists(session, study, method, lists, depth=5)
    assert stored_summaries.check(session) == []

    qrels = {
        name: {doc_id: drawn.choice("0123") for doc_id in drawn.sample(docs, 4)} for name in names
    }
    store_qrels(session, study, rater, qrels)
    assert stored_summaries.check(session) == []
    runs = session.scalars(select(Run.id)).all()
    cards = [
        (run_id, query_id, rank)
        for run_id in runs
        for query_id in (1, 2, 3)
        for rank in range(1, summary(session, rater, run_id, query_id).results_count + 1)
    ]
    for number in range(30):
        place = drawn.choice(cards)
        verdict = drawn.choice(["0", "1", "2", "3", "unsure", None])
        judge(session, rater, *place, verdict, click(f"e{number}", minute=number))
        if number % 10 == 9:
            judgments.undo(session, rater, place[0], click(f"u{number}", minute=number))
    assert stored_summaries.check(session) == []


def test_a_check_finds_a_changed_figure(session: Session, study: Study, rater: Rater) -> None:
    make_graded(session, study)
    run_id = store_lists(session, study, "bm25", {"q": ["a", "b"]})
    judge(session, rater, run_id, 1, 2, "3", click("e"))
    assert stored_summaries.check(session) == []
    row = summary(session, rater, run_id, 1)
    row.figures = dict(row.figures, **{"P@5": [1.0, 1.0, 1.0]})
    session.flush()

    ((_, *result),) = stored_summaries.check(session)
    assert result[:3] == [run_id, 1, "figures"]


def test_page_command_and_sums_have_the_same_figures(
    session: Session, study: Study, rater: Rater
) -> None:
    make_graded(session, study, *NAMES)
    docs = [f"d{number}" for number in range(9)]
    lists = {f"q{number}": docs[number:] + docs[:number] for number in range(7)}
    run_id = store_lists(session, study, "bm25", lists, depth=6)
    for number, query_id in enumerate(range(1, 8)):
        judge(
            session, rater, run_id, query_id, 1 + number % 6, str(number % 4), click(f"e{number}")
        )

    parts = stored_summaries.by_category(session, rater.id, run_id)
    live = figures(RunProgress.together(parts.values()).totals, NAMES)
    report = reports.report(session, study, run_id, reports.of_rater(rater))
    assert report.headline == NAMES
    again = figures(Totals.of(row.summary for row in report.rows), NAMES)
    for name, figure in again.items():
        for part in ("value", "lower", "upper", "n", "of"):
            assert getattr(figure, part) == pytest.approx(getattr(live[name], part)), (name, part)
    by_majority = reports.report(
        session, study, run_id, reports.rule_of(session, study, "majority")
    )
    assert [row.summary for row in by_majority.rows] == [row.summary for row in report.rows]


def test_grades_of_several_raters_are_merged_by_their_median(
    session: Session, study: Study, rater: Rater
) -> None:
    make_graded(session, study, "nDCG@10")
    run_id = store_lists(session, study, "bm25", {"q": ["a", "b"]})
    people = [rater, *(studies.add_rater(session, study, name, NOW) for name in ("Ani", "Budi"))]
    for who, grade in zip(people, "013", strict=True):
        judge(session, who, run_id, 1, 1, grade, click(f"e{grade}"))
        judge(session, who, run_id, 1, 2, "2", click(f"f{grade}"))

    rule = reports.rule_of(session, study, "majority")
    (row,) = reports.report(session, study, run_id, rule).rows
    # 1 and 2 against 2 and 1: (1 + 2 / log2(3)) / (2 + 1 / log2(3))
    assert row.summary.figures["nDCG@10"].value == pytest.approx(2.2618595 / 2.6309298)
    study.merging = "majority"
    (row,) = reports.report(session, study, run_id, rule).rows
    assert row.summary.figures["Judged@10"].value == 0.5  # three grades, three votes: open


def test_a_study_of_properties_runs_one_statement_to_read(
    session: Session, study: Study, rater: Rater
) -> None:
    read = run(query(1, card("a"), card("b")))
    run_id = store(session, study, read).id
    statements: list[str] = []
    engine = session.get_bind()
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    item, rater_id = session.scalars(select(Result.judged_item_id)).first(), rater.id
    statements.clear()
    stored_summaries.refresh_touched(session, rater_id, item, None)
    reads = [statement for statement in statements if statement.lstrip().startswith("SELECT")]

    assert len(reads) == 1
    assert stored_summaries.summary(summary(session, rater, run_id, 1)).ranking == {}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("seed", range(3))
def test_the_figures_named_trec_eval_are_those_of_the_files_exported(
    session: Session, study: Study, rater: Rater, seed: int
) -> None:
    """A half-judged study with documents listed twice, an empty list and cannot tell."""
    measures = {
        "P@5 (trec_eval)": ir_measures.P(rel=2) @ 5,
        "nDCG@10 (trec_eval)": ir_measures.nDCG @ 10,
        "recall@5 (trec_eval)": ir_measures.R(rel=2) @ 5,
        "R-precision (trec_eval)": ir_measures.Rprec(rel=2),
        "AP (trec_eval)": ir_measures.AP(rel=2),
        "bpref (trec_eval)": ir_measures.Bpref(rel=2),
    }
    make_graded(session, study, *measures)
    drawn = random.Random(seed)
    docs = [f"d{number}" for number in range(12)]
    questions = [f"q{number}" for number in range(1, 9)]
    lists = {name: drawn.sample(docs, 8) for name in questions}
    lists["q1"][3] = lists["q1"][5] = lists["q1"][0]
    lists["q2"][1] = lists["q2"][0]
    lists["q3"] = []
    run_id = store_lists(session, study, "bm25", lists)
    for number, name in enumerate(questions[:6], 1):  # nobody judges the last two
        for rank in range(1, len(lists[name]) + 1):
            verdict = drawn.choice(["0", "1", "2", "3", "unsure", None])
            if verdict is not None:
                judge(session, rater, run_id, number, rank, verdict, click(f"{number}-{rank}"))
    store_qrels(session, study, rater, {"q3": {"d1": "2"}})

    rule = reports.rule_of(session, study)
    read: Any = ir_measures
    written = [exports.export(session, study, run_id, rule, name) for name in ("qrels", "run")]
    qrels = list(read.read_trec_qrels(written[0].data.decode()))
    listed = list(read.read_trec_run(written[1].data.decode()))
    theirs = ir_measures.calc_aggregate([*measures.values()], qrels, listed)
    report = reports.report(session, study, run_id, rule)
    ours = figures(totals(report), tuple(measures))
    with_lines = {qrel.query_id for qrel in qrels}
    assert 0 < len(with_lines) < len(questions)
    for name, measure in measures.items():
        assert ours[name].n == len(with_lines), name
        assert ours[name].value == pytest.approx(theirs[measure], abs=1e-9), name


def test_a_document_listed_again_gains_nothing_and_r_is_the_same_for_every_run(
    session: Session, study: Study, rater: Rater
) -> None:
    """Relevant are d1 and d4, d3 is not; one run lists d1 three times."""
    names = ("recall@5", "R-precision", "AP", "P@5", "nDCG@5", "Judged@5")
    make_graded(session, study, *names)
    once = store_lists(session, study, "dense", {"q": ["d1", "d3", "d4"]})
    again = store_lists(session, study, "bm25", {"q": ["d1", "d1", "d1"]})
    store_qrels(session, study, rater, {"q": {"d1": "2", "d3": "0", "d4": "2"}})
    ours = {
        run_id: {
            name: stored_summaries.summary(summary(session, rater, run_id, 1)).figures[name].value
            for name in names
        }
        for run_id in (once, again)
    }
    # dense: both of 2; AP (1 + 2/3) / 2. bm25: one of 2 at rank 1, then nothing.
    assert [ours[once][name] for name in names[:4]] == pytest.approx([1, 0.5, 5 / 6, 2 / 3])
    assert [ours[again][name] for name in names[:4]] == pytest.approx([0.5, 0.5, 0.5, 1 / 3])
    ideal = 2 + 2 / 1.5849625007211562  # log2(3)
    assert ours[again]["nDCG@5"] == pytest.approx(2 / ideal)
    assert ours[again]["Judged@5"] == 1.0
