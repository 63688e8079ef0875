"""Who may ask the tables: a session, or the bare connection of what every click waits for."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.orm import Session

Asking = Session | Connection


def tables(asking: Asking) -> Connection:
    """Return the connection behind `asking`, once all that its session holds is written."""
    if isinstance(asking, Connection):
        return asking
    asking.flush()
    return asking.connection()
