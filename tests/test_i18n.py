"""Translations are read as the build has compiled them; a newer source is compiled first."""

from __future__ import annotations

import os
import sys
from gettext import NullTranslations
from pathlib import Path

import pytest
from babel.messages import pofile

import hatch_build
from relevansi import i18n

SOURCE = """msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\nPlural-Forms: nplurals=1; plural=0;\\n"

msgid "A word"
msgstr "%s"
"""


@pytest.fixture(name="source")
def _source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "webapp" / "translations" / "id" / "messages.po"
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE % "Sepatah kata", "utf-8")
    monkeypatch.setattr(i18n, "TRANSLATIONS", path.parent.parent)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the build adds the project's folder
    return path


def read() -> str:
    translations: NullTranslations = i18n._catalogue.__wrapped__("id")
    return translations.gettext("A word")


def test_a_source_is_compiled_at_the_first_start_and_once_it_changed(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read() == "Sepatah kata"
    with monkeypatch.context() as patch:
        patch.delattr(pofile, "read_po")  # compiling again fails
        assert read() == "Sepatah kata"
    assert sorted(path.name for path in source.parent.iterdir()) == ["messages.mo", "messages.po"]

    compiled_at = source.with_suffix(".mo").stat().st_mtime_ns
    source.write_text(SOURCE % "Kata lain", "utf-8")
    os.utime(source, ns=(compiled_at + 1000, compiled_at + 1000))
    assert read() == "Kata lain"

    hatch_build.compile_translations(source.parents[3])
    source.unlink()
    assert read() == "Kata lain"


def test_a_catalogue_is_a_language_with_and_without_its_source(source: Path) -> None:
    translations = source.parents[1]
    for code, name in (("su", "messages.po"), ("jv", "messages.mo"), ("jv", "messages.po")):
        (translations / code).mkdir(exist_ok=True)
        (translations / code / name).touch()

    assert i18n.languages_in(translations) == ("id", "en", "jv", "su")


def test_a_folder_that_takes_nothing_does_without(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _data: bytes) -> int:
        raise PermissionError

    monkeypatch.setattr(Path, "write_bytes", refuse)

    assert read() == "Sepatah kata"
    assert list(source.parent.iterdir()) == [source]
