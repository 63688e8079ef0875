"""The tables behind a session, for statements that need no objects made of what they find."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.orm import Session


def tables(session: Session) -> Connection:
    """Return the connection behind `session`, once all that it holds is written."""
    session.flush()
    return session.connection()
