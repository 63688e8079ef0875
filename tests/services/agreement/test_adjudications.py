"""Adjudication settles what raters dispute, ties first, and every step is kept."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome
from relevansi.services.agreement import adjudications
from relevansi.services.agreement.adjudications import (
    Dispute,
    NotDisputed,
    UnknownItem,
)
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating, NotToJudge
from relevansi.services.judging.reasons import ReasonMissing
from relevansi.services.runs import reports, runs
from relevansi.services.runs.votes import Provenance, provenances
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study
from tests.services.runs.runs import NO, UNSURE, YES, card, click, query, run, store

VOTES = {
    "a": (YES, YES, YES, YES),
    "b": (YES, YES, YES, NO),  # margin 2/4
    "c": (YES, NO, UNSURE, None),  # margin 0, two votes
    "d": (YES, NO, YES, NO),  # margin 0, four votes
    "e": (YES, NO, YES, UNSURE),  # margin 1/3
    "f": (UNSURE, UNSURE, None, None),
    "g": (YES, None, None, None),
    "h": (None, None, None, None),
}
"""The four raters' verdicts on each card; None is unjudged."""


@pytest.fixture(name="raters")
def _raters(session: Session, study: Study, rater: Rater) -> list[Rater]:
    rater.name = "Ani"
    others = [studies.add_rater(session, study, name, NOW) for name in ("Budi", "Citra", "Dedi")]
    return [rater, *others]


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study, raters: list[Rater]) -> str:
    queries = (query(1, *(card(slug) for slug in VOTES)), query(2))
    run_id = store(session, study, run(*queries)).id
    for rank, (slug, votes) in enumerate(VOTES.items(), start=1):
        for rater, vote in zip(raters, votes, strict=True):
            if vote is not None:
                event = click(f"{slug}-{rater.id}")
                judgments.judge(session, rater, run_id, 1, rank, vote, event)
    return run_id


def item_id(session: Session, slug: str) -> int:
    ids = select(JudgedItem.id).join(StoredItem).where(StoredItem.identity == f"slug:{slug}")
    return session.scalars(ids).one()


def slugs(disputes: tuple[Dispute, ...]) -> list[str | None]:
    return [
        dispute.card.identity.removeprefix("slug:") if dispute.card else None
        for dispute in disputes
    ]


@pytest.mark.usefixtures("run_id")
def test_ties_come_first_then_the_closest_vote(session: Session, study: Study) -> None:
    docket = adjudications.docket(session, study)

    assert slugs(docket.ties) == ["c", "d"]
    assert slugs(docket.majorities) == ["e", "b"]  # margins 1/3 and 2/4
    assert [majority.label for majority in docket.majorities] == [YES, YES]
    assert docket.n_items == 9  # eight cards and an empty list
    set_study(session, study, pool_depth=7)  # h is below it
    assert adjudications.docket(session, study).n_items == 8


