"""The participants of the demo ask the chatbot that runs beside it."""

from __future__ import annotations

from webapp.cli.collecting import demo_server
from webapp.services.phase_3.demo import SETTINGS


def test_the_demo_asks_where_its_chatbot_runs() -> None:
    assert SETTINGS.endpoint == f"http://127.0.0.1:{demo_server.PORT}{demo_server.PATH}"
