"""Templates are compiled once, whatever becomes of the folder that keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from jinja2 import DictLoader, Environment

from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.web.frame.site import CompiledTemplates


def rendered(folder: Path, source: str) -> str:
    """Return the page of a template, from an environment that has not compiled it yet."""
    environment = Environment(
        loader=DictLoader({"page": source}), bytecode_cache=CompiledTemplates(folder)
    )
    return environment.get_template("page").render()


def test_a_second_start_compiles_no_template_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer() -> str:
        app: Flask = create_app(Settings(sqlite_url(tmp_path / "study.sqlite"), tmp_path))
        page = app.test_client().get("/")
        app.extensions["database"].close()
        assert page.status_code == 200
        return page.text

    first = answer()
    monkeypatch.delattr(Environment, "compile")

    assert answer() == first


def test_a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{{ 1 + 1 }}") == "2"

    assert rendered(tmp_path, "{{ 1 + 2 }}") == "3"


def test_pages_answer_where_the_folder_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert rendered(tmp_path / "file", "{{ 1 + 1 }}") == "2"


def test_code_that_was_cut_off_is_compiled_again(tmp_path: Path) -> None:
    rendered(tmp_path, "{{ 1 + 1 }}")
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()

    for length in range(0, len(whole), 7):
        kept.write_bytes(whole[:length])
        assert rendered(tmp_path, "{{ 1 + 1 }}") == "2"