def test_names_are_hidden_and_numbers_are_drawn_for_every_card(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    tie = adjudications.docket(session, study).ties[1]
    votes = adjudications.votes(session, study, tie)

    assert not adjudications.names_shown(session, study)
    assert all(vote.name is None for vote in votes)
    assert [vote.number for vote in votes] == [1, 2, 3, 4]
    assert sorted(vote.verdict for vote in votes) == ["0", "0", "1", "1"]

    adjudications.show_names(session, raters[0], is_shown=True, now=NOW)
    judgments.give_reason_of_item(session, raters[0], tie.item_id, "price", click("q"))  # relevant
    judgments.give_reason_of_item(session, raters[1], tie.item_id, "price", click("r"))
    judgments.rate(session, raters[1], run_id, 1, AnswerRating(notes="too far"), click("n"))
    judgments.rate(session, raters[1], run_id, 2, AnswerRating(notes="elsewhere"), click("m"))
    votes = adjudications.votes(session, study, tie)
    assert [vote.notes for vote in votes] == [(), ("too far",), (), ()]
    assert [vote.reason for vote in votes] == [None, "price", None, None]
    assert [vote.name for vote in votes] == ["Ani", "Budi", "Citra", "Dedi"]
    assert [vote.verdict for vote in votes] == ["1", "0", "1", "0"]
    logged = session.scalars(select(LogEntry)).all()[-1]
    assert (logged.action, logged.subject, logged.new) == ("show rater names", "Ani", "True")


def test_a_settlement_decides_under_the_rule_and_majority_where_it_is_silent(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    adjudications.adjudicate(session, raters[0], item_id(session, "d"), NO, "a shop", NOW)
    adjudications.adjudicate(session, raters[0], item_id(session, "b"), NO, "rented", NOW)
    scope = Query.run_id == run_id

    def label(slug: str, rule: str) -> str | None:
        chosen = reports.rule_of(session, study, rule)
        verdicts = reports.verdicts_under(session, study, scope, chosen)
        return verdicts.relevance(item_id(session, slug))

    assert [label(slug, "majority") for slug in "abcde"] == [YES, YES, None, None, YES]
    assert [label(slug, "adjudicated") for slug in "abcde"] == [YES, NO, None, NO, YES]
    result = provenances(session, study, scope)
    assert result[item_id(session, "b")] is Provenance.ADJUDICATED
    # d is settled and c tied; under majority neither is in the precision of what was judged.
    majority = reports.report(session, study, run_id, reports.rule_of(session, study, "majority"))
    settled = reports.report(session, study, run_id, reports.rule_of(session, study, "adjudicated"))
    assert majority.rows[0].summary.relevant_count == 4  # a b e g
    assert settled.rows[0].summary.relevant_count == 3  # a e g
    assert settled.rows[0].summary.not_relevant_count == 2  # b d


def test_a_settlement_can_be_changed_and_withdrawn_and_all_is_logged(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    disputed = item_id(session, "d")
    before = [
        adjudications.adjudicate(session, raters[0], disputed, NO, "a shop", NOW),
        adjudications.adjudicate(session, raters[1], disputed, YES, " a house ", NOW),
        adjudications.adjudicate(session, raters[1], disputed, NO, None, NOW),
    ]
    assert before == [None, NO, YES]
    _, tie = adjudications.docket(session, study).ties
    assert tie.settlement is not None
    assert (tie.settlement.verdict, tie.settlement.reason) == ("0", "a house")
    assert (tie.settlement.by, tie.settlement.at) == ("Budi", NOW)
    assert tie.is_disputed
    for rater in raters[::2]:
        judgments.judge(session, rater, run_id, 1, 4, NO, click(f"again {rater.id}", minute=5))
    agreed, *_ = adjudications.docket(session, study).majorities[::-1]
    assert (agreed.item_id, agreed.is_disputed) == (disputed, False)  # they agree by now
    adjudications.withdraw(session, raters[0], disputed, NOW)
    session.flush()

    docket = adjudications.docket(session, study)
    assert disputed not in {dispute.item_id for dispute in (*docket.ties, *docket.majorities)}
    rows = session.scalars(select(LogEntry).order_by(LogEntry.id)).all()
    assert [(row.action, row.subject, row.old, row.new) for row in rows] == [
        ("adjudicate", "1 slug:d/1", None, "0 (Ani): a shop"),
        ("adjudicate", "1 slug:d/1", "0 (Ani): a shop", "1 (Budi): a house"),
        ("adjudicate", "1 slug:d/1", "1 (Budi): a house", "0 (Budi): a house"),
        ("withdraw adjudication", "1 slug:d/1", "0 (Budi): a house", "(Ani)"),
    ]


@pytest.mark.usefixtures("run_id")
def test_a_settlement_needs_a_dispute_and_a_verdict_of_its_kind_and_a_reason_where_asked(
    session: Session, study: Study, raters: list[Rater]
) -> None:
    for slug in "afgh":
        with pytest.raises(NotDisputed):
            adjudications.adjudicate(session, raters[0], item_id(session, slug), NO, "why", NOW)
    with pytest.raises(UnknownItem):
        adjudications.adjudicate(session, raters[0], 10_000, NO, "why", NOW)
    disputed = item_id(session, "d")
    adjudications.adjudicate(session, raters[0], item_id(session, "c"), NO, "", NOW)
    set_study(session, study, reason_required=True)
    with pytest.raises(ReasonMissing):
        adjudications.adjudicate(session, raters[0], disputed, NO, " \n", NOW)
    with pytest.raises(NotToJudge):
        adjudications.adjudicate(session, raters[0], disputed, "correct_empty", "why", NOW)


def test_emptiness_is_settled_like_a_card(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    for rater, outcome in zip(raters, EmptyOutcome, strict=False):
        rating = AnswerRating(empty_outcome=outcome)
        judgments.rate(session, rater, run_id, 2, rating, click(f"e{rater.id}"))
    (tie,) = [tie for tie in adjudications.docket(session, study).ties if tie.card is None]
    why = "seen on the site"
    false_negative = EmptyOutcome.FALSE_NEGATIVE
    adjudications.adjudicate(session, raters[0], tie.item_id, false_negative, why, NOW)

    rule = reports.rule_of(session, study, "adjudicated")
    report = reports.report(session, study, run_id, rule)
    assert report.rows[1].summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE


def test_a_follow_up_is_shown_with_its_conversation(
    session: Session, study: Study, raters: list[Rater]
) -> None:
    follow_up = query(2, card("z"), text="Other choices?", context_dependent=True)
    stored = run(query(1, card("y"), text="A house?"), follow_up)
    run_id = store(session, study, stored).id
    for rater, verdict in zip(raters, (YES, NO), strict=False):
        judgments.judge(session, rater, run_id, 2, 1, verdict, click(f"z{rater.id}"))
    (tie,) = adjudications.docket(session, study).ties

    earlier = adjudications.conversation(session, tie)
    assert [turn.question for turn in earlier] == ["A house?"]
    adjudications.adjudicate(session, raters[0], tie.item_id, YES, "why", NOW)
    session.flush()
    runs.delete_run(session, study, run_id, NOW)
    assert adjudications.docket(session, study).ties == ()
