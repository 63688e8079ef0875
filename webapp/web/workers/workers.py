"""Files that take long are made beside the requests; a server that starts goes on with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from webapp.services.workers import long_work
from webapp.services.workers.long_work import FileMaking

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy.orm import Session


def left(session: Session, app: Flask) -> Iterator[tuple[FileMaking, int]]:
    """Yield the work of making the files that the last process left."""
    if long_work.is_any_open(session):
        yield FileMaking(app.extensions["database"]), 1
