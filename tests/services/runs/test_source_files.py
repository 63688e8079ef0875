"""The files on the disk beside what was imported: the same by SHA-256, or named."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import card, query, run
from webapp.db.tables.study import Study
from webapp.services.runs import imports, runs
from webapp.services.runs.imports import Labels
from webapp.services.runs.runs import FoundFile, RecordedFile

A, B = (RecordedFile("run %(id)s", run_id, "api/results.json", run_id * 64) for run_id in "ab")


def on_disk(path: str, content: str, *, named: bool = False) -> FoundFile:
    return FoundFile(Path(path), content * 64, named)


def test_files_of_runs_are_recorded(session: Session, study: Study) -> None:
    imported = run(query(1, card("a")), name="hybrid/test_results.json")
    stored = imports.store(session, study, imported, Labels(), NOW)

    assert runs.recorded(session) == [
        RecordedFile("run %(id)s", stored.id, "hybrid/test_results.json", imported.sha256)
    ]


def test_a_file_under_another_name_is_the_same_file() -> None:
    found = runs.compare([A], [on_disk("kept/elsewhere.json", "a")])

    assert (found.equal, found.differing, found.absent) == ((A,), (), ())


def test_a_file_that_was_changed_is_named_beside_the_run_it_was_imported_as() -> None:
    changed = on_disk("data/results.json", "c")
    found = runs.compare([A], [changed])

    assert found.differing == ((A, changed),)
    assert (found.equal, found.absent, found.unknown) == ((), (), ())


def test_a_name_with_the_folders_of_windows_is_that_of_the_file() -> None:
    imported = replace(A, name="C:\\data\\api\\results.json")
    changed = on_disk("data/results.json", "c")

    assert runs.compare([imported], [changed]).differing == ((imported, changed),)


def test_a_file_of_the_same_name_that_is_another_runs_differs_from_none() -> None:
    found = runs.compare([A, B], [on_disk("b/results.json", "b")])

    assert (found.equal, found.differing, found.absent) == ((B,), (), (A,))


def test_only_files_that_the_user_named_are_told_where_nothing_was_made_of_them() -> None:
    notes = on_disk("data/notes.txt", "c")
    named = on_disk("other.json", "d", named=True)
    found = runs.compare([A], [notes, named])

    assert (found.unknown, found.absent) == ((named,), (A,))
