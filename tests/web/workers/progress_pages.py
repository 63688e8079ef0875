"""Where the page of a long work has its place in the menus."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from flask.testing import FlaskClient

from webapp.db.engine import Database
from webapp.services.study import studies
from webapp.services.workers import jobs
from webapp.web.frame.access import now


class Asked(NamedTuple):
    kind: str
    wanted: dict[str, Any]


def assert_place(
    client: FlaskClient, database: Database, asked: Asked, *, at: str, back: str
) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, now())
        work_id = jobs.enqueue(session, study, asked.kind, asked.wanted, now())
        session.commit()
    text = client.get(f"/files/{work_id}").text

    assert re.findall(r'<a href="([^"]+)" aria-current="page">', text) == [at]
    assert f'<p class="eyebrow"><a href="{back}">' in text
    assert client.post(f"/files/{work_id}/give-up").headers["Location"] == back
