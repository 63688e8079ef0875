"""The yardstick: a bare Flask application that stores one small row and renders a fragment.

It does what any application must that keeps what it acknowledges: one durable commit on
SQLite (WAL, synchronous=FULL) under one lock that orders the writers, then a fragment of as
many bytes as ours. It runs under waitress, set up as ours is. ``python -m tests.benchmarks.bare
FOLDER`` prints its port; with ``--canned`` it is no application at all but a socket that
answers the same bytes at once, which tells what the load generator itself can do.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from flask import Flask, render_template, request
from jinja2 import DictLoader
from waitress.server import create_server

from tests.benchmarks.commits import Rows
from webapp.cli.frame.serving import CONNECTIONS, IDLE_SECONDS, LOOPBACK, THREADS, listen

FRAGMENT = """\
<article id="card" class="card" aria-labelledby="title">
{% for line in lines %}<p class="line"><b>{{ loop.index }}</b> {{ line }}</p>
{% endfor %}{{ rest }}</article>"""
LINE = "Rumah Cemara Asri di Cemara, Medan, 4 Kamar Tidur, LT 105.0, LB 150"
BODY = b"x" * 8_000
CANNED = b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n" + BODY


def create_app(folder: Path) -> Flask:
    """Return the application; its one address says how many bytes are wanted."""
    app = Flask("bare")
    app.jinja_loader = DictLoader({"fragment.html": FRAGMENT})
    rows = Rows(folder / "bare.sqlite")

    @app.post("/fragment/<int:size>")
    def store(size: int) -> str:
        form = request.form
        rows.add(form["event_id"], form["relevance"], form["client_time"])
        return fragment(size)

    @app.get("/fragment/<int:size>")
    def fragment(size: int) -> str:
        count = max(0, size - len(FRAGMENT)) // (len(LINE) + 35)
        shown = render_template("fragment.html", lines=[LINE] * count, rest="")
        return shown + " " * (size - len(shown))

    return app


def main() -> None:
    """Print the port and serve until the process is ended."""
    parser = argparse.ArgumentParser(prog="bare", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--canned", action="store_true")
    said = parser.parse_args()
    if said.canned:
        asyncio.run(_answer_at_once())
        return
    # As ours does: what is logged takes time.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    listener = listen(LOOPBACK, 0)
    server = create_server(
        create_app(said.folder),
        sockets=[listener],
        threads=THREADS,
        connection_limit=CONNECTIONS,
        channel_timeout=IDLE_SECONDS,
    )
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    server.run()


async def _answer_at_once() -> None:
    server = await asyncio.start_server(_repeat, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await server.serve_forever()


async def _repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer whatever comes with the same bytes, until nothing comes."""
    while await reader.read(65_536):
        writer.write(CANNED)
    writer.close()


if __name__ == "__main__":
    main()
