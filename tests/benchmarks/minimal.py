"""The yardstick of a click: the least application of the same libraries that does its work.

It stores a verdict in one durable commit, reads the verdicts of the question back and answers with
their figures; it knows no rater, no log, no run and no language. ``python -m
tests.benchmarks.minimal FOLDER`` prints its address, as ``relevansi serve`` does.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from threading import Lock
from typing import Any

from flask import Flask, render_template, request
from jinja2 import DictLoader
from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert
from waitress.server import create_server

from relevansi.cli.frame.serving import LOOPBACK, WAITRESS, listen
from relevansi.config import sqlite_url

SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON")
VERDICTS = Table(
    "verdicts",
    MetaData(),
    *(Column(name, Integer, primary_key=True) for name in ("query", "rank")),
    *(Column(name, String) for name in ("verdict", "event_id", "client_time")),
)
NEW = insert(VERDICTS)
STORE = NEW.on_conflict_do_update(index_elements=["query", "rank"], set_=dict(NEW.excluded))
FRAGMENT = """<section id="figures">
<p>{{ ranks|length }} relevant of {{ judged }}</p>
<table>
{% for name, value in figures.items() %}
<tr><th scope="row">{{ name }}</th><td>{{ "%.2f"|format(value) }}</td></tr>
{% endfor %}
</table>
<ol>{% for rank in ranks %}<li value="{{ rank }}">relevant</li>{% endfor %}</ol>
</section>"""


def create_app(file: Path) -> Flask:
    app, writer, engine = Flask("minimal"), Lock(), create_engine(sqlite_url(file))
    app.jinja_loader = DictLoader({"figures.html": FRAGMENT})

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: object) -> None:
        for setting in SETTINGS:
            connection.execute(f"PRAGMA {setting}")

    VERDICTS.metadata.create_all(engine)

    @app.post("/queries/<int:query>/results/<int:rank>/judgment")
    def judge(query: int, rank: int) -> str:
        form = request.form
        row = {"query": query, "rank": rank, "verdict": form["relevance"]}
        row |= {name: form[name] for name in ("event_id", "client_time")}
        of_query = select(VERDICTS.c.rank, VERDICTS.c.verdict).where(VERDICTS.c.query == query)
        with writer, engine.begin() as connection:
            connection.execute(STORE, row)
            verdicts = connection.execute(of_query.order_by(VERDICTS.c.rank)).all()
        ranks = [rank for rank, verdict in verdicts if verdict == "1"]
        figures = {
            "Precision@5": len([rank for rank in ranks if rank <= 5]) / 5,
            "Precision": len(ranks) / len(verdicts),
            "Reciprocal rank": 1 / ranks[0] if ranks else 0.0,
        }
        return render_template("figures.html", ranks=ranks, judged=len(verdicts), figures=figures)

    return app


if __name__ == "__main__":
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # as ours does
    listener = listen(LOOPBACK, 0)
    app = create_app(Path(sys.argv[1], "minimal.sqlite"))
    server = create_server(app, sockets=[listener], **WAITRESS)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    server.run()
