"""What is stored of a question is read once, however many systems answer it."""

from __future__ import annotations

from sqlalchemy import event
from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from relevansi.services.runs import results, stored_results
from tests.conftest import NOW


def lists_of(systems: int, offset: int) -> bytes:
    """So many systems that list two documents of three for each of ten questions."""
    rows = [
        f"s{system},q{number},question {number},d{(system + rank) % 3 + offset},{rank}\n"
        for system in range(systems)
        for number in range(10)
        for rank in (1, 2)
    ]
    return ("system,query_id,query,doc_id,rank\n" + "".join(rows)).encode()


def read_statements(session: Session, study: Study, name: str, data: bytes) -> int:
    """Return how often judged items are read while a file is stored."""
    result: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("SELECT judged_items"):
            result.append(statement)

    engine = session.get_bind()
    read = results.read_files(name, [(name, data)])
    event.listen(engine, "before_cursor_execute", note)
    try:
        stored_results.store(session, study, read, NOW)
        session.flush()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return len(result)


def test_more_systems_read_no_more_of_what_is_stored(session: Session, study: Study) -> None:
    read_statements(session, study, "first.csv", lists_of(1, 0))
    few = read_statements(session, study, "few.csv", lists_of(2, 1))
    many = read_statements(session, study, "many.csv", lists_of(16, 2))

    assert 0 < few == many
