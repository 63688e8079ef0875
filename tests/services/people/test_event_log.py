"""The event log is taken away as files."""

from __future__ import annotations

import csv
import io
import json

from sqlalchemy.orm import Session

from tests.services.runs.runs import YES, click
from webapp.db.tables.people import Rater
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating
from webapp.services.people import history


def test_the_files_hold_every_event_and_no_cell_runs(
    session: Session, rater: Rater, run_id: str
) -> None:
    events.judge(session, rater, run_id, 1, 1, YES, click("e1", client_minute=-1))
    events.rate(session, rater, run_id, 1, AnswerRating(notes="=1+1"), click("e2", minute=1))
    session.flush()
    rows = list(csv.DictReader(io.StringIO(history.as_csv(session, rater).decode())))
    lines = [json.loads(line) for line in history.as_json_lines(session, rater).splitlines()]

    assert tuple(rows[0]) == history.COLUMNS == tuple(lines[0])
    assert [row["new"] for row in rows] == ["1", "'=1+1"]
    assert [line["new"] for line in lines] == ["1", "=1+1"]
    assert (rows[0]["property"], rows[0]["content"], rows[0]["stands"]) == ("slug:a", "1", "1")
    assert lines[0]["received_at"] == "2026-03-01T09:00:00+00:00"
    assert lines[0]["client_time"] == "2026-03-01T08:59:00+00:00"
    assert (lines[0]["stands"], lines[0]["undone"], lines[1]["field"]) == (True, False, "notes")
