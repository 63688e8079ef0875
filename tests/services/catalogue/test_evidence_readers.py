"""Evidence where it is read: comparisons, adjudication, the gate."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons.files import FORMATS
from relevansi.i18n import speaking
from relevansi.importers.results.formats import Choices
from relevansi.metrics.comparisons.gate import GateRequest
from relevansi.metrics.judging.empty_answers import EmptyAnswerCounts
from relevansi.services.agreement import adjudications
from relevansi.services.comparisons import chosen_runs, comparisons, gate
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.catalogue.conftest import NOTHING, LookedUp
from tests.services.catalogue.pinned import judge
from tests.services.runs.runs import card, click, query, run, store


@pytest.fixture(name="second")
def _second(session: Session, study: Study, looked_up: LookedUp) -> str:
    """Another run of the same questions, which is empty at 2, 4 and 5."""
    assert looked_up.run_id
    shows = {1: card("a"), 3: card("b")}
    queries = (
        query(n, *([shows[n]] if n in shows else []), category="x" if n < 4 else "y")
        for n in range(1, 6)
    )
    return store(session, study, run(*queries, method="vector")).id


def test_a_comparison_says_what_looking_gave_and_names_the_evidence(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp, second: str
) -> None:
    run_ids, rule = [looked_up.run_id, second], reports.of_rater(rater)
    report = comparisons.report(session, study, run_ids, rule)

    document: Any = json.loads(FORMATS["json"].render(report, date(2026, 3, 1)))
    counts = [run["empty_answers"] for run in document["runs"]]
    # The second run is rightly empty at question 2 alone, which was looked up.
    assert [(run["correct_empty"], run["checked_share"]) for run in counts] == [(2, 0.5), (1, 1.0)]
    assert [(run["false_negatives"], run["evidence"]) for run in counts] == [(2, 2), (2, 2)]
    fourth = document["questions"][3]["answers"][second]
    assert (fourth["evidence"], fourth["searches"]) == (["slug:x", "slug:y"], 0)
    with speaking("en"):
        text = FORMATS["markdown"].render(report, date(2026, 3, 1)).decode()
    # Both runs share the verdicts on questions 2, 4 and 5: each is counted once.
    assert "Correct empty: 2, of these 1 after looking (2 searches)." in text
    assert "False negatives: 2, of these 1 with evidence: 2 properties that fit." in text
    assert "slug:y" in text


def test_the_page_of_a_question_names_what_fits(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp, second: str
) -> None:
    rule = reports.of_rater(rater)
    lists = chosen_runs.compared_question(session, study, [looked_up.run_id, second], 4, rule)

    assert [item.name for item in lists.evidence] == ["=Rumah X", "Y"]
    answers = [side.empty_answer for side in lists.sides]
    assert [answer.searches for answer in answers if answer] == [0, 0]


def test_adjudicators_of_an_empty_list_see_who_looked_and_what_fits(
    session: Session, study: Study, looked_up: LookedUp
) -> None:
    budi = studies.add_rater(session, study, "Budi", NOW)
    rating = AnswerRating(empty_outcome=NOTHING)
    judgments.rate(session, budi, looked_up.run_id, 4, rating, click("b", minute=9))
    [dispute] = adjudications.docket(session, study).ties

    votes = {vote.verdict: vote.looked_up for vote in adjudications.votes(session, study, dispute)}
    missed, nothing = votes["false_negative"], votes["correct_empty"]
    assert missed is not None
    assert [item.identity for item in missed.evidence] == ["slug:x", "slug:y"]
    assert nothing is not None
    assert (nothing.searches, nothing.evidence) == (0, ())


def test_raters_who_disagree_on_evidence_are_a_dispute(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    budi = studies.add_rater(session, study, "Budi", NOW)
    first, _ = looked_up.pinned
    judge(session, budi, first, "0")
    [dispute] = adjudications.docket(session, study).ties
    assert dispute.card is not None
    assert dispute.item_id == first

    adjudications.adjudicate(session, rater, first, "1", "It fits", NOW)

    settled = reports.empty_answers(
        session, study, reports.asked_of(looked_up.run_id), Rule("adjudicated")
    )
    evidence = [item.item_id for answer in settled.values() for item in answer.evidence]
    assert evidence == [*looked_up.pinned]


def test_a_gate_says_that_nobody_checked_empty_answers_and_passes(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    listed = {"query_id": 1, "question": "Question 1", "category": "location"}
    response = "1. **A**\n   🔗 [Lihat Detail](https://x.id/a)"
    results = [{**listed, "success": True, "response": response, "results_count": 1}]
    for n, category in ((2, "x"), (3, "x"), (4, "y"), (5, "y")):
        entry = {"query_id": n, "question": f"Question {n}", "category": category}
        results.append({**entry, "success": True, "response": "Tidak ada.", "results_count": 0})
    file = {"search_method": "new", "total_questions": 5, "successful": 5, "results": results}
    gated = gate.read(study, [("test_results.json", json.dumps(file).encode())], Choices())
    request = GateRequest(baseline=looked_up.run_id, min_judged=0, rule=f"rater {rater.name}")

    report = gate.gate(session, study, gated, request)

    assert report.exit_code == 0
    assert report.empty_answers == EmptyAnswerCounts(2, 1, 2, 2, 1, 2)
