"""A made-up study of two runs and two raters in which every state of an answer occurs."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome, QueryState, Relevance
from relevansi.services.agreement import adjudications
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import NO, UNSURE, YES, card, click, query, run, store

QUERIES = (
    query(1, card("a"), card("b"), card("c"), category="x"),
    query(2, card("d"), card("e"), card("d"), category="x"),
    query(3, category="y"),
    query(4, state=QueryState.FAILED, category="y"),
    query(5, state=QueryState.UNREADABLE, category="y"),
    query(6, card("f"), category="context_more", context_dependent=True),
    query(7, card("g"), category="y"),
)

OTHERS = (
    query(1, card("b"), card("h"), category="x"),
    query(2, category="x"),
    query(3, card("d"), category="y"),
    query(6, card("f"), category="context_more", context_dependent=True),
)


def rated_study(session: Session, study: Study) -> tuple[str, str]:
    """Rate two runs by two raters so that every state occurs; return the runs' ids.

    Run 1, query 1: Ani no, yes, cannot tell and Budi yes, yes, no; the first is settled as
    relevant. Query 2: Ani yes, no, yes. Query 3 is empty. Query 7 stays open.
    """
    ani, *_ = studies.raters(session, study)
    budi = studies.add_rater(session, study, "Budi, =B", NOW)
    first = store(session, study, run(*QUERIES, method="hybrid")).id
    second = store(session, study, run(*OTHERS, method="api")).id
    ratings = [
        (ani, first, 1, (NO, YES, UNSURE)),
        (budi, first, 1, (YES, YES, NO)),
        (ani, first, 2, (YES, NO)),
        (ani, first, 6, (YES,)),
        (ani, second, 1, (YES, NO)),
        (budi, second, 3, (NO,)),
        (ani, second, 6, (NO,)),
    ]
    for number, (rater, run_id, query_id, verdicts) in enumerate(ratings):
        for rank, verdict in enumerate(verdicts, start=1):
            event = click(f"e{number}-{rank}", minute=number)
            judgments.judge(session, rater, run_id, query_id, rank, verdict, event)
    judgments.judge(session, ani, first, 1, 2, NO, click("slip", minute=20))
    judgments.undo(session, ani, first, click("undo", minute=21))
    empty = AnswerRating(quality=0, empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    judgments.rate(session, ani, first, 3, empty, click("r1", minute=22))
    noted = AnswerRating(quality=3, notes='=1+1;\r\n"fine"')
    judgments.rate(session, ani, first, 1, noted, click("r2", minute=23))
    judgments.rate(
        session, budi, first, 1, AnswerRating(quality=4, notes="ok"), click("r3", minute=24)
    )
    _settle(session, study, "slug:a", YES)
    session.flush()
    return first, second


def _settle(session: Session, study: Study, identity: str, verdict: Relevance) -> None:
    item = session.scalars(
        select(JudgedItem.id).join(StoredItem).where(StoredItem.identity == identity)
    ).one()
    owner = studies.raters(session, study)[0]
    adjudications.adjudicate(session, owner, item, verdict, "The price\nfits.", NOW)
