"""``relevansi serve`` and ``relevansi upgrade``, and how both kinds of study are served.

Plain waitress in one process, for one machine or one room; docs/operations.md has the server for a
network. What was answered is stored, so a server that is stopped loses nothing: browsers send again
what was not answered.
"""

from __future__ import annotations

import gc
import http.client
import json
import logging
import os
import signal
import socket
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import click

from relevansi.cli.frame.commands import AppFactory
from relevansi.cli.frame.output import say
from relevansi.config import FOLDER, Settings, private_folder
from relevansi.db.engine import Database
from relevansi.db.sqlite_files import cut_off_beside
from relevansi.i18n import gettext
from relevansi.services.folders.folder import names
from relevansi.services.judging import stored_summaries
from relevansi.services.people import sign_in
from relevansi.services.study import studies

if TYPE_CHECKING:
    from flask import Flask

LOOPBACK = "127.0.0.1"
PORT = 8800
EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognised, not listened on
TRIED_PORTS = 20
BACKLOG = 1024
SECONDS = 2
"""How long a server is given to answer that it is one."""
PATIENCE = 25.0
"""Seconds that a server which is stopped waits for the answers of chatbots."""
WAITRESS: dict[str, Any] = {
    "threads": 8,
    # At the limit nobody is let in until an idle connection ends. Each is an open file, of which
    # most systems allow a process 1,024.
    "connection_limit": 800,
    "channel_timeout": 8,
    "cleanup_interval": 2,
    "max_request_header_size": 16 * 2**10,
    "asyncore_use_poll": True,
    "ident": "relevansi",
    "clear_untrusted_proxy_headers": False,  # they show that a request is not from here
    "log_socket_errors": False,  # a client that hangs up is not an error
}


