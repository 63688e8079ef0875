"""Files of evaluations are recorded beside those of runs."""

from __future__ import annotations

from hashlib import sha256

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.evaluations.scored_files import ANSWERS, lines
from tests.services.evaluations.test_evaluations import kept
from tests.services.runs.runs import card, query, run
from webapp.db.tables.study import Study
from webapp.services.evaluations.evaluations import EvaluationKind
from webapp.services.evaluations.scoring import NamedBytes
from webapp.services.runs import imports, runs
from webapp.services.runs.imports import Labels
from webapp.services.runs.runs import RecordedFile


def test_files_of_runs_and_of_evaluations_are_recorded(session: Session, study: Study) -> None:
    answers = NamedBytes("answers.jsonl", lines(*ANSWERS))
    imported = run(query(1, card("a")), name="hybrid/test_results.json")
    stored = imports.store(session, study, imported, Labels(), NOW)
    evaluation = kept(session, study, EvaluationKind.ANSWERS, answers)

    assert runs.recorded(session) == [
        RecordedFile("run %(id)s", stored.id, "hybrid/test_results.json", imported.sha256),
        RecordedFile(
            "evaluation %(id)s",
            evaluation.id,
            "answers.jsonl",
            sha256(answers.data).hexdigest(),
        ),
    ]
