"""An evaluation of the demo on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.web.blocks import assert_named_in_blocks
from tests.web.conftest import in_english
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.db.tables.evaluations import Evaluation


@pytest.fixture(name="demo", scope="module")
def _demo(demo_file: Path) -> Iterator[Flask]:
    app = create_app(Settings(sqlite_url(demo_file), demo_file.parent, is_demo=True))
    yield app
    app.extensions["database"].close()


def test_a_table_that_stands_in_blocks_on_a_phone_names_every_figure(
    demo: Flask, demo_session: Session
) -> None:
    evaluation = demo_session.scalars(select(Evaluation.id)).first()

    assert_named_in_blocks(in_english(demo).get(f"/evaluations/{evaluation}/people").text)
