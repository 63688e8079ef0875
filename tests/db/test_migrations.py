"""The migrations lead to exactly the tables of a new database, on every database."""

from __future__ import annotations

import lzma
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from relevansi.config import sqlite_url
from relevansi.db.engine import Database, DatabaseOutOfDate, NewerDatabase, TooOldDatabase, _alembic
from relevansi.db.migrations import HEAD
from tests.cli.relevansi import relevansi

KEPT = sorted((Path(__file__).parent / "kept").glob("*.xz"))
"""The demo's study as 1.1.0 left it."""
GIVEN = {
    "judgments": ("rater_id", "judged_item_id", "verdict"),
    "query_ratings": ("rater_id", "query_key", "quality", "notes"),
    "adjudications": ("judged_item_id", "verdict"),
    "events": ("event_id", "rater_id", "field", "old", "new", "received_at"),
    "card_decisions": ("query_key", "card", "subject", "outcome", "reason"),
    "questionnaire_answers": ("rater_id", "item", "score", "text"),
}
"""What people gave, by table: its columns that tell it."""


def test_an_upgraded_database_has_the_tables_of_a_new_one(
    request: pytest.FixtureRequest, upgraded: Database
) -> None:
    if upgraded.is_sqlite:
        new = Database(sqlite_url(request.getfixturevalue("sqlite_template")))
    else:
        new = request.getfixturevalue("postgres")
    with new.engine.connect() as connection, upgraded.engine.connect() as after:
        assert _schema(after) == _schema(connection)


def test_the_version_this_program_names_is_that_of_the_last_migration(database: Database) -> None:
    heads = ScriptDirectory.from_config(_alembic()).get_heads()

    assert heads == [HEAD]
    assert database.version() == HEAD


