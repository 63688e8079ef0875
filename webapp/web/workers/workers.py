"""Work that takes long is done beside the requests; a server that starts goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from webapp.services.workers import long_work
from webapp.services.workers.long_work import LongWorking

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy.orm import Session


def left(session: Session, app: Flask) -> Iterator[tuple[LongWorking, int]]:
    """Yield the long work that the last process left."""
    if long_work.is_any_open(session):
        yield LongWorking(app.extensions["database"]), 1
