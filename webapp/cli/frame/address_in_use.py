"""The address at which a study is being served, left by the server for other commands.

Each server keeps a file in the instance's folder for as long as it runs.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import asdict

from webapp.config import Settings
from webapp.db.engine import Database
from webapp.i18n import gettext

LOCAL = "http://127.0.0.1:8800"
"""Where `relevansi serve` is found by default."""
EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognised, not listened on
PATTERN = "served-*.json"
SECONDS = 2


class ServedAddress(Struct, frozen=True):
    """A server: its address, the database it serves, its process and when it started."""

    base_url: str
    database: str
    pid: int
    started_at: str


@contextmanager
def announced(settings: Settings, base_url: str, database: str) -> Iterator[None]:
    """Leave the address of a server in the instance's folder until the block ends."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    served = ServedAddress(base_url, database, os.getpid(), now)
    file = settings.instance / f"served-{served.pid}.json"
    with suppress(OSError):  # without the file, commands assume the usual address
        file.write_text(json.dumps(asdict(served)), "utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def find(settings: Settings) -> ServedAddress | None:
    """Return the latest server of the configured database that answers.

    The files of servers that were killed are deleted.
    """
    database = Database(settings.database_url)
    description = database.description
    database.close()
    for served in sorted(_left(settings.instance), key=lambda one: one.started_at, reverse=True):
        if served.database == description and _answers(served.base_url):
            return served
    return None


def chosen(settings: Settings, base_url: str | None) -> tuple[str, str]:
    """Return the address for a link, and the sentence that says why it is this one."""
    if base_url:
        return base_url.rstrip("/"), gettext("The address is that of --base-url.")
    served = find(settings)
    if served is None:
        return LOCAL, gettext(
            "Nothing is being served now, so the address is the usual one of this computer. "
            "Name another one by --base-url."
        )
    parts = urlsplit(served.base_url)
    if parts.hostname in EVERYWHERE:
        return f"http://127.0.0.1:{parts.port}", gettext(
            "Relevansi is served now to every computer that reaches this one; the address is "
            "that on this computer. Name the one raters use by --base-url."
        )
    return served.base_url.rstrip("/"), gettext("The address is where Relevansi is served now.")


def _left(folder: Path) -> Iterator[ServedAddress]:
    """Yield what the servers in `folder` left; files of processes that ended are deleted."""
    for file in folder.glob(PATTERN):
        with suppress(OSError, ValueError, TypeError):
            served = ServedAddress(**json.loads(file.read_text("utf-8")))
            if _is_running(served.pid):
                yield served
            else:
                file.unlink()


def _is_running(pid: int) -> bool:
    """Whether a process has this number; on Windows only the address itself shows it."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _answers(base_url: str) -> bool:
    """Whether a Relevansi answers at the address, or at the same port of this computer."""
    parts = urlsplit(base_url)
    host = "127.0.0.1" if parts.hostname in EVERYWHERE else parts.hostname
    connection = http.client.HTTPConnection(host or "", parts.port, timeout=SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
