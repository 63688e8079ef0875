"""The yardstick: the least that a Flask application does which stores a verdict and shows figures.

It stores the verdict by SQLAlchemy Core in one durable commit (SQLite, WAL, synchronous=FULL)
under one lock that orders the writers, reads the question's verdicts back, and renders their
figures in a fragment of thirty lines. It knows no rater, no log of events, no run and no language.
It runs under waitress, set up as ours is. ``python -m tests.benchmarks.minimal FOLDER`` prints its
address; with ``--canned`` it is not an application but a socket that answers the same bytes at
once, which tells what the load generator itself can do.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from flask import Flask, render_template, request
from jinja2 import DictLoader
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    event,
    select,
)
from sqlalchemy.dialects.sqlite import insert
from waitress.server import create_server

from webapp.cli.frame.serving import LOOPBACK, WAITRESS, listen
from webapp.config import sqlite_url

VERDICTS = Table(
    "verdicts",
    MetaData(),
    Column("query", Integer, primary_key=True),
    Column("rank", Integer, primary_key=True),
    Column("verdict", String),
    Column("event_id", String),
    Column("client_time", String),
)
OF_QUERY = (
    select(VERDICTS.c.rank, VERDICTS.c.verdict)
    .where(VERDICTS.c.query == bindparam("query"))
    .order_by(VERDICTS.c.rank)
)
GIVEN = insert(VERDICTS)
STORE = GIVEN.on_conflict_do_update(
    index_elements=["query", "rank"],
    set_={name: GIVEN.excluded[name] for name in ("verdict", "event_id", "client_time")},
)
FRAGMENT = """\
<section id="figures">
  <h2>Question {{ query }}</h2>
  <p class="judged">{{ verdicts|length }} judged</p>
  <table>
    <thead>
      <tr>
        <th scope="col">Figure</th>
        <th scope="col">Value</th>
      </tr>
    </thead>
    <tbody>
      {% for name, value in figures.items() %}
      <tr>
        <th scope="row">{{ name }}</th>
        <td>{{ "%.2f"|format(value) }}</td>
      </tr>
      {% endfor %}
    </tbody>
  </table>
  <ol>
    {% for rank, verdict in verdicts %}
    <li value="{{ rank }}">
      {% if verdict == "1" %}
      <b>relevant</b>
      {% else %}
      not relevant
      {% endif %}
    </li>
    {% endfor %}
  </ol>
</section>"""
LINES = """{% for line in lines %}<p class="line"><b>{{ loop.index }}</b> {{ line }}</p>
{% endfor %}"""
LINE = "Rumah Cemara Asri di Cemara, Medan, 4 Kamar Tidur, LT 105.0, LB 150"
BODY = b"x" * 8_000
CANNED = b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n" + BODY


def create_app(folder: Path) -> Flask:
    """Return the application: a verdict is posted, lines of so many bytes are asked for."""
    app = Flask("minimal")
    app.jinja_loader = DictLoader({"figures.html": FRAGMENT, "lines.html": LINES})
    engine = create_engine(sqlite_url(folder / "minimal.sqlite"))
    writer = Lock()

    @event.listens_for(engine, "connect")
    def set_up(connection: object, _record: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")  # type: ignore[attr-defined]
        connection.execute("PRAGMA synchronous = FULL")  # type: ignore[attr-defined]

    VERDICTS.metadata.create_all(engine)

    @app.post("/queries/<int:query>/results/<int:rank>/judgment")
    def judge(query: int, rank: int) -> str:
        form = request.form
        said = {"verdict": form["relevance"], "event_id": form["event_id"]}
        values = {"query": query, "rank": rank, **said, "client_time": form["client_time"]}
        with writer, engine.begin() as connection:
            connection.execute(STORE, values)
            found = _verdicts(connection, query)
        return render_template("figures.html", query=query, verdicts=found, figures=_figures(found))

    @app.get("/lines/<int:size>")
    def lines(size: int) -> str:
        shown = render_template("lines.html", lines=[LINE] * (size // (len(LINE) + 35)))
        return shown.ljust(size)

    return app


def _verdicts(connection: Connection, query: int) -> Sequence[tuple[int, str]]:
    return [(rank, verdict) for rank, verdict in connection.execute(OF_QUERY, {"query": query})]


def _figures(verdicts: Sequence[tuple[int, str]]) -> dict[str, float]:
    relevant = [rank for rank, verdict in verdicts if verdict == "1"]
    return {
        "Precision@5": len([rank for rank in relevant if rank <= 5]) / 5,
        "Precision": len(relevant) / len(verdicts),
        "Reciprocal rank": 1 / relevant[0] if relevant else 0.0,
        "Success": float(bool(relevant)),
    }


def main() -> None:
    """Print the address and serve until the process is ended."""
    parser = argparse.ArgumentParser(prog="minimal", description=__doc__)
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
        **WAITRESS,
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
