"""``relevansi serve`` and ``relevansi upgrade``, and how both kinds of study are served.

Plain waitress in one process, for one machine or one room; docs/operations.md has the server for a
network. What was answered is stored, so a server that is stopped loses nothing: browsers send again
what was not answered.
"""

from __future__ import annotations

import gc
import logging
import signal
import socket
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, NoReturn

import click

from webapp.cli.frame import address_in_use
from webapp.cli.frame.output import say
from webapp.config import Settings, private_folder, secret_key
from webapp.db.engine import Database
from webapp.db.sqlite_files import cut_off_beside
from webapp.i18n import gettext

if TYPE_CHECKING:
    from flask import Flask

    from webapp.cli.frame.commands import AppFactory

LOOPBACK = "127.0.0.1"
PORT = 8800
TRIED_PORTS = 20
BACKLOG = 1024
PATIENCE = 25.0
"""Seconds in which a question to a chatbot that is on its way gets its answer at the end."""
WAITRESS: dict[str, Any] = {
    "threads": 8,
    "connection_limit": 500,
    "channel_timeout": 30,
    "cleanup_interval": 10,
    "max_request_header_size": 16 * 2**10,
    "asyncore_use_poll": True,
    "ident": "relevansi",
    "clear_untrusted_proxy_headers": False,  # they show that a request is not from here
    "log_socket_errors": False,  # a client that hangs up is not an error
}


@click.command("serve")
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on.")
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


def serve(app: Flask, settings: Settings, host: str, port: int | None, *, browser: bool) -> None:
    """Serve `app` until it is interrupted, and open the `browser` on it."""
    listener = listen(host, port)
    listener.listen(BACKLOG)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    opened = Database(settings.database_url)
    say(gettext("Relevansi is at %(address)s", address=address))
    say(gettext("Database: %(name)s", name=opened.description))
    _name_leftovers(opened)
    if host != LOOPBACK:
        tell_setup_link(opened, settings, address)
    name = opened.description
    opened.close()
    say(gettext("Stop it with Ctrl+C."))
    if browser:
        import webbrowser

        Timer(0.5, webbrowser.open, [address]).start()
    gc.freeze()  # what is here stays
    with address_in_use.announced(settings, address, name):
        _answer(app, listener)


def _answer(app: Flask, listener: socket.socket) -> None:
    """Answer all who come to `listener` until Ctrl+C or a signal to end."""
    from waitress.server import create_server

    # "Task queue depth": that requests wait a moment is what the queue is for.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    largest = app.config["MAX_CONTENT_LENGTH"] + 1  # the app refuses it in the sender's language
    server = create_server(
        app, sockets=[listener], max_request_body_size=largest, backlog=BACKLOG, **WAITRESS
    )
    signal.signal(signal.SIGTERM, _stop)
    app.extensions["workers"].serve()
    server.run()
    server.close()
    app.extensions["workers"].finish(PATIENCE)
    app.extensions["database"].close()


def _stop(_number: int, _frame: object) -> NoReturn:
    """End waitress's loop, as Ctrl+C does: its threads finish what they have begun."""
    raise SystemExit(0)


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


def tell_setup_link(opened: Database, settings: Settings, address: str) -> None:
    """Print the link that sets the owner's first password, as long as there is none."""
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
