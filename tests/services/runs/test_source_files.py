"""The files on the disk beside what was imported: the same by SHA-256, or named."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.evaluations.scored_files import ANSWERS, lines
from tests.services.evaluations.test_evaluations import kept
from tests.services.runs.runs import card, query, run
from webapp.config import JudgeEndpoint
from webapp.db.tables.machine_judges import MachineJudge
from webapp.db.tables.study import Study
from webapp.services.evaluations.rows import EvaluationKind
from webapp.services.evaluations.scoring import NamedBytes
from webapp.services.machine_judges import judges, prompts
from webapp.services.runs import imports, source_files
from webapp.services.runs.imports import Labels
from webapp.services.runs.source_files import FoundFile, RecordedFile

A, B = (RecordedFile("run %(id)s", run_id, "api/results.json", run_id * 64) for run_id in "ab")


def on_disk(path: str, content: str, *, named: bool = False) -> FoundFile:
    return FoundFile(Path(path), content * 64, named)


def test_files_of_runs_and_of_evaluations_are_recorded(session: Session, study: Study) -> None:
    answers = NamedBytes("answers.jsonl", lines(*ANSWERS))
    imported = run(query(1, card("a")), name="hybrid/test_results.json")
    stored = imports.store(session, study, imported, Labels(), NOW)
    evaluation = kept(session, study, EvaluationKind.ANSWERS, answers)

    assert source_files.recorded(session) == [
        RecordedFile("run %(id)s", stored.id, "hybrid/test_results.json", imported.sha256),
        RecordedFile(
            "evaluation %(id)s",
            evaluation.id,
            "answers.jsonl",
            sha256(answers.data).hexdigest(),
        ),
    ]


def test_a_file_under_another_name_is_the_same_file() -> None:
    found = source_files.compare([A], [on_disk("kept/elsewhere.json", "a")])

    assert (found.equal, found.differing, found.absent) == ((A,), (), ())


def test_a_file_that_was_changed_is_named_beside_the_run_it_was_imported_as() -> None:
    changed = on_disk("data/results.json", "c")
    found = source_files.compare([A], [changed])

    assert found.differing == ((A, changed),)
    assert (found.equal, found.absent, found.unknown) == ((), (), ())


def test_a_name_with_the_folders_of_windows_is_that_of_the_file() -> None:
    imported = replace(A, name="C:\\data\\api\\results.json")
    changed = on_disk("data/results.json", "c")

    assert source_files.compare([imported], [changed]).differing == ((imported, changed),)


def test_a_file_of_the_same_name_that_is_another_runs_differs_from_none() -> None:
    found = source_files.compare([A, B], [on_disk("b/results.json", "b")])

    assert (found.equal, found.differing, found.absent) == ((B,), (), (A,))


def test_only_files_that_the_user_named_are_told_where_nothing_was_made_of_them() -> None:
    notes = on_disk("data/notes.txt", "c")
    named = on_disk("other.json", "d", named=True)
    found = source_files.compare([A], [notes, named])

    assert (found.unknown, found.absent) == ((named,), (A,))


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
