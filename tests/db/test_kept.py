"""Values are kept for a database, the newest of them, and for no other database."""

from __future__ import annotations

from webapp.db.engine import Database, Kept


def test_the_value_put_longest_ago_goes_first(database: Database) -> None:
    kept = Kept[str, int](most=2)
    with database.reading() as session:
        kept.put(session, "a", 1)
        kept.put(session, "b", 2)
        kept.put(session, "a", 3)
        kept.put(session, "c", 4)

        assert [kept.get(session, key) for key in "abc"] == [3, None, 4]


def test_a_value_put_while_writing_is_found_while_reading(database: Database) -> None:
    kept = Kept[str, int](most=2)
    with database.writing() as session:
        kept.put(session, "a", 1)
    with database.reading() as session:
        assert kept.get(session, "a") == 1


def test_nothing_is_kept_where_nothing_may_be(database: Database) -> None:
    kept = Kept[str, int](most=0)
    with database.reading() as session:
        kept.put(session, "a", 1)

        assert kept.get(session, "a") is None
