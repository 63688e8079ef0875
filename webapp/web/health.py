"""Whether the server answers and its database does."""

from __future__ import annotations

from flask import Response
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from webapp.web import access


def healthz() -> Response:
    """Return 200 and "ok" when the database answers, else 503."""
    try:
        with access.database().reading() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        return Response("no database\n", 503, mimetype="text/plain")
    return Response("ok\n", mimetype="text/plain")
