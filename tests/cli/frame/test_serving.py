"""``relevansi serve`` takes a free port, and links name its address as long as it runs."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import click
import pytest

from relevansi.cli.frame import serving
from relevansi.config import Settings, sqlite_url
from relevansi.i18n import speaking
from tests.browser.server import HYBRID, Server
from tests.cli.relevansi import relevansi


@pytest.fixture(name="settings")
def _settings(tmp_path: Path) -> Iterator[Settings]:
    with speaking("en"):
        yield Settings(sqlite_url(tmp_path / "relevansi.sqlite"), tmp_path)


def database(settings: Settings) -> str:
    return str(settings.instance / "relevansi.sqlite")


def test_the_address_of_a_running_server_is_taken_until_it_stops(
    settings: Settings, healthy_port: int
) -> None:
    here = f"http://127.0.0.1:{healthy_port}"
    with serving.announced(settings, f"{here}/", database(settings)):
        served, _ = serving.address_of_links(settings, None)
        chosen, _ = serving.address_of_links(settings, "https://Nilai.example/a/")
    with serving.announced(settings, f"http://0.0.0.0:{healthy_port}/", database(settings)):
        everywhere, _ = serving.address_of_links(settings, None)
    usual, _ = serving.address_of_links(settings, None)

    assert (served, everywhere, usual) == (here, here, "http://127.0.0.1:8800")
    assert chosen == "https://Nilai.example/a"
    assert list(settings.instance.glob("served-*")) == []


def test_another_server_and_what_was_left_of_one_are_not_taken(
    settings: Settings, healthy_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = f"http://127.0.0.1:{healthy_port}/"
    for remaining in ("{}", "[", json.dumps({"pid": 1})):
        (settings.instance / "served-1.json").write_text(remaining, "utf-8")
        assert serving.find(settings) is None
    (settings.instance / "served-1.json").unlink()
    with serving.announced(settings, here, "demo.sqlite"):  # of another study
        assert serving.find(settings) is None
    with serving.announced(settings, "http://127.0.0.1:9/", database(settings)):  # answers nothing
        assert serving.find(settings) is None

    def gone(*_: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(os, "kill", gone)
    with serving.announced(settings, here, database(settings)):
        if os.name == "posix":
            assert serving.find(settings) is None
            assert list(settings.instance.glob("served-*")) == []


def test_a_port_that_is_taken_is_named_with_what_to_do() -> None:
    with serving.listen(serving.LOOPBACK, 0) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(click.ClickException, match=f"{port}.*--port"):
            serving.listen(serving.LOOPBACK, port)


def test_without_a_port_the_first_free_one_is_taken() -> None:
    with serving.listen(serving.LOOPBACK, 0) as busy:
        busy.listen()
        first = busy.getsockname()[1]
        with serving.listen(serving.LOOPBACK, None, first=first) as listener:
            result = listener.getsockname()[1]

    assert first < result < first + serving.TRIED_PORTS


def test_an_address_of_version_6_is_listened_on() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with serving.listen("::1", 0) as listener:
        assert listener.family == socket.AF_INET6


def test_upgrading_names_the_database_and_its_version(tmp_path: Path) -> None:
    first, again = (relevansi(tmp_path, "upgrade") for _ in range(2))

    assert first.returncode == 0, first.stderr
    assert str(tmp_path) in first.stdout
    assert again.stdout == first.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without a signal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_well_and_frees_its_port(tmp_path: Path, number: int) -> None:
    server = Server(tmp_path / "instance")
    server.start()
    assert server.process is not None
    with urlopen(f"{server.url}/healthz", timeout=60):
        pass

    server.process.send_signal(number)

    assert server.process.wait(timeout=60) == 0
    assert server.faults() == ""
    with serving.listen(serving.LOOPBACK, server.port):
        pass
    assert server.import_runs(HYBRID)  # the database is whole and not locked
    server.stop()
