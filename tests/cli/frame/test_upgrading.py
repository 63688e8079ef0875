"""``relevansi upgrade`` makes every stored figure what this version's definitions say."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select, update

from relevansi.db.tables.judging import StoredSummary
from tests import demo
from tests.cli.relevansi import relevansi
from tests.stored_studies import study_in


def test_figures_of_another_definition_are_computed_anew(tmp_path: Path) -> None:
    demo.restored(tmp_path).rename(tmp_path / "relevansi.sqlite")
    with study_in(tmp_path) as (session, _):
        stored = session.scalar(select(func.count()).select_from(StoredSummary))
        session.execute(update(StoredSummary).values(relevant_count=StoredSummary.judged_count + 1))
        session.commit()

    before = relevansi(tmp_path, "check").returncode
    relevansi(tmp_path, "upgrade")

    assert before == 1
    assert relevansi(tmp_path, "check").stdout.startswith("Equal: ")
    with study_in(tmp_path) as (session, _):
        assert session.scalar(select(func.count()).select_from(StoredSummary)) == stored
