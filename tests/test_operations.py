"""Commands, settings, files, links and answers that the operators' pages name exist."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from granian.cli import cli
from sqlalchemy import make_url

from webapp.cli.frame import commands as command_line
from webapp.config import with_driver

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "operations.md"
GUIDES = tuple(ROOT / "docs" / tongue / "operators.md" for tongue in ("en", "id"))
TEXT = {path: path.read_text("utf-8") for path in (REFERENCE, *GUIDES)}
KNOWN = {
    *("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "STOPSIGNAL"),
    *("HEALTHCHECK", "CMD"),
}


def instructions() -> list[tuple[str, str]]:
    """Return the Containerfile's instructions: comments left out, continued lines joined."""
    text = (ROOT / "docs" / "Containerfile").read_text("utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines)
    split = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [(name, rest) for name, rest in split]


def test_the_containerfile_is_made_of_instructions_and_of_files_that_are_there() -> None:
    found = instructions()

    assert {name for name, _ in found} <= KNOWN
    assert found[0][0] == "FROM"
    for name, rest in found:
        if name == "COPY" and not rest.startswith("--from"):
            assert [source for source in rest.split()[:-1] if not (ROOT / source).exists()] == []
        if name == "CMD" or " CMD " in rest:
            assert json.loads(rest[rest.index("[") :])


def test_the_image_runs_a_python_and_a_command_that_exist() -> None:
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    version = re.search(r"python:3\.(\d+)", instructions()[0][1])
    command = json.loads(next(rest for name, rest in instructions() if name == "CMD"))

    assert version is not None
    assert int(version[1]) >= int(oldest["requires-python"].rpartition(".")[2])
    assert command[0] == "granian"
    cli.make_context("granian", command[1:])


@pytest.mark.parametrize("page", TEXT, ids=str)
def test_a_page_names_commands_and_variables_that_exist(page: Path) -> None:
    commands = set(re.findall(r"(?:^|`|/)relevansi ([a-z]+)", TEXT[page], re.MULTILINE))
    variables = set(re.findall(r"RELEVANSI_\w+", TEXT[page]))
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "webapp").rglob("*.py"))

    assert commands
    assert commands <= set(command_line.COMMANDS)
    assert [name for name in variables if name not in sources] == []


@pytest.mark.parametrize("page", TEXT, ids=str)
def test_the_links_of_a_page_lead_to_headings_and_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXT[page]):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.is_file(), target
        assert not heading or heading in headings(path), target


def headings(path: Path) -> set[str]:
    """Return the anchors of a page."""
    return {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith(("## ", "### "))
    }


@pytest.mark.parametrize("url", re.findall(r"DATABASE_URL='([^']+)'", "".join(TEXT.values())))
def test_the_guide_s_addresses_reach_the_driver_as_they_are_meant(url: str) -> None:
    dialect = make_url(with_driver(url)).get_dialect()()
    _, stated = dialect.create_connect_args(make_url(with_driver(url)))

    if "target_session_attrs" in url:
        assert stated["host"] == "db1,db2,db3"
        assert stated["port"] == "5432,5432,5432"
        assert stated["target_session_attrs"] == "read-write"
    else:
        assert stated["password"] == "PASSWORD"