@pytest.mark.parametrize("pool_depth", [None, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("archive", KEPT, ids=lambda archive: archive.name)
def test_an_archived_demo_is_upgraded_with_every_figure_right(
    archive: Path, pool_depth: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "relevansi.sqlite"
    file.write_bytes(lzma.decompress(archive.read_bytes()))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE studies SET pool_depth = ?", (pool_depth,))
        before = {table: _rows(connection, table, "judged_thing_id") for table in GIVEN}

    upgraded = relevansi(tmp_path, "upgrade")
    checked = relevansi(tmp_path, "check")

    assert (upgraded.returncode, checked.returncode) == (0, 0), checked.stdout
    with closing(sqlite3.connect(file)) as connection:
        assert {table: _rows(connection, table) for table in GIVEN} == before


def _rows(
    connection: sqlite3.Connection, table: str, judged_item_id: str = "judged_item_id"
) -> list[tuple[object, ...]]:
    columns = ", ".join(GIVEN[table]).replace("judged_item_id", judged_item_id)
    return connection.execute(f"SELECT {columns} FROM {table} ORDER BY {columns}").fetchall()


OLDER_STUDY = """INSERT INTO studies (id, name, allow_bulk, show_pictures, order_seed,
 shuffle_questions, figures, badges_while_blind, repeat_percent, guidelines, created_at)
 VALUES ({id}, 'Lama', false, false, 7, false, 'progress', false, 5, '', '2026-03-01 09:00:00')"""
STUDIES = (
    OLDER_STUDY.format(id=1),
    OLDER_STUDY.format(id=2),
    """INSERT INTO raters (id, study_id, name, is_owner, is_machine, created_at)
     VALUES (1, 1, 'Ani', true, false, '2026-03-01 09:00:00')""",
    "INSERT INTO question_sets (id, study_id, created_at) VALUES (1, 1, '2026-03-01 09:00:00')",
    """INSERT INTO questions (id, question_set_id, position, text, key, category,
     context_dependent) VALUES (1, 1, 1, 'rumah', 'rumah', 'x', false)""",
)
ITEM_EVENTS = tuple(
    "INSERT INTO item_events (id, rater_id, event_id, evaluation_id, position, part, old, new,"
    " cause, undoes_id, device, sequence, received_at)"
    f" VALUES ({id_}, 1, 'e{id_}', '0a1b2c3d', 4, '0', {old}, {new}, '{cause}', {undoes}, '',"
    f" {id_}, '2026-03-01 10:00:0{id_}')"
    for id_, old, new, cause, undoes in (
        (1, "NULL", 1, "click", "NULL"),
        (2, 1, 0, "click", "NULL"),
        (3, 0, 1, "undo", 2),
    )
)
"""Clicks of version 1.1.0 on one part of an item."""
DECLINED = tuple(
    "INSERT INTO user_studies (study_id, is_open, most_questions, endpoint, search_method, llm,"
    " api, model, mapping, answer_seconds, tries, at_once, pause_seconds, declined, withdrawn,"
    f" last_number, created_at) VALUES ({study}, false, 10, '', '', '', 'contract', '', '', 120, 2,"
    f" 2, 5, {declined}, 0, 0, '2026-03-01 09:00:00')"
    for study, declined in ((1, 3), (2, 0))
)
"""Phase 3 of two studies, one of which three people declined to take part in."""
MACHINES = tuple(
    row
    for number, language, tokens in ((2, "en", "NULL"), (3, "en", 900), (4, "id", "NULL"))
    for row in (
        (
            "INSERT INTO raters (id, study_id, name, is_owner, is_machine, created_at)"
            f" VALUES ({number}, 1, 'Mesin {number}', false, true, '2026-03-01 09:00:00')"
        ),
        (
            "INSERT INTO machine_judges (rater_id, endpoint, model, language, prompt,"
            f" prompt_sha256, temperature, created_at) VALUES ({number}, 'http://x/v1', 'm',"
            f" '{language}', '', '', 0, '2026-03-01 09:00:00')"
        ),
        (
            "INSERT INTO machine_sessions (id, rater_id, state, started_at, things, currency,"
            " at_once, estimated_prompt_tokens, estimated_completion_tokens, most_tokens, calls,"
            " prompt_tokens, completion_tokens, uncounted, failed_in_a_row)"
            f" VALUES ({number}, {number}, 'running', '2026-03-01 09:00:00', 9, '', 2, 1, 1,"
            f" {tokens}, 0, 0, 0, 0, 0)"
        ),
    )
)
"""Three machine judges at work."""
VERDICT = (
    "INSERT INTO judgments (rater_id, {column}, verdict, changed_at)"
    " VALUES (1, {item}, '1', '2026-03-01 09:00:00')"
)
JUDGED_THINGS = (
    "INSERT INTO properties (id, identity) VALUES (5, 'slug:a')",
    "INSERT INTO judged_things (id, question_id, property_id, content) VALUES (6, 1, 5, 1)",
    VERDICT.format(column="judged_thing_id", item=6),
    """INSERT INTO events (id, rater_id, event_id, field, judged_thing_id, new, cause, device,
     sequence, received_at) VALUES (1, 1, 'e', 'verdict', 6, '1', 'click', '', 1,
     '2026-03-01 09:00:00')""",
)
"""One verdict."""
ROWS_BY_VERSION = {
    "0033": (*STUDIES, *ITEM_EVENTS),
    "0036": DECLINED,
    "0037": MACHINES,
    "0041": JUDGED_THINGS,
}


@pytest.fixture(name="upgraded", scope="module", params=["sqlite", "postgresql"])
def _upgraded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """A database that got rows at four older versions on its way to this one; tests only read."""
    if request.param == "sqlite":
        database = Database(sqlite_url(tmp_path_factory.mktemp("older") / "older.sqlite"))
    else:
        database = _second_database(request.getfixturevalue("postgres"))
    for version, rows in ROWS_BY_VERSION.items():
        database.upgrade(version)
        with database.engine.begin() as connection:
            for row in rows:
                connection.execute(text(row))
    database.upgrade()
    yield database
    database.close()


def _second_database(postgres: Database) -> Database:
    with postgres.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("DROP DATABASE IF EXISTS older"))
        connection.execute(text("CREATE DATABASE older"))
    return Database(postgres.url.set(database="older").render_as_string(hide_password=False))


def _selected(database: Database, query: str) -> list[tuple[object, ...]]:
    with database.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def test_words_on_items_of_evaluations_move_to_the_log_of_their_rater(upgraded: Database) -> None:
    """Ani passes a part, fails it and takes that back; the evaluation is deleted by then."""
    moved = _selected(
        upgraded,
        "SELECT study_id, action, subject, old, new, at FROM log_entries"
        " WHERE action LIKE '% on an item' ORDER BY id",
    )
    place = "evaluation 0a1b2c3d, item 4, 0"
    assert [row[:5] for row in moved] == [
        (1, "click on an item", "rater 1", f"{place}: -", f"{place}: 1"),
        (1, "click on an item", "rater 1", f"{place}: 1", f"{place}: 0"),
        (1, "undo on an item", "rater 1", f"{place}: 0", f"{place}: 1"),
    ]
    assert [str(row[5])[11:19] for row in moved] == ["10:00:01", "10:00:02", "10:00:03"]


def test_a_count_of_people_who_declined_moves_to_the_log(upgraded: Database) -> None:
    declined = "SELECT study_id, new FROM log_entries WHERE action = 'phase 3 declined'"

    assert _selected(upgraded, declined) == [(1, "3")]


def test_a_session_under_a_limit_that_is_gone_is_stopped_and_its_limit_logged(
    upgraded: Database,
) -> None:
    """Rater 2 is asked in English without such a limit, 3 with one, 4 in Indonesian."""
    sessions = _selected(upgraded, "SELECT rater_id, state FROM machine_sessions ORDER BY id")
    limits = "SELECT subject, old FROM log_entries WHERE action = 'limit of machine judge'"

    assert sessions == [(2, "running"), (3, "stopped"), (4, "stopped")]
    assert _selected(upgraded, limits) == [("rater 3", "session 3: 900 tokens")]


def test_judged_things_become_judged_items_and_verdicts_stay_with_them(upgraded: Database) -> None:
    read = (
        "SELECT identity, content, field, judgments.verdict FROM events"
        " JOIN judged_items ON judged_items.id = events.judged_item_id"
        " JOIN items ON items.id = item_id"
        " JOIN judgments ON judgments.judged_item_id = judged_items.id"
    )

    assert _selected(upgraded, read) == [("slug:a", 1, "verdict", "1")]


def test_references_to_judged_items_hold_after_an_upgrade(upgraded: Database) -> None:
    """An event outlives its item, and no verdict refers to an item that is not there."""
    with upgraded.engine.connect() as connection:
        connection.execute(text("DELETE FROM judgments"))
        connection.execute(text("DELETE FROM judged_items"))
        events = connection.execute(text("SELECT judged_item_id FROM events")).all()
        with pytest.raises(IntegrityError), connection.begin_nested():
            connection.execute(text(VERDICT.format(column="judged_item_id", item=7)))
        connection.rollback()

    assert [tuple(row) for row in events] == [(None,)]


@pytest.mark.parametrize(
    ("version", "refusal"),
    [("0029", DatabaseOutOfDate), ("0028", TooOldDatabase), ("9999", NewerDatabase)],
)
def test_tables_of_another_version_are_refused_and_newer_ones_named_so(
    database: Database, version: str, refusal: type[Exception]
) -> None:
    with database.engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    try:
        with pytest.raises(refusal):
            database.prepare()
        if refusal is not DatabaseOutOfDate:
            with pytest.raises(refusal):
                database.upgrade()
    finally:
        with database.engine.begin() as connection:
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{HEAD}'"))


def _schema(connection: Connection) -> list[set[tuple[object, ...]]]:
    """Return the tables, columns, indexes and constraints of a database, in no order."""
    # PostgreSQL names what is not null after the table that it was made in; columns say it too.
    if connection.dialect.name == "postgresql":
        return [set(map(tuple, connection.execute(text(query)))) for query in POSTGRES_SCHEMA]
    rows = connection.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
    # SQLite quotes names that a step has given anew, and renames no constraint.
    plain = (re.sub(r'"|CONSTRAINT \w+', "", sql) for (sql,) in rows)
    return [{tuple(sorted(re.split("[(),]+", "".join(sql.split())))) for sql in plain}]


POSTGRES_SCHEMA = (
    """SELECT table_name, column_name, data_type, character_maximum_length, is_nullable,
     column_default, is_identity, generation_expression
     FROM information_schema.columns WHERE table_schema = current_schema()""",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()",
    """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = current_schema()::regnamespace AND contype != 'n'""",
)
