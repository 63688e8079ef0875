"""Adjudication settles what raters dispute, with a reason, and every step is kept."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome, Relevance
from relevansi.services.agreement import adjudications
from relevansi.services.agreement.adjudications import (
    NotDisputed,
    ReasonMissing,
    UnknownThing,
)
from relevansi.services.judging import events
from relevansi.services.judging.events import AnswerRating, NotToJudge
from relevansi.services.runs import reports, runs, stored_runs
from relevansi.services.runs.reports import LabelCounts, Provenance
from relevansi.services.runs.stored_runs import Labels
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study
from tests.services.runs.runs import card, click, query, run

YES, NO, UNSURE = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE
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
    run_id = stored_runs.store(session, study, run(*queries), Labels(), NOW).id
    for rank, (slug, votes) in enumerate(VOTES.items(), start=1):
        for rater, vote in zip(raters, votes, strict=True):
            if vote is not None:
                made = click(f"{slug}-{rater.id}")
                events.judge(session, rater, run_id, 1, rank, vote, made)
    return run_id


def thing(session: Session, slug: str) -> int:
    wanted = select(JudgedItem.id).join(StoredItem).where(StoredItem.identity == f"slug:{slug}")
    return session.scalars(wanted).one()


@pytest.mark.usefixtures("run_id")
def test_the_closest_vote_comes_first_and_every_label_says_where_it_comes_from(
    session: Session, study: Study
) -> None:
    docket = adjudications.docket(session, study)

    assert [one.card.identity[5:] if one.card else None for one in docket.open] == [
        "d",
        "c",
        "e",
        "b",
    ]
    # a, f, g one voice; b, e by majority; c, d tied; h and the empty list unjudged.
    assert docket.counts == LabelCounts(
        unanimous=3, majority=2, open=4, alone=1, cannot_tell=1, tied=2, unjudged=2
    )
    assert docket.counts.total == 9
    set_study(session, study, pool_depth=7)  # h is below it
    assert adjudications.docket(session, study).counts == replace(docket.counts, open=3, unjudged=1)


def test_names_are_hidden_and_numbers_are_drawn_for_every_card(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    docket = adjudications.docket(session, study)

    assert not docket.names_shown
    assert all(vote.name is None for one in docket.open for vote in one.votes)
    assert [vote.number for vote in docket.open[0].votes] == [1, 2, 3, 4]
    assert docket.open[0].tally == {"0": 2, "1": 2}
    assert "Budi" not in repr(docket)

    adjudications.show_names(session, raters[0], is_shown=True, now=NOW)
    events.rate(session, raters[1], run_id, 1, AnswerRating(notes="too far"), click("n"))
    events.rate(session, raters[1], run_id, 2, AnswerRating(notes="elsewhere"), click("m"))
    shown = adjudications.docket(session, study)
    assert [vote.notes for vote in shown.open[0].votes] == [(), ("too far",), (), ()]
    assert [vote.name for vote in shown.open[0].votes] == ["Ani", "Budi", "Citra", "Dedi"]
    assert [vote.verdict for vote in shown.open[0].votes] == ["1", "0", "1", "0"]
    logged = session.scalars(select(LogEntry)).all()[-1]
    assert (logged.action, logged.subject, logged.new) == ("show rater names", "Ani", "True")


def test_a_settlement_decides_under_the_rule_and_majority_where_it_is_silent(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    adjudications.adjudicate(session, raters[0], thing(session, "d"), NO, "a shop", NOW)
    adjudications.adjudicate(session, raters[0], thing(session, "b"), NO, "rented", NOW)
    scope = Query.run_id == run_id

    def label(slug: str, rule: str) -> str | None:
        chosen = reports.rule_of(session, study, rule)
        said = reports.verdicts_under(session, study, scope, chosen)
        return said.relevance(thing(session, slug))

    assert [label(slug, "majority") for slug in "abcde"] == [YES, YES, None, None, YES]
    assert [label(slug, "adjudicated") for slug in "abcde"] == [YES, NO, None, NO, YES]
    found = reports.provenances(session, study, scope)
    assert found[thing(session, "b")] is Provenance.ADJUDICATED
    # d is settled and c tied; under majority neither is in the precision of what was judged.
    majority = reports.report(session, study, run_id, reports.rule_of(session, study, "majority"))
    settled = reports.report(session, study, run_id, reports.rule_of(session, study, "adjudicated"))
    assert majority.rows[0].summary.relevant_count == 4  # a b e g
    assert settled.rows[0].summary.relevant_count == 3  # a e g
    assert settled.rows[0].summary.not_relevant_count == 2  # b d


def test_a_settlement_can_be_changed_and_withdrawn_and_all_is_logged(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    disputed = thing(session, "d")
    adjudications.adjudicate(session, raters[0], disputed, NO, "a shop", NOW)
    adjudications.adjudicate(session, raters[1], disputed, YES, " a house ", NOW)
    (settled,) = adjudications.docket(session, study).settled
    assert settled.settlement is not None
    assert (settled.settlement.verdict, settled.settlement.reason) == ("1", "a house")
    assert (settled.settlement.by, settled.settlement.at) == ("Budi", NOW)
    assert settled.disputed
    for rater in raters[::2]:
        events.judge(session, rater, run_id, 1, 4, NO, click(f"again {rater.id}", minute=5))
    assert not adjudications.docket(session, study).settled[0].disputed  # they agree by now
    adjudications.withdraw(session, raters[0], disputed, NOW)
    session.flush()

    assert adjudications.docket(session, study).settled == ()
    rows = session.scalars(select(LogEntry).order_by(LogEntry.id)).all()
    assert [(row.action, row.subject, row.old, row.new) for row in rows] == [
        ("adjudicate", "1 slug:d/1", None, "0 (Ani): a shop"),
        ("adjudicate", "1 slug:d/1", "0 (Ani): a shop", "1 (Budi): a house"),
        ("withdraw adjudication", "1 slug:d/1", "1 (Budi): a house", "(Ani)"),
    ]


@pytest.mark.usefixtures("run_id")
def test_a_settlement_needs_a_dispute_a_reason_and_a_verdict_of_its_kind(
    session: Session, raters: list[Rater]
) -> None:
    for slug in "afgh":
        with pytest.raises(NotDisputed):
            adjudications.adjudicate(session, raters[0], thing(session, slug), NO, "why", NOW)
    with pytest.raises(UnknownThing):
        adjudications.adjudicate(session, raters[0], 10_000, NO, "why", NOW)
    disputed = thing(session, "d")
    with pytest.raises(ReasonMissing):
        adjudications.adjudicate(session, raters[0], disputed, NO, " \n", NOW)
    with pytest.raises(NotToJudge):
        adjudications.adjudicate(session, raters[0], disputed, "correct_empty", "why", NOW)


def test_emptiness_is_settled_like_a_card(
    session: Session, study: Study, raters: list[Rater], run_id: str
) -> None:
    for rater, outcome in zip(raters, EmptyOutcome, strict=False):
        said = AnswerRating(empty_outcome=outcome)
        events.rate(session, rater, run_id, 2, said, click(f"e{rater.id}"))
    (found,) = [one for one in adjudications.docket(session, study).open if one.card is None]
    why = "seen on the site"
    false_negative = EmptyOutcome.FALSE_NEGATIVE
    adjudications.adjudicate(session, raters[0], found.thing_id, false_negative, why, NOW)

    rule = reports.rule_of(session, study, "adjudicated")
    report = reports.report(session, study, run_id, rule)
    assert report.rows[1].summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE


def test_a_follow_up_is_shown_with_its_conversation(
    session: Session, study: Study, raters: list[Rater]
) -> None:
    follow_up = query(2, card("z"), text="Other choices?", context_dependent=True)
    stored = run(query(1, card("y"), text="A house?"), follow_up)
    run_id = stored_runs.store(session, study, stored, Labels(), NOW).id
    for rater, verdict in zip(raters, (YES, NO), strict=False):
        events.judge(session, rater, run_id, 2, 1, verdict, click(f"z{rater.id}"))
    (found,) = adjudications.docket(session, study).open

    assert [turn.question for turn in found.earlier] == ["A house?"]
    adjudications.adjudicate(session, raters[0], found.thing_id, YES, "why", NOW)
    session.flush()
    runs.delete_run(session, study, run_id, NOW)
    assert adjudications.docket(session, study).settled == ()
