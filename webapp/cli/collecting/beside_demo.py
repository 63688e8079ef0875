"""The chatbot that ``relevansi demo`` runs, so that the participants of its phase 3 can ask."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import click

from webapp.cli.collecting import demo_server
from webapp.cli.frame.output import say
from webapp.cli.frame.serving import LOOPBACK, listen
from webapp.i18n import gettext

GLANCE = 0.25
"""Seconds after which the chatbot looks whether the demo has ended."""


@contextmanager
def running() -> Iterator[None]:
    """Run the demo chatbot where the demo's phase 3 asks it, unless the port is taken already."""
    try:
        listener = listen(LOOPBACK, demo_server.PORT)
    except click.ClickException:  # most likely by `relevansi chatbot`
        yield
        return
    listener.listen()  # a question that comes at once waits until the catalogue is read
    say(gettext("The demo chatbot is at %(address)s", address=demo_server.address(listener)))
    ended = Event()
    thread = Thread(target=_run, args=[listener, ended], daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        listener.close()


def _run(listener: socket.socket, ended: Event) -> None:
    from waitress import wasyncore

    sockets: dict[int, Any] = {}
    server = demo_server.made(listener, sockets)
    while not ended.is_set():
        wasyncore.loop(timeout=GLANCE, map=sockets, count=1)
    server.task_dispatcher.shutdown()
    wasyncore.close_all(sockets)
