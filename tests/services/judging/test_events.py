"""An event is stored once and put in order; the one in force decides the rater's row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem, QueryRating
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome
from relevansi.services.judging import answer_ratings, events, judgments, stored_summaries
from relevansi.services.judging.answer_ratings import AnswerRating, NotesTooLong, NotToJudge
from relevansi.services.judging.events import (
    EventIdTaken,
    Target,
    TargetChange,
    current_event,
    in_order,
)
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.study import studies
from relevansi.services.study.studies import Switches
from tests.conftest import NOW
from tests.services.judging.rater_rows import events as stored_events
from tests.services.judging.rater_rows import summary, verdicts
from tests.services.runs.runs import NO, YES, card, click, query, run, store


def test_the_same_event_twice_changes_nothing(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 1, 1, NO, click("e2", minute=1))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1", minute=2))

    assert verdicts(session, rater) == ["0"]
    assert stored_events(session) == 2


def test_an_event_id_keeps_its_meaning(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    with pytest.raises(EventIdTaken):
        judgments.judge(session, rater, run_id, 1, 1, NO, click("e1"))
    with pytest.raises(EventIdTaken):
        judgments.judge(session, rater, run_id, 2, 1, YES, click("e1"))


def test_an_earlier_click_that_arrives_late_is_not_current(
    session: Session, rater: Rater, run_id: str
) -> None:
    later = click("laptop", minute=5, client_minute=5, device="laptop", sequence=1)
    held_back = click("phone", minute=9, client_minute=1, device="phone", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, later)
    judgments.judge(session, rater, run_id, 1, 1, NO, held_back)

    assert verdicts(session, rater) == ["1"]
    assert stored_events(session) == 2


def test_an_undo_is_later_than_what_it_undoes(session: Session, rater: Rater, run_id: str) -> None:
    first = click("e1", minute=10, client_minute=9, device="a", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, first)
    undo = click("u1", minute=10, client_minute=2, device="a", sequence=2)
    judgments.undo(session, rater, run_id, undo)

    assert verdicts(session, rater) == [None]


def changes(session: Session, run_id: str) -> list[TargetChange]:
    query = session.scalars(select(Query).where(Query.run_id == run_id).order_by(Query.id)).first()
    assert query is not None
    first, second = (
        Target("verdict", result.judged_item_id, query.id) for result in query.results[:2]
    )
    quality = Target("quality", None, query.id)
    late = click("late", minute=9, client_minute=1, device="phone", sequence=1)
    return [
        TargetChange(first, YES, click("e1", minute=5)),
        TargetChange(first, NO, late),
        TargetChange(second, NO, click("e2", minute=6)),
        TargetChange(second, YES, click("e3", minute=7)),
        TargetChange(first, YES, click("e1", minute=8)),
        TargetChange(quality, "4", click("e3", minute=7)),
    ]


def test_many_events_at_once_are_stored_as_one_after_the_other(
    session: Session, rater: Rater, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    second_rater = studies.add_rater(session, rater.study, "Budi", NOW)
    target_changes = changes(session, run_id)

    for change in target_changes:
        events.record(session, rater, *change)
    events.record_all(session, second_rater, target_changes)
    targets = [change.target for change in target_changes]
    events.refresh(session, rater, targets)
    monkeypatch.setattr(events, "BULK_REFRESH_FROM", 1)
    events.refresh(session, second_rater, targets)

    columns = (Event.event_id, Event.field, Event.old, Event.new, Event.sequence, Event.device)
    rows = [
        session.execute(select(*columns).where(Event.rater_id == who.id).order_by(Event.id)).all()
        for who in (rater, second_rater)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 5
    assert verdicts(session, second_rater) == verdicts(session, rater) == ["1", "1"]
    assert stored_summaries.check(session) == []


def test_many_events_are_stored_all_or_none(session: Session, rater: Rater, run_id: str) -> None:
    target_changes = changes(session, run_id)
    with pytest.raises(EventIdTaken):
        events.record_all(
            session,
            rater,
            [*target_changes, target_changes[2]._replace(target=target_changes[0].target)],
        )

    assert stored_events(session) == 0


@dataclass(frozen=True)
class OrderedEvent:
    """An event as the order sees it."""

    device: str
    sequence: int
    client_time: datetime | None
    received_at: datetime


def event_at(device: str, sequence: int, client: int | None, received: int) -> OrderedEvent:
    client_time = None if client is None else NOW + timedelta(minutes=client)
    return OrderedEvent(device, sequence, client_time, NOW + timedelta(minutes=received))


@pytest.mark.parametrize(
    ("events", "last"),
    [
        ([event_at("a", 1, 1, 1), event_at("a", 2, 2, 2)], 1),
        ([event_at("a", 2, 1, 1), event_at("a", 1, 5, 5)], 0),  # own sequence beats the clock
        (
            [event_at("phone", 1, 10, 1), event_at("laptop", 1, 2, 2)],
            1,
        ),  # receipt caps a fast clock
        ([event_at("phone", 1, 1, 9), event_at("laptop", 1, 5, 5)], 1),  # sent late, clicked early
        ([event_at("a", 1, None, 3), event_at("b", 1, None, 2)], 0),
        # The phone's second click was at minute 2 at the latest, so its first was too.
        ([event_at("phone", 1, 50, 9), event_at("phone", 2, 2, 9), event_at("laptop", 1, 7, 7)], 2),
    ],
)
def test_the_last_event_in_order_is_current(events: list[OrderedEvent], last: int) -> None:
    assert current_event(events) is events[last]
    assert current_event(reversed(events)) is events[last]


EVENTS = st.lists(
    st.builds(
        event_at,
        st.sampled_from("abc"),
        st.integers(1, 6),
        st.none() | st.integers(0, 60),
        st.integers(0, 60),
    ),
    max_size=8,
    unique_by=lambda event: (event.device, event.sequence),
)


@given(EVENTS, st.randoms())
def test_order_of_arrival_changes_nothing(events: list[OrderedEvent], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(events)
    random.shuffle(shuffled)

    assert in_order(shuffled) == in_order(events)


@given(EVENTS)
def test_the_current_event_is_the_latest_of_the_devices_last(events: list[OrderedEvent]) -> None:
    lasts = {event.device: event for event in sorted(events, key=lambda event: event.sequence)}

    def place(event: OrderedEvent) -> tuple[datetime, str]:
        return min(event.client_time or event.received_at, event.received_at), event.device

    assert current_event(events) is max(lasts.values(), key=place, default=None)


def test_of_two_events_with_one_number_the_later_is_current() -> None:
    earlier, later = event_at("a", 1, 1, 9), event_at("a", 1, 2, 9)

    assert current_event([earlier, later]) is current_event([later, earlier]) is later
    assert in_order([later, earlier]) == in_order([earlier, later]) == [earlier, later]


@given(EVENTS)
def test_a_device_keeps_its_own_sequence(events: list[OrderedEvent]) -> None:
    for device in "abc":
        sequence = [event.sequence for event in in_order(events) if event.device == device]
        assert sequence == sorted(sequence)


def test_undo_goes_back_change_by_change(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 2, 1, NO, click("e2", minute=1))
    judgments.rate(session, rater, run_id, 2, AnswerRating(quality=1), click("e3", minute=2))

    assert judgments.undo(session, rater, run_id, click("u1", minute=3)) == 2
    assert summary(session, rater, run_id, 2).quality is None
    assert judgments.undo(session, rater, run_id, click("u2", minute=4)) == 2
    assert judgments.undo(session, rater, run_id, click("u2", minute=4)) == 2  # sent again
    assert verdicts(session, rater) == ["1", None]
    assert judgments.undo(session, rater, run_id, click("u3", minute=5)) == 1
    assert judgments.undo(session, rater, run_id, click("u4", minute=6)) is None
    assert verdicts(session, rater) == [None, None]
    assert stored_events(session) == 6


def test_an_undo_by_the_id_of_a_verdict_is_a_conflict(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))

    with pytest.raises(EventIdTaken):
        judgments.undo(session, rater, run_id, click("e1", minute=1))
    assert verdicts(session, rater) == ["1"]


def test_a_rating_leaves_the_unnamed_alone(session: Session, rater: Rater, run_id: str) -> None:
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=4, notes="good"), click("e1"))
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=None), click("e2", minute=1))

    assert summary(session, rater, run_id, 1).quality is None
    assert notes_of(session, rater) == "good"


def test_quality_keeps_its_scale(session: Session, rater: Rater, run_id: str) -> None:
    for quality in (-1, 6):
        with pytest.raises(ValueError, match="0 to 5"):
            judgments.rate(session, rater, run_id, 1, AnswerRating(quality=quality), click("e1"))


def test_only_empty_lists_have_an_outcome(session: Session, rater: Rater, run_id: str) -> None:
    rating = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    with pytest.raises(NotToJudge):
        judgments.rate(session, rater, run_id, 1, rating, click("e1"))


def test_marking_all_is_logged(session: Session, study: Study, rater: Rater, run_id: str) -> None:
    with pytest.raises(NotToJudge):
        judgments.judge_open(session, rater, run_id, 1, NO, click("e1"))
    studies.set_switches(session, study, Switches(study.name, True, False), NOW)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e2"))
    judgments.judge_open(session, rater, run_id, 1, NO, click("e3", minute=1))

    assert verdicts(session, rater) == ["1", "0"]
    causes = session.scalars(select(Event.cause).order_by(Event.id)).all()
    assert causes == ["click", "bulk"]


def test_a_missing_question_or_rank_cannot_be_judged(
    session: Session, rater: Rater, run_id: str
) -> None:
    for query_id, rank in ((9, 1), (1, 9), (3, 1)):
        with pytest.raises(UnknownQuery):
            judgments.judge(session, rater, run_id, query_id, rank, YES, click("e1"))


def test_an_outcome_counts_in_every_run(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    read = run(query(1, card("z")), query(2, card("z")), query(3), method="api_only")
    second_run_id = store(session, study, read).id
    rating = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    judgments.rate(session, rater, run_id, 3, rating, click("e1"))

    for listed_in in (run_id, second_run_id):
        row = summary(session, rater, listed_in, 3)
        query_summary = stored_summaries.summary(row)
        assert (query_summary.complete, query_summary.figures["success_rate"].value) == (True, 0)
        assert query_summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE


def test_a_verdict_counts_in_every_run(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    read = run(query(1, card("b"), card("a")), query(2), query(3), method="api_only")
    second_run_id = store(session, study, read).id
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))

    row = summary(session, rater, second_run_id, 1)
    assert (row.relevant_count, row.first_relevant_rank, row.open_judgments) == (1, 2, 1)
    assert stored_summaries.check(session) == []


def test_a_follow_up_keeps_to_its_run(session: Session, study: Study, rater: Rater) -> None:
    queries = query(1, card("a")), query(2, card("b"), context_dependent=True)
    first, second = (
        store(session, study, run(*queries, method=method)).id for method in ("hybrid", "api_only")
    )
    judgments.judge(session, rater, first, 2, 1, YES, click("e1"))
    judgments.judge(session, rater, first, 1, 1, YES, click("e2"))

    assert summary(session, rater, second, 2).judged_count == 0
    assert summary(session, rater, second, 1).judged_count == 1


CONTENTS = [
    ({"price": 1}, {"price": 1}, 1),
    ({"price": 1}, {}, 1),
    ({"price_note": "sale"}, {"price_note": "rent"}, 2),
    ({"bedrooms": 2}, {"bedrooms": 3}, 2),
    ({"bathrooms": 2}, {"bathrooms": 3}, 1),
    ({"location": "Jl. Cemara"}, {"location": "Jl. Cemara, Kec. Medan Timur"}, 1),
    ({"location": "Jl. Cemara"}, {"location": "Jl. Krakatau"}, 2),
]
"""What each of two runs states of a property, and how many items that is to judge."""


def test_only_differences_that_matter_make_another_item(session: Session, study: Study) -> None:
    firsts, seconds, expected = zip(*CONTENTS, strict=True)
    for method, contents in (("hybrid", firsts), ("api_only", seconds)):
        queries = (query(n, card("a", **content)) for n, content in enumerate(contents, start=1))
        store(session, study, run(*queries, method=method))

    question = JudgedItem.question_id
    counts = select(func.count(JudgedItem.id)).group_by(question).order_by(question)
    assert session.scalars(counts).all() == [*expected]


def noted(session: Session, rater: Rater, run_id: str, *edits: tuple[str, str]) -> str:
    """Return the notes after edits, each from a base to a text, in the order of their arrival."""
    for number, (base, text) in enumerate(edits):
        rating = AnswerRating(notes=text, notes_base=base)
        # Each device's clock is behind that of the one before.
        device, behind = f"d{number}", -number
        event = click(f"n{number}", minute=number, device=device, sequence=1, client_minute=behind)
        judgments.rate(session, rater, run_id, 1, rating, event)
    return notes_of(session, rater)


def notes_of(session: Session, rater: Rater) -> str:
    session.expire_all()
    return session.scalars(select(QueryRating).where(QueryRating.rater_id == rater.id)).one().notes


def test_notes_that_two_tabs_wrote_are_both_kept(
    session: Session, rater: Rater, run_id: str
) -> None:
    assert noted(session, rater, run_id, ("", "far"), ("", "dear"), ("dear", "too dear")) == (
        "far\ntoo dear"
    )
    judgments.undo(session, rater, run_id, click("u", minute=9))
    assert notes_of(session, rater) == "far\ndear"


def test_notes_kept_beside_others_and_sent_again_are_stored_once(
    session: Session, rater: Rater, run_id: str
) -> None:
    noted(session, rater, run_id, ("", "far"), ("", "dear"), ("far\ndear", "so"))
    again = AnswerRating(notes="dear", notes_base="")
    judgments.rate(session, rater, run_id, 1, again, click("n1", minute=8))

    assert notes_of(session, rater) == "so"
    with pytest.raises(EventIdTaken):
        judgments.rate(session, rater, run_id, 1, replace(again, notes="other"), click("n1"))


def test_notes_too_long_together_are_refused_and_the_stored_ones_stay(
    session: Session, rater: Rater, run_id: str
) -> None:
    far, dear = "far " * 2000, "dear " * 1000
    with pytest.raises(NotesTooLong):
        noted(session, rater, run_id, ("", far), ("", dear))
    assert notes_of(session, rater) == far


LINES = st.lists(st.text("ab", max_size=3), max_size=3).map("\n".join)


@given(LINES, LINES, LINES)
def test_an_edit_loses_no_line_of_another_s_and_none_of_its_own(
    stored: str, base: str, text: str
) -> None:
    """Lines that the edit itself took from its base, or goes on with, excepted."""
    both = answer_ratings.merge_notes(stored, base, text)

    assert text in both or both == stored
    if stored != base and not text.startswith(stored):
        assert set(stored.split("\n")) - set(base.split("\n")) <= set(both.split("\n"))
