"""The wheel, the lock files and the commands that work in a clone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import hatch_build

ROOT = Path(__file__).resolve().parents[1]
CACHE = re.compile(r"/(__pycache__|\.\w+_cache)/")


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "package-lock.json", tmp_path)
    vendor = tmp_path / "static" / "vendor"
    vendor.mkdir(parents=True)
    for name in hatch_build.PAGES.files:
        (vendor / name).touch()
    (vendor / "versions.json").write_text(json.dumps(hatch_build.locked(tmp_path)), "utf-8")
    return tmp_path


def files(folder: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in ((ROOT / folder), *(ROOT / folder).rglob("*"))
        if path.is_file() and not CACHE.search(path.as_posix())
    }


def names(requirements: list[str]) -> set[str]:
    result = [re.match(r"[\w.-]+", text) for text in requirements]
    return {match[0].lower().replace("_", "-") for match in result if match}


def test_the_wheel_holds_pages_styles_scripts_and_samples(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert process.returncode == 0, process.stderr

    (wheel,) = tmp_path.glob("relevansi-*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    beside = {
        f"relevansi/{name}" for top in ("templates", "static", "seeds") for name in files(top)
    }
    beside |= {f"relevansi/{name}" for top in hatch_build.guides(ROOT) for name in files(top)}
    package = {name.removeprefix("webapp/") for name in files("webapp")}
    sources = {name for name in package if name.endswith(".po")}
    assert beside | package - sources <= inside
    assert {name.replace(".po", ".mo") for name in sources} <= inside
    assert not sources & inside  # an unpacked source could be newer than what was compiled of it
    assert {f"relevansi/static/vendor/{name}" for name in hatch_build.PAGES.files} <= inside
    assert not [name for name in inside if name.startswith(("tests/", "instance/"))]


@pytest.mark.parametrize("lost", [*hatch_build.PAGES.files, "versions.json"])
def test_a_missing_file_is_fetched_again(project: Path, lost: str) -> None:
    (project / "static" / "vendor" / lost).unlink()

    assert not hatch_build.is_current(project)


def test_without_a_network_the_build_stops_with_the_reason_and_the_remedy(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = subprocess.CompletedProcess([], 1, "", "npm error code ENOTFOUND\nnpm error more\n")
    monkeypatch.setattr(hatch_build, "npm", lambda *_: refused)

    with pytest.raises(SystemExit, match=r"ENOTFOUND.*Connect to the internet") as stop:
        hatch_build.install(project)

    assert "\n" not in str(stop.value)


LOCKS = ("requirements.txt", "requirements-dev.txt")


def test_a_lock_names_no_address_to_download_from_and_carries_hashes() -> None:
    for lock in (*LOCKS, "package-lock.json"):
        text = (ROOT / lock).read_text("utf-8")
        assert "resolved" not in text
        assert "--index-url" not in text
        assert not re.findall(r"https?://(?!github\.com/sponsors)", text)
        blocks = re.split(r"\n(?=[a-z0-9])", text) if lock in LOCKS else []
        assert all("--hash=sha256:" in block for block in blocks if "==" in block)


def test_the_locks_hold_all_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = project["dependency-groups"]
    needed = {
        name: names([text for text in group if isinstance(text, str)])
        for name, group in groups.items()
    }
    run, develop = (names((ROOT / lock).read_text("utf-8").splitlines()) for lock in LOCKS)

    dependencies = project["project"]["dependencies"]
    assert names(dependencies) <= run
    assert [text for text in dependencies if "<" not in text] == []  # a release that may break it
    assert not run & develop  # each package is locked once
    del needed["docs"]
    assert set().union(*needed.values()) <= run | develop
