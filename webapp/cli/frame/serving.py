"""``relevansi demo``, ``relevansi serve`` and ``relevansi upgrade``."""

from __future__ import annotations

import logging
import random
import secrets
import socket
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import click

from webapp.cli.frame import stopping
from webapp.cli.frame.output import say
from webapp.config import Settings, private_folder, resource, secret_key
from webapp.db.engine import Database
from webapp.db.sqlite_files import cut_off_beside
from webapp.i18n import gettext, ngettext

if TYPE_CHECKING:
    from flask import Flask

    from webapp.cli.frame.commands import AppFactory

LOOPBACK = "127.0.0.1"
PORT = 8800
THREADS = 8
CONNECTIONS = 1000
"""Open connections at once; a browser keeps up to six, a proxy as many as it likes."""
IDLE_SECONDS = 120
MOST_HEADER_BYTES = 16 * 2**10
"""Names, cookies and addresses of ours take a fraction of this."""
TRIED_PORTS = 20
DEMO_NOW = datetime(2026, 2, 9, 2, tzinfo=UTC)
"""When the demo's study begins: the same study is made every time."""


@click.command("demo")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; the first free from 8800.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.option("--fresh", is_flag=True, help="Throw the demo's ratings away and start anew.")
@click.pass_obj
def demo_command(
    create_app: AppFactory, port: int | None, *, no_browser: bool, fresh: bool
) -> None:
    """Open the demo, a finished study, in instance/demo.sqlite."""
    settings = prepared_demo(fresh=fresh)
    _serve(create_app(settings), settings, LOOPBACK, port, browser=not no_browser)


def prepared_demo(*, fresh: bool = False) -> Settings:
    """Return the settings of the demo, whose database holds its study afterwards."""
    settings = Settings.from_environment()
    private_folder(settings.instance)
    settings = replace(settings, database_url=settings.demo_database_url, is_demo=True)
    demo = Database(settings.database_url)
    if fresh:
        demo.close()
        _delete(Path(str(demo.url.database)))
        demo = Database(settings.database_url)
    demo.prepare()
    _load_demo(demo)
    demo.close()
    return settings


@click.command("serve")
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; the first free from 8800.")
@click.pass_obj
def serve_command(create_app: AppFactory, host: str, port: int | None) -> None:
    """Serve the app on the configured database until it is interrupted."""
    settings = Settings.from_environment()
    private_folder(settings.instance)
    _serve(create_app(settings), settings, host, port, browser=False)


@click.command("upgrade")
def upgrade_command() -> None:
    """Bring the configured database to this version of the program; keeps every row."""
    opened = Database(Settings.from_environment().database_url)
    opened.upgrade()
    say(
        gettext(
            "%(name)s is at version %(version)s.",
            name=opened.description,
            version=opened.version(),
        )
    )
    opened.close()


def _delete(path: Path) -> None:
    """Delete a SQLite file with its companions."""
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        name.unlink(missing_ok=True)


def _load_demo(demo: Database) -> None:
    from webapp.services.runs import samples
    from webapp.services.study import studies

    with demo.writing() as session:
        if studies.current(session) is None:
            say(gettext("Making the demo's study. This takes some seconds, once."), err=True)
            with _same_secrets():
                samples.load_demo(session, resource("seeds"), DEMO_NOW)
            session.commit()


@contextmanager
def _same_secrets() -> Iterator[None]:
    """Let the secrets of the demo's study, and so its addresses and orders, be always the same.

    Its people and answers are invented, and nobody can sign in by them.
    """
    drawn = random.Random("relevansi demo")  # noqa: S311 - they guard nothing
    known = secrets.token_hex, secrets.token_urlsafe
    secrets.token_hex = lambda nbytes=None: drawn.randbytes(nbytes or 32).hex()
    secrets.token_urlsafe = lambda nbytes=None: (
        urlsafe_b64encode(drawn.randbytes(nbytes or 32)).rstrip(b"=").decode()
    )
    try:
        yield
    finally:
        secrets.token_hex, secrets.token_urlsafe = known


def _serve(app: Flask, settings: Settings, host: str, port: int | None, *, browser: bool) -> None:
    from webapp.cli.frame.connections import Seldom, Server, places

    # "Task queue depth": that requests wait a moment is what the queue is for.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    logging.getLogger("waitress").addFilter(Seldom())
    listener = listen(host, port)
    sockets: dict[int, Any] = {}
    server = Server(
        app,
        listener,
        sockets,
        places=places(CONNECTIONS),
        largest_body=app.extensions["largest body"],
        threads=THREADS,
        channel_timeout=IDLE_SECONDS,
        ident="relevansi",
        max_request_header_size=MOST_HEADER_BYTES,
        clear_untrusted_proxy_headers=False,  # they show that a request is not from here
        log_socket_errors=False,  # a client that hangs up is not an error
    )
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    opened = Database(settings.database_url)
    say(gettext("Relevansi is at %(address)s", address=address))
    say(gettext("Database: %(name)s", name=opened.description))
    _name_leftovers(opened)
    if host != LOOPBACK:
        _tell_setup_link(opened, settings, address)
    opened.close()
    say(gettext("Stop it with Ctrl+C."))
    if browser:
        import webbrowser

        Timer(0.5, webbrowser.open, [address]).start()
    app.extensions["workers"].serve()
    if left := stopping.run(server, sockets):
        say(
            ngettext(
                "%(n)s request was cut off: it took too long.",
                "%(n)s requests were cut off: they took too long.",
                left,
            ),
            err=True,
        )
    app.extensions["workers"].finish(stopping.PATIENCE)
    app.extensions["database"].close()


def _name_leftovers(opened: Database) -> None:
    """Name the folders that a backup or restore left behind when it was cut off."""
    left = cut_off_beside(Path(opened.description)) if opened.is_sqlite else []
    for folder in left:
        say(
            gettext(
                "A backup or restore was cut off and left %(name)s behind. The database is whole; "
                "delete that folder.",
                name=folder,
            ),
            err=True,
        )


def _tell_setup_link(opened: Database, settings: Settings, address: str) -> None:
    """Print the link that sets the owner's first password from another machine, once."""
    from webapp.services.people import sign_in
    from webapp.services.study import studies

    with opened.reading() as session:
        study = studies.current(session)
        if study is not None and study.password is None:
            key = sign_in.setup_key(study, secret_key(settings.instance))
            link = f"{address}sign-in?setup={key}"
            say(gettext("Set the owner's password first: %(link)s", link=link))


def listen(host: str, port: int | None, *, first: int = PORT) -> socket.socket:
    """Return a bound socket on `port`, or on the first free port from `first`."""
    tried = [port] if port is not None else [*range(first, first + TRIED_PORTS), 0]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in tried:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
        except OSError as failure:
            listener.close()
            if number == tried[-1]:
                raise click.ClickException(
                    gettext(
                        "Port %(port)s of %(host)s cannot be used: %(why)s. Say another --port.",
                        port=number,
                        host=host,
                        why=failure.strerror,
                    )
                ) from failure
        else:
            return listener
    raise AssertionError(tried)
