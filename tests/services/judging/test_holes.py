"""A result that could not be read keeps its rank and counts as one that is not relevant."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons import breakdowns
from relevansi.i18n import speaking
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.services.agreement import adjudications, agreement
from relevansi.services.comparisons import chosen_runs, comparisons
from relevansi.services.exports import exports
from relevansi.services.judging import judgments, stored_summaries, undoing
from relevansi.services.offline.runs import offline_run
from relevansi.services.planning import settled
from relevansi.services.proof_packs import packs
from relevansi.services.rating import open_pages, particulars
from relevansi.services.runs import reports, results, runs, stored_results
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.proof_packs.packs import verified
from tests.services.runs.runs import click

TWO = """\
system,query_id,query,rank,doc_id,text
bm25,q1,red dress,1,,
bm25,q1,red dress,2,d2,Dress in red
bm25,q1,red dress,3,d3,Blue shoes
dense,q1,red dress,1,d2,Dress in red
dense,q1,red dress,2,d3,Blue shoes
"""


@pytest.fixture(name="methods")
def _methods(session: Session, study: Study, rater: Rater) -> Mapping[str, str]:
    """The runs by their methods; d2 is relevant, d3 is not, and the first rank of bm25 a hole."""
    read = results.read_files("two.csv", [("two.csv", TWO.encode())])
    imported = stored_results.store(session, study, read, NOW)
    study.measures = ["P@1", "RR", "Judged@5", "nDCG@5"]
    session.commit()
    methods = {str(run.search_method): run.id for run in imported.runs}
    for rank, verdict in ((2, "1"), (3, "0")):
        at = click(f"{rank}")
        judgments.judge(session, rater, methods["bm25"], 1, rank, verdict, at)
    session.commit()
    return methods


def summary(session: Session, study: Study, run_id: str, rater: Rater) -> QuerySummary:
    [row] = reports.report(session, study, run_id, reports.of_rater(rater)).rows
    return row.summary


def test_figures_count_it_as_not_relevant_at_its_rank(
    session: Session, study: Study, rater: Rater, methods: Mapping[str, str]
) -> None:
    with_hole = summary(session, study, methods["bm25"], rater)
    without_hole = summary(session, study, methods["dense"], rater)

    assert with_hole.figures["mrr"].value == 0.5
    # One relevant of three: the hole is in the denominator.
    assert with_hole.figures["mean_precision_at_5"].value == pytest.approx(1 / 3)
    assert with_hole.figures["mean_overall_precision"].value == pytest.approx(1 / 3)
    assert (
        without_hole.figures["mean_overall_precision"].value
        == without_hole.figures["mean_precision_at_5"].value
        == 0.5
    )
    result = {name: span.value for name, span in with_hole.ranking.items()}
    assert result["P@1"] == 0.0
    assert result["Judged@5"] == 1.0
    assert result["RR"] == 0.5
    # Gain 1 at rank 2, of the gain 1 at rank 1: 1 / log2(3).
    assert result["nDCG@5"] == pytest.approx(0.6309297535714575)
    assert with_hole.complete
    assert stored_summaries.check(session) == []


def test_the_order_of_its_run_is_settled_exactly(
    session: Session, study: Study, rater: Rater, methods: Mapping[str, str]
) -> None:
    ordered_runs = runs.in_order(session, study)
    result = settled.settled_orders(session, study, ordered_runs, reports.of_rater(rater))
    orders = {order.figure: order for order in result.orders}

    precision = orders["mean_overall_precision"]
    assert [*result.names] == [methods["bm25"], methods["dense"]]
    assert precision.low == precision.high == pytest.approx(1 / 3 - 1 / 2)
    rank = orders["mrr"]
    assert rank.low == rank.high == pytest.approx(1 / 2 - 1)


@pytest.mark.usefixtures("rater")
def test_undo_agreement_and_adjudication_know_nothing_of_it(
    session: Session, study: Study, methods: Mapping[str, str]
) -> None:
    second = studies.add_rater(session, study, "Ani", NOW)
    for rank in (2, 3):
        judgments.judge(session, second, methods["bm25"], 1, rank, "1", click(f"a{rank}"))
    session.commit()
    cards = agreement.report(session, study).kinds[0]
    disputes = len(adjudications.docket(session, study).ties)
    undoing.undo_last(session, second, click("undo"), Event.rater_id == second.id)
    session.commit()

    assert [pair.n_rated for pair in cards.pairs.values()] == [2]
    assert disputes == 1
    assert not summary(session, study, methods["bm25"], second).complete
    assert stored_summaries.check(session) == []


def test_packs_verify_with_a_hole(
    session: Session, study: Study, rater: Rater, methods: Mapping[str, str]
) -> None:
    data = packs.pack(session, study, None, reports.of_rater(rater)).data

    assert methods
    assert verified(data).equal


def test_it_is_shown_at_its_rank_and_said_in_the_json_export(
    session: Session, study: Study, rater: Rater, methods: Mapping[str, str]
) -> None:
    """On the page of the question, beside the other run, and in the file without a server."""
    run_id, rule = methods["bm25"], reports.of_rater(rater)
    page = open_pages.rating_page(session, rater, run_id, 1)
    unfolded = particulars.of_answer(session, study, run_id, 1)
    compared = chosen_runs.compared_question(session, study, [*methods.values()], 1, rule)
    exported = {
        method: json.loads(exports.export(session, study, run, rule, "json").data)["queries"][0]
        for method, run in methods.items()
    }
    [offline] = offline_run(session, study, run_id).questions

    assert (page.holes, [card.number for card in page.cards]) == ((1,), [2, 3])
    assert unfolded.cards == {}
    assert [side.holes for side in compared.sides] == [(1,), ()]
    assert exported["bm25"]["holes"] == [1]
    assert [result["rank"] for result in exported["bm25"]["results"]] == [2, 3]
    assert "holes" not in exported["dense"]
    assert studies.is_blind(session, study)
    assert (offline.holes, [card.number for card in offline.cards]) == ((), [2, 3])
    studies.set_switches(session, study, replace(studies.switches(study), blind=False), NOW)
    [offline] = offline_run(session, study, run_id).questions
    assert offline.holes == (1,)


def test_a_comparison_counts_it_neither_as_judged_nor_as_to_be_judged(
    session: Session, study: Study, rater: Rater, methods: Mapping[str, str]
) -> None:
    """Of the hole, d2 and d3, d2 alone is judged: 1 of 2, not 2 of 3."""
    rule = reports.of_rater(rater)
    judgments.judge(session, rater, methods["bm25"], 1, 3, None, click("cleared", minute=1))

    report = comparisons.report(session, study, [*methods.values()], rule)
    compared = chosen_runs.compared_question(session, study, [*methods.values()], 1, rule)

    [line] = report.comparison.questions
    with speaking("en"):
        in_matrix = list(map(breakdowns.state, line.answers))
        beside = [breakdowns.state(side.answer) for side in compared.sides]

    assert in_matrix == beside == ["1 of 2 judged"] * 2
