"""Gold questions and decisions by hand give the study another state, as verdicts do."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.gold_files import gold_bytes, stored_run
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.exporters.gold.gold_questions import CARD
from webapp.services.gold import card_decisions, gold
from webapp.services.gold.card_decisions import Decision
from webapp.services.judging import changes


def test_a_version_and_a_decision_change_the_state(
    session: Session, study: Study, rater: Rater
) -> None:
    run = stored_run(session, study, rater, with_gold=False)
    seen = [changes.state(session, study)]
    gold.import_file(session, rater, run.question_set_id, "gold.json", gold_bytes(), NOW)
    seen.append(changes.state(session, study))
    card_decisions.decide(session, rater, run.queries[0], Decision(0, CARD, "pass", ""), NOW)
    seen.append(changes.state(session, study))

    assert changes.state(session, study) == seen[-1]
    assert len(set(seen)) == len(seen)
