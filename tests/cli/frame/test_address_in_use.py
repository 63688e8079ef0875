"""Links name the address of the server that runs, as long as it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.cli.frame import serving
from webapp.config import Settings, sqlite_url
from webapp.i18n import speaking


@pytest.fixture(name="settings")
def _settings(tmp_path: Path) -> Iterator[Settings]:
    with speaking("en"):
        yield Settings(sqlite_url(tmp_path / "relevansi.sqlite"), tmp_path)


def database(settings: Settings) -> str:
    return str(settings.instance / "relevansi.sqlite")


def test_the_address_of_a_running_server_is_taken_until_it_stops(
    settings: Settings, healthy_port: int
) -> None:
    with serving.announced(settings, f"http://127.0.0.1:{healthy_port}/", database(settings)):
        address, why = serving.chosen(settings, None)
    after, usual = serving.chosen(settings, None)

    assert address == f"http://127.0.0.1:{healthy_port}"
    assert "served now" in why
    assert after == "http://127.0.0.1:8800"
    assert "Nothing is being served now" in usual
    assert list(settings.instance.glob("served-*")) == []


def test_an_address_that_is_named_is_taken_letter_by_letter(
    settings: Settings, healthy_port: int
) -> None:
    with serving.announced(settings, f"http://127.0.0.1:{healthy_port}/", database(settings)):
        address, why = serving.chosen(settings, "https://Nilai.example/a/")

    assert address == "https://Nilai.example/a"
    assert "--base-url" in why


def test_a_server_for_every_computer_is_named_by_its_port_here(
    settings: Settings, healthy_port: int
) -> None:
    with serving.announced(settings, f"http://0.0.0.0:{healthy_port}/", database(settings)):
        address, why = serving.chosen(settings, None)

    assert address == f"http://127.0.0.1:{healthy_port}"
    assert "--base-url" in why


def test_a_server_of_another_study_is_not_taken(settings: Settings, healthy_port: int) -> None:
    with serving.announced(settings, f"http://127.0.0.1:{healthy_port}/", "demo.sqlite"):
        assert serving.find(settings) is None


@pytest.mark.parametrize("left", ["{}", "[", json.dumps({"pid": 1})])
def test_a_file_that_cannot_be_read_is_ignored(settings: Settings, left: str) -> None:
    (settings.instance / "served-1.json").write_text(left, "utf-8")

    assert serving.find(settings) is None


@pytest.mark.skipif(os.name != "posix", reason="there the address alone shows it")
def test_the_file_of_a_process_that_is_gone_is_deleted(
    settings: Settings, healthy_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: int) -> None:
        raise ProcessLookupError

    with serving.announced(settings, f"http://127.0.0.1:{healthy_port}/", database(settings)):
        monkeypatch.setattr(os, "kill", gone)
        assert serving.find(settings) is None
        assert list(settings.instance.glob("served-*")) == []


def test_a_server_that_does_not_answer_is_not_taken(settings: Settings) -> None:
    with serving.announced(settings, "http://127.0.0.1:9/", database(settings)):
        assert serving.find(settings) is None
