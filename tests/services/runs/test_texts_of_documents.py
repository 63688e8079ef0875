"""Documents whose text is another than the study has under their id."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result
from relevansi.db.tables.study import Study
from relevansi.records import Click
from relevansi.services.exports import exports
from relevansi.services.judging import judgments
from relevansi.services.runs import reports, results, stored_results
from relevansi.services.runs.stored_results import StoredResults
from tests.conftest import NOW

HEADER = "system,query_id,query,doc_id,rank,text\n"
FIRST = f"""{HEADER}bm25,q1,how,kb1,1,Turn the tap off .
bm25,q1,how,kb2,2,Call a plumber
bm25,q2,why,kb1,1,Turn the tap off .
bm25,q2,why,kb3,2,Pipes are old
"""
MENDED = FIRST.replace("off .", "off.").replace("bm25", "dense").replace("Pipes", "Many pipes")


def imported(session: Session, study: Study, text: str, *, same: bool = False) -> StoredResults:
    read = results.read_files("r.csv", [("r.csv", text.encode())])
    process = stored_results.store(session, study, read, NOW, same_documents=same)
    session.flush()
    session.expire_all()
    return process


def remarks(stored: StoredResults) -> dict[str, object]:
    return {
        problem.code: problem.details["count"]
        for problem in stored.problems
        if "_texts_" in problem.code
    }


def texts(session: Session, run_id: str) -> list[str]:
    """The texts of a run's results, in their order."""
    listed = select(JudgedItem.card).join(Result).join(Query).where(Query.run_id == run_id)
    rows = session.scalars(listed.order_by(Query.id, Result.rank))
    return [card["text"] for card in rows if card]


@pytest.fixture(name="judged")
def _judged(session: Session, study: Study, rater: Rater) -> str:
    """The first run, of whose documents every one is relevant."""
    run_id = imported(session, study, FIRST).runs[0].id
    for number, query_id in enumerate((1, 2)):
        for rank in (1, 2):
            at = Click(f"c{number}{rank}", NOW)
            judgments.judge(session, rater, run_id, query_id, rank, "1", at)
    return run_id


def judged_results(session: Session, study: Study, run_id: str, rater: Rater) -> int:
    report = reports.report(session, study, run_id, reports.of_rater(rater))
    return sum(row.summary.judged_count for row in report.rows)


def test_documents_with_another_text_are_counted_once_each_and_judged_anew(
    session: Session, study: Study, rater: Rater, judged: str
) -> None:
    read = results.read_files("r.csv", [("r.csv", MENDED.encode())])
    before = stored_results.documents_that_differ(session, study, read.group.runs)
    response = imported(session, study, MENDED)

    # "off ." and "off." are one text without the dots that end it; "Many pipes" is another.
    assert before == 1
    assert remarks(response) == {"results_texts_differ": 1}
    assert judged_results(session, study, response.runs[0].id, rater) == 3
    assert texts(session, judged)[-1] == "Pipes are old"
    rule = reports.rule_of(session, study)
    listed = exports.export(session, study, response.runs[0].id, rule, "run").data.decode()
    assert "kb3/2" in listed


def test_the_same_documents_get_the_new_text_and_keep_their_verdicts(
    session: Session, study: Study, rater: Rater, judged: str
) -> None:
    verdicts = session.execute(select(Judgment.judged_item_id, Judgment.verdict)).all()
    response = imported(session, study, MENDED, same=True)

    assert remarks(response) == {"results_texts_replaced": 1}
    assert judged_results(session, study, response.runs[0].id, rater) == 4
    assert (
        texts(session, judged)[-1]
        == texts(session, response.runs[0].id)[-1]
        == "Many pipes are old"
    )
    assert session.execute(select(Judgment.judged_item_id, Judgment.verdict)).all() == verdicts
    assert len(session.scalars(select(Event)).all()) == 4
    again = imported(session, study, MENDED.replace("dense", "third"), same=True)
    assert remarks(again) == {}


def test_another_text_in_a_run_that_is_stored_already_is_said_and_replaced_on_request(
    session: Session, study: Study, judged: str
) -> None:
    changed = FIRST.replace("Pipes", "Many pipes")
    refused = imported(session, study, changed)
    texts_before = texts(session, judged)
    response = imported(session, study, changed, same=True)

    assert refused.runs[0].already_imported
    assert remarks(refused) == {"results_texts_kept": 1}
    assert texts_before[-1] == "Pipes are old"
    assert remarks(response) == {"results_texts_replaced": 1}
    assert texts(session, judged)[-1] == "Many pipes are old"


def test_a_text_that_was_cut_off_is_no_other_text(
    session: Session, study: Study, judged: str
) -> None:
    shorter = FIRST.replace("bm25", "dense").replace("Pipes are old", "Pipes...")
    response = imported(session, study, shorter)

    assert remarks(response) == {}
    assert texts(session, judged)[-1] == "Pipes are old"
