"""While the demo runs, its participants' questions are answered."""

from __future__ import annotations

import socket

import httpx
import pytest

from webapp.cli.collecting import beside_demo, demo_server


def test_the_chatbot_answers_where_the_demo_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_server, "PORT", 0)
    with beside_demo.running():
        address = capsys.readouterr().out.split()[-1]
        answer = httpx.post(address, json={"message": "rumah di johor"}, timeout=60)

    assert answer.status_code == 200
    assert answer.json()["properties"]


def test_the_demo_opens_where_a_chatbot_runs_already(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(demo_server, "PORT", taken.getsockname()[1])
        with beside_demo.running():
            pass

    assert capsys.readouterr().out == ""
