"""The sums of a run that a click shows are those of all its summaries, whatever was kept."""

from __future__ import annotations

from random import Random

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import card, click, query, run
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome, Relevance
from webapp.services.judging import events, live_metrics
from webapp.services.judging.events import AnswerRating
from webapp.services.judging.live_metrics import Standing
from webapp.services.runs import imports, runs
from webapp.services.runs.imports import Labels

CATEGORIES = ("near", "far", "cheap")


def stored(session: Session, study: Study, method: str, slugs: str) -> str:
    """Store a run of nine questions in three categories; the last of each lists nothing."""
    asked = [
        query(
            number,
            *(card(f"{slug}{number}") for slug in (slugs if number < 7 else "")),
            category=CATEGORIES[number % 3],
        )
        for number in range(1, 10)
    ]
    return imports.store(session, study, run(*asked, method=method), Labels(), NOW).id


def shown(session: Session, rater: Rater, run_id: str) -> dict[str, Standing]:
    found = {name: live_metrics.of_category(session, rater, run_id, name) for name in CATEGORIES}
    wholes = {id_: one.whole for id_, one in found.items()}
    assert len(set(map(repr, wholes.values()))) == 1
    return {"": wholes["near"], **{name: one.category for name, one in found.items()}}


def counted(session: Session, rater: Rater, run_id: str) -> dict[str, Standing]:
    found = live_metrics.by_category(session, rater.id, run_id)
    return {"": Standing.together(found.values()), **found}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_sums_kept_are_those_counted_anew_at_every_click(
    session: Session, study: Study, rater: Rater
) -> None:
    """Of two runs that share cards, by one rater; a third run comes and goes on the way."""
    draw = Random(8)
    ids = [stored(session, study, "hybrid", "abc"), stored(session, study, "api_only", "bcd")]
    for step in range(40):
        if step == 15:
            third = stored(session, study, "vector_only", "ad")
        if step == 25:
            runs.delete_run(session, study, third, NOW)
        run_id, number = draw.choice(ids), draw.randrange(1, 10)
        said = click(f"e{step}", minute=step)
        if number >= 7:
            outcome = draw.choice([None, *EmptyOutcome])
            events.rate(session, rater, run_id, number, AnswerRating(empty_outcome=outcome), said)
        elif step % 3:
            verdict = draw.choice([None, *Relevance])
            events.judge(session, rater, run_id, number, draw.randrange(1, 4), verdict, said)
        else:
            quality = draw.randrange(6)
            events.rate(session, rater, run_id, number, AnswerRating(quality=quality), said)
        for one in ids:
            if draw.random() < 0.7:  # else it falls behind by a click, or more
                assert shown(session, rater, one) == counted(session, rater, one)


def test_an_undone_click_is_undone_in_the_sums(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", "ab")
    before = shown(session, rater, run_id)
    events.judge(session, rater, run_id, 1, 1, Relevance.RELEVANT, click("e1"))
    assert shown(session, rater, run_id) != before
    events.undo(session, rater, run_id, click("e2", minute=1))

    assert shown(session, rater, run_id) == before
