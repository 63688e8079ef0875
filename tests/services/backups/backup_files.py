from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import inspect

from tests.conftest import NOW
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.db.migrations import HEAD
from webapp.services.backups import backups, moving


def written(file: Path, content: Path, **stated: Any) -> Path:
    opened = Database(sqlite_url(content))
    there = set(inspect(opened.engine).get_table_names())
    with opened.reading() as session:
        counts = moving.counts(session, there)
    opened.close()
    data = content.read_bytes()
    about = {
        "kind": backups.KIND,
        "product": "1.0",
        "engine": "sqlite",
        "schema_version": HEAD,
        "created_at": NOW.isoformat(),
        "sha256": sha256(data).hexdigest(),
        "size": len(data),
        "counts": counts,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(backups.ABOUT, json.dumps(about | stated))
        archive.writestr(backups.CONTENT, data)
    return file
