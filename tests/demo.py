"""The demo's study, made once for all tests that look at it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from webapp.cli.frame.demo import prepared_demo
from webapp.db.tables.study import Study
from webapp.services.study import studies


def made(folder: Path) -> Path:
    """Make the demo in `folder`, where nothing may be asked of anybody; return its file."""

    def refused(*_: object) -> None:
        raise AssertionError("the demo asks the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEVANSI_INSTANCE", str(folder))
        patch.setattr(socket.socket, "connect", refused)
        prepared_demo()
    return folder / "demo.sqlite"


def study_of(session: Session) -> Study:
    """Return the demo's study."""
    found = studies.current(session)
    assert found is not None
    return found
