"""``relevansi compare --phase 3``: a summary of what users asked, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from relevansi.db.tables.people import LogEntry
from relevansi.records import Relevance
from relevansi.services.phase_3 import participants
from tests.cli.relevansi import relevansi
from tests.services.phase_3.participants import taking_part
from tests.services.phase_3.test_findings import rated
from tests.stored_studies import study_in

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
PHASE_3 = ("compare", "--phase", "3")


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    """Melati found one of two cards relevant (P@5 0.5), Kenari both (1)."""
    with study_in(tmp_path) as (session, study):
        rated(session, taking_part(session, study), YES, NO)
        rated(session, taking_part(session, study, "Kenari"), YES, YES)
    return tmp_path


@pytest.mark.parametrize(
    ("file_format", "ending"), [("markdown", "md"), ("xlsx", "xlsx"), ("json", "json")]
)
def test_each_format_goes_to_a_file_named_by_phase_and_day_and_is_logged(
    instance: Path, tmp_path: Path, file_format: str, ending: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()

    process = relevansi(instance, *PHASE_3, "--format", file_format, "-o", folder)

    assert process.returncode == 0, process.stderr
    (written,) = folder.iterdir()
    assert written.name.startswith("phase3_summary_")
    assert written.suffix == f".{ending}"
    with study_in(instance) as (session, _):
        logged = select(LogEntry.subject).where(LogEntry.action == participants.EXPORTED)
        assert session.scalars(logged).all() == [written.name]
    if ending == "json":
        decoded = json.loads(written.read_text("utf-8"))
        figure = decoded["figures"]["mean_precision_at_5"]
        assert (figure["value"], figure["participants"], figure["questions"]) == (0.75, 2, 2)
        assert 0 < figure["interval"]["lower"] < 0.75 < figure["interval"]["upper"] < 1


def test_what_cannot_be_summed_up_is_said_in_one_line(tmp_path: Path) -> None:
    assert relevansi(tmp_path, *PHASE_3, "--rule", "majority").returncode == 2
    process = relevansi(tmp_path, *PHASE_3)

    assert process.returncode == 1
    assert process.stderr.count("\n") == 1
    assert "Phase 3 is not set up" in process.stderr
