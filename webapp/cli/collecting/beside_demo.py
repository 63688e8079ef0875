"""The chatbot that ``relevansi demo`` runs, so that the participants of its phase 3 can ask."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import click

from webapp.cli.collecting import demo_server
from webapp.cli.frame.output import say
from webapp.cli.frame.serving import LOOPBACK, listen
from webapp.i18n import gettext


@contextmanager
def running() -> Iterator[None]:
    """Run the demo chatbot where the demo's phase 3 asks it, unless the port is taken already."""
    try:
        listener = listen(LOOPBACK, demo_server.PORT)
    except click.ClickException:  # most likely by `relevansi chatbot`
        yield
        return
    listener.listen()  # who asks at once waits until it has read its catalogue
    say(gettext("The demo chatbot is at %(address)s", address=demo_server.address(listener)))
    Thread(target=_run, args=[listener], daemon=True).start()
    try:
        yield
    finally:
        listener.close()


def _run(listener: socket.socket) -> None:
    demo_server.made(listener).run()
