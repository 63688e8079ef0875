"""Files that nobody looks at before they are stored."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from relevansi.db.engine import Database
from relevansi.services.runs import file_formats
from relevansi.services.runs.file_formats import FileDecision
from relevansi.services.study import studies
from relevansi.services.workers import kinds
from tests.conftest import NOW
from tests.web.documents import collection, imported, lines

AT_ONCE = 4


def test_the_same_files_at_once_are_the_same_run(database: Database) -> None:
    """On both databases: whoever comes second finds the run of the first."""
    imported(database, *collection())
    rows = lines({"query": f"Does copper bend, case {n}?", "doc_id": f"new{n}"} for n in (1, 2, 3))
    files = file_formats.together([("new.jsonl", rows)])
    opened, barrier = [file_formats.read_file(*file) for file in files], Barrier(AT_ONCE)

    def stored(_: int) -> tuple[str, ...]:
        with database.reading() as session:
            study = studies.open_or_make(session, NOW)
            store = kinds.deferred_store(study, opened, FileDecision(), blind=None)
        barrier.wait()
        with database.writing() as session:
            outcome = store(session, studies.open_or_make(session, NOW), NOW)
            session.commit()
        return tuple(outcome["runs"])

    with ThreadPoolExecutor(AT_ONCE) as threads:
        [runs] = set(threads.map(stored, range(AT_ONCE)))
    assert len(runs) == 1
