"""Why an item is not relevant: kept as events beside the verdict, which it never changes."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.tables.judging import Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.i18n import speaking
from relevansi.records import Scale
from relevansi.services.judging import judgments, reasons
from relevansi.services.judging.reasons import ReasonTooLong, TooManyReasons, UnknownReason
from relevansi.services.people import history
from relevansi.services.people.history import EventFilters
from relevansi.services.rating import open_pages
from tests.services.judging.rater_rows import summary
from tests.services.runs.runs import NO, YES, click


def give(session: Session, rater: Rater, run_id: str, reason: str | None, name: str) -> str | None:
    number = int(name[1:])
    event = click(name, minute=number)
    return judgments.give_reason(session, rater, run_id, 1, 1, reason, event)


def figures_of(session: Session, rater: Rater, run_id: str) -> dict[str, object]:
    row = summary(session, rater, run_id, 1)
    return {column.key: getattr(row, column.key) for column in row.__table__.columns}


def stored(session: Session, rater: Rater) -> tuple[str | None, str | None]:
    session.expire_all()
    row = session.scalars(select(Judgment).where(Judgment.rater_id == rater.id)).one()
    return row.verdict, row.reason


def test_a_reason_changes_neither_verdict_nor_figures(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, NO, click("e1"))
    before = figures_of(session, rater, run_id)
    at = session.scalars(select(Judgment.changed_at)).one()

    give(session, rater, run_id, "price", "r2")

    assert stored(session, rater) == (NO, "price")
    assert figures_of(session, rater, run_id) == before
    assert give(session, rater, run_id, None, "r3") is None
    assert session.scalars(select(Judgment.changed_at)).one() == at


def test_another_reason_replaces_it_and_undo_goes_back_step_by_step(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, NO, click("e1", minute=1))
    give(session, rater, run_id, "price", "r2")
    give(session, rater, run_id, "other: Terlalu jauh", "r3")
    steps = [stored(session, rater)]
    for minute in (4, 5, 6):
        judgments.undo(session, rater, run_id, click(f"u{minute}", minute=minute))
        steps.append(stored(session, rater))

    assert steps == [(NO, "other: Terlalu jauh"), (NO, "price"), (NO, None), (None, None)]


def test_a_reason_counts_beside_what_is_not_relevant_alone() -> None:
    graded = Scale(top=3, relevant_from=2)
    in_force = [reasons.in_force("price", verdict, graded) for verdict in ("0", "1", "2", "3")]
    assert in_force == ["price", "price", None, None]
    for verdict in (YES, "unsure", None, "false_negative"):
        assert reasons.in_force("price", verdict, Scale()) is None


def test_only_reasons_of_the_study_are_taken(session: Session, rater: Rater, run_id: str) -> None:
    rater.study.reasons = ["price", "Dekat rel kereta"]
    for name, reason in (("r1", "Dekat rel kereta"), ("r2", "location"), ("r3", "other")):
        assert give(session, rater, run_id, reason, name) == reason
    for name, wrong in (("r4", "murah"), ("r5", "other: " + "x" * 201)):
        with pytest.raises(UnknownReason):
            give(session, rater, run_id, wrong, name)


def test_an_owner_s_list_keeps_the_keys_of_the_usual_ones() -> None:
    """In whichever language they are written; the usual list is stored as none."""
    own_list = reasons.from_lines(["Harga", " Dekat  rel ", "Price", "", "Lainnya"], "property")
    assert own_list == ("price", "Dekat rel", "other")
    with speaking("en"):
        words = [*map(labels.reason, reasons.offered("document", None))]
    assert reasons.from_lines(words, "document") is None
    assert reasons.from_lines([], "document") is None
    with pytest.raises(TooManyReasons):
        reasons.from_lines("abcdefg", "property")
    with pytest.raises(ReasonTooLong):
        reasons.from_lines(["x" * 41], "property")


def test_page_and_history_show_the_reason(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    """A listing that stands twice in an answer has one reason, at both places."""
    judgments.judge(session, rater, run_id, 1, 1, NO, click("e1"))
    give(session, rater, run_id, "price", "r2")

    page = open_pages.rating_page(session, rater, run_id, 1)
    assert [card.reason for card in page.cards] == ["price", None, "price"]
    assert page.reasons == reasons.offered(study.kind, None)
    entries = history.history(session, rater, EventFilters()).entries
    assert [(str(entry.change), entry.event.new) for entry in entries] == [
        ("reason", "price"),
        ("verdict", NO),
    ]
