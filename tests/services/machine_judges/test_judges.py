"""Machine judges as they are stored."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.conftest import NOW
from webapp.config import JudgeEndpoint
from webapp.db.tables.machine_judges import MachineJudge
from webapp.db.tables.study import Study
from webapp.services.machine_judges import judges, prompts


def test_a_machines_prompt_that_was_changed_in_the_database_is_named(
    session: Session, study: Study
) -> None:
    at = JudgeEndpoint("http://127.0.0.1:9/v1", "m", "")
    prompt = prompts.default("en", "")
    for name in ("Mesin 1", "Mesin 2"):
        judges.make(session, study, name, at, "en", prompt, NOW)
    assert judges.changed_prompts(session) == []

    second = judges.named(session, study, "Mesin 2")
    assert isinstance(second, MachineJudge)
    second.prompt += " Be kind."
    session.flush()

    assert judges.changed_prompts(session) == ["Mesin 2"]
