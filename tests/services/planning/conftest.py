from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Question, Study
from webapp.metrics.planning.sampling import random_order
from webapp.services.planning import samples
from webapp.services.planning.samples import SampleWish

SIZE = 6


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    asked = [query(n, card(f"a{n}"), text=f"Question {n}") for n in range(1, SIZE)]
    follow_up = query(SIZE, card("a6"), text="Any other?", context_dependent=True)
    run_id = stored(session, study, "api", *asked, follow_up)
    set_study(session, study, repeat_percent=0, blind=False)
    return run_id


@pytest.fixture(name="drawn")
def _drawn(session: Session, study: Study, rater: Rater, run_id: str) -> tuple[int, ...]:
    assert run_id
    (whole,) = samples.question_sets(session, study)
    seed = next(seed for seed in range(1000) if sampled(whole.questions, seed) == {2, 4, 6})
    samples.draw(session, rater, whole, SampleWish(3, seed=seed), NOW)
    return 2, 4, 6


def sampled(questions: list[Question], seed: int) -> set[int]:
    return set(random_order([one.position for one in questions], seed)[:3])
