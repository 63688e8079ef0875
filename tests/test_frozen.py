"""What the product makes of a finished study is what was frozen of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import frozen


@pytest.mark.parametrize(
    ("language", "is_whole"),
    [
        ("id", False),
        *(pytest.param(name, True, marks=pytest.mark.thorough) for name in frozen.LANGUAGES),
    ],
)
def test_every_output_of_the_demo_is_as_frozen(
    tmp_path: Path, language: str, is_whole: bool
) -> None:
    outputs = frozen.of_demo(tmp_path, [language], is_whole=is_whole)
    decoded = json.loads(json.dumps(outputs, default=str))
    of_every_language = frozen.frozen_demo()
    expected = {
        name: output
        for name, output in of_every_language.items()
        if name.startswith(f"{language}/") and (is_whole or name in decoded)
    }

    assert len(decoded) == (127 if is_whole else 47)
    assert frozen.difference(expected, decoded) is None


@pytest.mark.real
def test_every_output_of_the_recorded_run_is_as_frozen(tmp_path: Path, real_run: Path) -> None:
    assert real_run == frozen.RECORDED

    outputs = frozen.of_recorded_run(tmp_path)

    decoded = json.loads(frozen.HYBRID.read_text("utf-8"))
    assert [name for name in decoded | outputs if decoded.get(name) != outputs.get(name)] == []


def test_a_difference_is_found_and_named() -> None:
    was = {"a": [1.0, {"b": "x"}], "c": None}

    assert frozen.difference(was, {"a": [1.0 + 1e-12, {"b": "x"}], "c": None}) is None
    assert frozen.difference(was, {"a": [1.0, {"b": "y"}], "c": None}) == ".a.1.b: 'x' became 'y'"
    assert frozen.difference(was, {"a": [1, {"b": "x"}], "c": None}) == ".a.0: 1.0 became 1"
    assert frozen.difference({"a": 1}, {}) == " length: 1 became 0"
