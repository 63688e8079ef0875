"""The tables behind a session, for statements whose rows need not become objects."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.orm import Session


def tables(session: Session) -> Connection:
    """Return the connection behind `session`, once all that it holds is written."""
    session.flush()
    return session.connection()
