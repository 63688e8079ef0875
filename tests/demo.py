"""The demo's study, as it is restored and as it is made."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from relevansi.cli.frame.demo import prepared_demo
from relevansi.db.tables.study import Study
from relevansi.services.study import studies
from seeds.making import studies as making


def restored(folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEVANSI_INSTANCE", str(folder))
        prepared_demo()
    return folder / "demo.sqlite"


def made_anew(file: Path, *, documents: bool = False) -> Path:
    def refused(*_: object) -> None:
        raise AssertionError("the demo asks the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refused)
        making.make(file, documents=documents)
    return file


def study_of(session: Session) -> Study:
    result = studies.current(session)
    assert result is not None
    return result
