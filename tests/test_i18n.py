"""A catalogue is read once: what was read of it is kept beside it, as long as it says the same."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from babel.messages import pofile

from webapp import i18n

ORIGINAL = i18n.TRANSLATIONS / "id" / "messages.po"


@pytest.fixture(name="catalogue")
def _catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of its own, of which nothing was kept yet."""
    monkeypatch.setattr(i18n, "TRANSLATIONS", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "id" / "messages.po"
    path.parent.mkdir()
    shutil.copy(ORIGINAL, path)
    return path


def kept(catalogue: Path) -> Path:
    return catalogue.parent / "__pycache__" / "messages.json"


def read() -> dict[str, str]:
    """The catalogue's messages, read as a program reads them that has just started."""
    return i18n._catalogue.__wrapped__("id")


def test_what_was_kept_is_what_was_read(catalogue: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read()
    monkeypatch.delattr(pofile, "read_po")  # whoever asks for it again fails

    assert read() == first
    assert len(first) > 1_000
    assert kept(catalogue).stat().st_mode == catalogue.stat().st_mode
    assert list(kept(catalogue).parent.iterdir()) == [kept(catalogue)]


def test_a_changed_catalogue_is_read_anew(catalogue: Path) -> None:
    assert "A word of our own" not in read()
    with catalogue.open("a", encoding="utf-8") as file:
        file.write('\nmsgid "A word of our own"\nmsgstr "Sepatah kata"\n')

    assert read()["A word of our own"] == "Sepatah kata"
    assert json.loads(kept(catalogue).read_text("utf-8"))["messages"] == read()


@pytest.mark.parametrize("junk", ["", "{", "[]", "7", '{"of": 1}', "\udcff"])
def test_a_broken_copy_is_made_anew(catalogue: Path, junk: str) -> None:
    first = read()
    kept(catalogue).write_bytes(junk.encode("utf-8", "surrogateescape"))

    assert read() == first
    assert json.loads(kept(catalogue).read_text("utf-8"))["messages"] == first


def test_a_folder_that_takes_nothing_does_without(catalogue: Path) -> None:
    kept(catalogue).parent.write_text("no folder", "utf-8")

    assert len(read()) > 1_000
    assert sorted(path.name for path in catalogue.parent.iterdir()) == [
        "__pycache__",
        "messages.po",
    ]


def test_a_full_disk_leaves_nothing_half_written(
    catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _other: Path) -> Path:
        raise OSError

    monkeypatch.setattr(Path, "replace", refuse)

    assert len(read()) > 1_000
    assert list(kept(catalogue).parent.iterdir()) == []


def test_who_keeps_nothing_compiled_keeps_this_neither(
    catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    assert len(read()) > 1_000
    assert not kept(catalogue).exists()