@contextmanager
def announced(settings: Settings, base_url: str, database: str) -> Iterator[None]:
    """Leave the address of a server in the instance's folder until the block ends."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = {"base_url": base_url, "database": database, "pid": os.getpid(), "started_at": now}
    file = settings.instance / f"served-{os.getpid()}.json"
    with suppress(OSError):  # without the file, commands assume the usual address
        file.write_text(json.dumps(record), "utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def find(settings: Settings) -> str | None:
    """Return the address of the latest server of the configured database that answers."""
    # The server of a folder of studies serves each of them below a path of its own.
    with closing(Database(settings.database_url)) as database:
        addresses = {database.description: ""}
    if settings.studies is not None and settings.study:
        addresses[str(settings.studies / FOLDER)] = f"s/{settings.study}/"
    servers = []
    for file in settings.instance.glob("served-*.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            served = json.loads(file.read_text("utf-8"))
            if not _is_running(served["pid"]):
                file.unlink()
            elif served["database"] in addresses:
                address = f"{served['base_url']}{addresses[served['database']]}"
                servers.append((served["started_at"], address))
    for _, address in sorted(servers, reverse=True):
        if _answers(address):
            return address
    return None


def address_of_links(settings: Settings, base_url: str | None) -> tuple[str, str]:
    """Return the address for a link, and the sentence that says why it is this one."""
    if base_url:
        return base_url.rstrip("/"), gettext("The address is that of --base-url.")
    served = find(settings)
    if served is None:
        return f"http://{LOOPBACK}:{PORT}", gettext(
            "Nothing is being served now, so the address is the usual one of this computer. "
            "Name another one by --base-url."
        )
    parts = urlsplit(served)
    if parts.hostname in EVERYWHERE:
        return f"http://{LOOPBACK}:{parts.port}", gettext(
            "Relevansi is served now to every computer that reaches this one; the address is "
            "that on this computer. Name the one raters use by --base-url."
        )
    return served.rstrip("/"), gettext("The address is where Relevansi is served now.")


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # Windows has no such question: only the address itself shows it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it runs, as another user
        return True
    return True


def _answers(base_url: str) -> bool:
    """Whether a Relevansi answers at the address, or at the same port of this computer."""
    parts = urlsplit(base_url)
    host = LOOPBACK if parts.hostname in EVERYWHERE else parts.hostname
    with closing(http.client.HTTPConnection(host or "", parts.port, timeout=SECONDS)) as connection:
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False


@click.command("serve")
@click.option("--host", default=LOOPBACK, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; the first free from 8800.")
@click.pass_obj
def serve_command(create_app: AppFactory, host: str, port: int | None) -> None:
    """Serve the app on the configured database until it is interrupted.

    For one machine or one room; docs/operations.md says how it is served to a network.
    """
    settings = Settings.from_environment()
    private_folder(settings.instance)
    serve(create_app(settings), settings, host, port, browser=False)


@click.command("upgrade")
def upgrade_command() -> None:
    """Bring the configured database to this version of the program; keeps every judgment.

    Figures that are stored beside the judgments are computed anew.
    """
    settings = Settings.from_environment()
    urls = [settings.database_url]
    if settings.studies is not None and not settings.study:
        urls += [settings.of_study(name).database_url for name in names(settings.studies)]
    for url in urls:
        with closing(Database(url)) as opened:
            opened.upgrade()
            stored_summaries.recompute(opened)
            name, version = opened.description, opened.version()
        say(gettext("%(name)s is at version %(version)s.", name=name, version=version))


def serve(app: Flask, settings: Settings, host: str, port: int | None, *, browser: bool) -> None:
    """Serve `app` until it is interrupted, and open the `browser` on it."""
    listener = listen(host, port)
    listener.listen(BACKLOG)
    host_part = f"[{host}]" if ":" in host else host
    address = f"http://{host_part}:{listener.getsockname()[1]}{settings.prefix}/"
    database = app.extensions["database"]
    say(gettext("Relevansi is at %(address)s", address=address))
    if app.config["FOLDER"]:
        say(gettext("Studies: %(name)s", name=app.config["FOLDER"]))
    else:
        say(gettext("Database: %(name)s", name=database.description))
    if database.is_sqlite:
        for folder in cut_off_beside(Path(database.description)):
            warning = gettext(
                "A backup or restore was cut off and left %(name)s behind. The database is whole; "
                "delete that folder.",
                name=folder,
            )
            say(warning, err=True)
    if host != LOOPBACK:
        print_setup_link(app, settings, address)
    say(gettext("Stop it with Ctrl+C."))
    if browser:
        Timer(0.5, webbrowser.open, [address]).start()
    gc.freeze()  # the modules read so far never go: collecting need not look through them
    with announced(settings, address, database.description):
        _answer_requests(app, listener)


def _answer_requests(app: Flask, listener: socket.socket) -> None:
    """Answer all who come to `listener` until Ctrl+C or a signal to end."""
    from waitress.server import create_server  # noqa: PLC0415 - other commands only ask where

    # That requests wait a moment, and are not begun at the end, is what the queue is for.
    for name in ("waitress", "waitress.queue"):
        logging.getLogger(name).setLevel(logging.ERROR)
    largest = app.config["MAX_CONTENT_LENGTH"] + 1  # the app refuses it in the sender's language
    limits: dict[str, Any] = {"max_request_body_size": largest, "backlog": BACKLOG}
    server = create_server(app, sockets=[listener], **limits, **WAITRESS)
    signal.signal(signal.SIGTERM, _stop)
    app.extensions["workers"].serve()
    server.run()
    server.close()
    if "studies" in app.extensions:
        app.extensions["studies"].finish(PATIENCE)
    app.extensions["workers"].finish(PATIENCE)
    app.extensions["database"].close()


def _stop(_number: int, _frame: object) -> NoReturn:
    """End waitress's loop, as Ctrl+C does: its threads finish what they have begun."""
    raise SystemExit(0)


def print_setup_link(app: Flask, settings: Settings, address: str) -> None:
    """Print the link that sets the owner's first password, as long as there is none."""
    with app.extensions["database"].reading() as session:
        study = studies.current(session)
        if study is not None and study.password is None and not settings.auth_header:
            key = sign_in.setup_key(study, str(app.secret_key))
            link = f"{address}sign-in?setup={key}"
            say(gettext("Set the owner's password first: %(link)s", link=link))


def listen(host: str, port: int | None, *, first: int = PORT) -> socket.socket:
    """Return a bound socket on `port`, or on the first free port from `first`."""
    # Port 0 is any port that is free.
    ports = [port] if port is not None else [*range(first, first + TRIED_PORTS), 0]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in ports:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
        except OSError as error:
            listener.close()
            failure = error
        else:
            return listener
    refusal = gettext(
        "Port %(port)s of %(host)s cannot be used: %(why)s. Say another --port.",
        port=ports[-1],
        host=host,
        why=failure.strerror,
    )
    raise click.ClickException(refusal) from failure
