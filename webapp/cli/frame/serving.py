"""``relevansi serve`` and ``relevansi upgrade``, and how both kinds of study are served."""

from __future__ import annotations

import gc
import logging
import socket
from collections.abc import MutableSequence
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import click

from webapp.cli.frame import address_in_use, stopping
from webapp.cli.frame.output import say
from webapp.cli.frame.processes import CAN_BE_SEVERAL, counts, run, usual
from webapp.config import Settings, private_folder, secret_key
from webapp.db.engine import Database
from webapp.db.sqlite_files import cut_off_beside
from webapp.i18n import gettext, ngettext

if TYPE_CHECKING:
    from flask import Flask

    from webapp.cli.frame.commands import AppFactory

LOOPBACK = "127.0.0.1"
PORT = 8800
THREADS = 8
BACKLOG = 1024
MOST_PROCESSES = 64
CONNECTIONS = 1000
"""Open connections at once; a browser keeps up to six, a proxy as many as it likes."""
IDLE_SECONDS = 120
MOST_HEADER_BYTES = 16 * 2**10
"""Names, cookies and addresses of ours take a fraction of this."""
TRIED_PORTS = 20


@click.command("serve")
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; the first free from 8800.")
@click.option(
    "--processes",
    type=click.IntRange(1, MOST_PROCESSES),
    help="How many processes answer; two where they fit side by side.",
)
@click.pass_obj
def serve_command(
    create_app: AppFactory, host: str, port: int | None, processes: int | None
) -> None:
    """Serve the app on the configured database until it is interrupted."""
    settings = Settings.from_environment()
    private_folder(settings.instance)
    number = _possible(processes or usual())
    serve(create_app(settings), settings, host, port, browser=False, processes=number)


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


def _possible(processes: int) -> int:
    """Return so many processes, or one where the system cannot copy a process."""
    if processes > 1 and not CAN_BE_SEVERAL:
        say(gettext("This system has no copies of processes: one process answers."), err=True)
        return 1
    return processes


def serve(
    app: Flask,
    settings: Settings,
    host: str,
    port: int | None,
    *,
    browser: bool,
    processes: int = 1,
) -> None:
    """Serve `app` by so many processes until it is interrupted, and open the `browser` on it."""
    listener = listen(host, port)
    listener.listen(BACKLOG)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    opened = Database(settings.database_url)
    say(gettext("Relevansi is at %(address)s", address=address))
    say(gettext("Database: %(name)s", name=opened.description))
    _name_leftovers(opened)
    if host != LOOPBACK:
        _tell_setup_link(opened, settings, address)
    name = opened.description
    opened.close()
    say(gettext("Stop it with Ctrl+C."))
    if browser:
        import webbrowser

        Timer(0.5, webbrowser.open, [address]).start()
    gc.freeze()  # what is here stays: looking through it would copy it into every process
    with address_in_use.announced(settings, address, name):
        if processes == 1:
            _answer(app, listener, [0])
        else:
            _answer_together(app, listener, processes)


def _answer_together(app: Flask, listener: socket.socket, processes: int) -> None:
    """Answer by so many processes; each has about as many connections as the others."""
    app.extensions["database"].share()
    held = counts(processes)

    def answer(number: int, until: int) -> None:
        _answer(app, listener, held, number, until)

    if not run(processes, listener, answer):
        raise click.ClickException(
            gettext("A process of the server ended by itself, so the server has stopped.")
        )


def _answer(
    app: Flask,
    listener: socket.socket,
    held: MutableSequence[int],
    number: int = 0,
    until: int | None = None,
) -> None:
    """Answer all who come to `listener` until it is interrupted; see ``stopping``.

    The first of several processes takes up the work that the last server left.
    """
    from webapp.cli.frame.connections import Seldom, Server, places

    # "Task queue depth": that requests wait a moment is what the queue is for.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    logging.getLogger("waitress").addFilter(Seldom())
    sockets: dict[int, Any] = {}
    server = Server(
        app,
        listener,
        sockets,
        places=places(CONNECTIONS),
        largest_body=app.extensions["largest body"],
        held=held,
        number=number,
        backlog=BACKLOG,
        threads=THREADS,
        channel_timeout=IDLE_SECONDS,
        ident="relevansi",
        max_request_header_size=MOST_HEADER_BYTES,
        clear_untrusted_proxy_headers=False,  # they show that a request is not from here
        log_socket_errors=False,  # a client that hangs up is not an error
    )
    if number == 0:
        app.extensions["workers"].serve()
    left = stopping.run(server, sockets, until=until)
    if left:
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
