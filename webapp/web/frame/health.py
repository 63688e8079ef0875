"""Whether the server answers and its database does."""

from __future__ import annotations

from flask import Blueprint, Response
from sqlalchemy import text

from webapp.db import outages
from webapp.web.frame import access

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """Return 200 and "ok" when clicks can be stored, else 503 and the reason in one line."""
    database = access.database()
    try:
        database.check_file()
        with database.reading() as session:
            session.execute(text("SELECT version_num FROM alembic_version"))
    except outages.KINDS as failure:
        reason = outages.outage(failure) or "broken"
        return Response(f"database: {reason}\n", 503, mimetype="text/plain")
    return Response("ok\n", mimetype="text/plain")
