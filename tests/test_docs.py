"""README, guides and the image: both languages are alike, and all that they name exists."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]
from granian.cli import cli
from sqlalchemy import make_url

from relevansi.cli.frame.commands import COMMANDS
from relevansi.cli.frame.commands import relevansi as application
from relevansi.config import Settings, with_driver
from relevansi.i18n import gettext, speaking
from relevansi.importers.results.files import LONGEST_RECORD, MOST_UNPACKED, Budget
from relevansi.importers.results.shapes import SHAPES
from relevansi.notation import number

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COMMAND = re.compile(r"\brelevansi ([a-z][a-z-]*)((?: +(?:--?[a-z]\S*|[A-Z]{2,}\b|\d\S*))*)")
PAIRS = [
    (ROOT / "README.md", ROOT / "README.id.md"),
    *((path, DOCS / "id" / path.name) for path in sorted((DOCS / "en").glob("*.md"))),
]
GUIDES = [DOCS / tongue / "commands.md" for tongue in ("en", "id")]
OPERATIONS = [DOCS / "operations.md", DOCS / "en" / "operators.md", DOCS / "id" / "operators.md"]
TEXT = {path: path.read_text("utf-8") for path in OPERATIONS}
OF_OTHER_ROWS = {"--format"}
"""Of `verify`, whose row says how its pack is made."""
READMES = [ROOT / "README.md", ROOT / "README.id.md"]


def commands(path: Path) -> set[tuple[str, ...]]:
    """Return the commands in code, each with its options."""
    code = re.findall(
        r"`([^`\n]+)`|^([^`\n]*\brelevansi [^`\n]*)$", path.read_text("utf-8"), re.MULTILINE
    )
    lines = (" ".join("".join(result).split("#")[0].split()) for result in code)
    calls = (COMMAND.search(line) for line in lines)
    return {(result[1], *result[2].split()) for result in calls if result}


@pytest.mark.parametrize(("english", "indonesian"), PAIRS, ids=lambda path: path.name)
def test_both_languages_name_the_same_commands_which_exist_and_link_each_other(
    english: Path, indonesian: Path
) -> None:
    assert commands(english) == commands(indonesian)
    assert {name for name, *_ in commands(english)} <= COMMANDS.keys()
    for path, translation, name in (
        (english, indonesian, "Bahasa Indonesia"),
        (indonesian, english, "English"),
    ):
        first = "\n".join(path.read_text("utf-8").splitlines()[:4])
        assert re.search(rf"\[{name}\]\(\S*{re.escape(translation.name)}", first)


def options(command: click.Command) -> set[str]:
    """Return every spelling of the options of a command and of those below it."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    spelled = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    return spelled.union(*map(options, below))


@pytest.mark.parametrize("language", ["en", "id"])
def test_the_page_of_commands_names_each_with_options_that_it_has(language: str) -> None:
    page = DOCS / language / "commands.md"
    assert {name for name, *_ in commands(page)} == COMMANDS.keys()
    for row in page.read_text("utf-8").splitlines():
        first_cell = row.replace(r"\|", "").partition("|")[2].partition("|")[0]
        if names := re.findall(r"`relevansi ([a-z-]+)", first_cell):
            context = click.Context(application)
            chosen = filter(None, (application.get_command(context, name) for name in names))
            options_named = set(re.findall(r"--[a-z][a-z-]*", row))
            assert options_named <= set().union(*map(options, chosen)) | OF_OTHER_ROWS, row


@pytest.mark.parametrize("language", ["en", "id"])
def test_the_page_of_commands_explains_every_setting(language: str) -> None:
    page = (DOCS / language / "commands.md").read_text("utf-8")
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "webapp").rglob("*.py"))
    settings = {name.rstrip("_") for name in re.findall(r"RELEVANSI_[A-Z_]+", sources)}

    assert {name for name in settings if f"`{name}`" not in page} == set()


def test_the_sites_list_every_guide() -> None:
    names = {path.name for path in (DOCS / "en").iterdir()}
    site = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert names == {path.name for path in (DOCS / "id").iterdir()}
    for name in names - {"index.md"}:
        assert f"- {name}\n" in site
        for tongue in ("en", "id"):
            assert f"]({name})" in (DOCS / tongue / "index.md").read_text("utf-8")


@pytest.mark.parametrize("tongue", ["en", "id"])
def test_the_pictures_of_a_guide_are_in_its_language(tongue: str) -> None:
    readme = ROOT / ("README.md" if tongue == "en" else f"README.{tongue}.md")
    texts = [path.read_text("utf-8") for path in (readme, *(DOCS / tongue).glob("*.md"))]
    pictures = {name for text in texts for name in re.findall(r"screenshots/([\w-]+\.png)", text)}

    assert pictures == {path.name for path in DOCS.glob(f"screenshots/*-{tongue}.png")}


@pytest.mark.parametrize("page", [*READMES, *GUIDES, *OPERATIONS], ids=lambda path: path.name)
def test_links_lead_to_headings_and_files_and_settings_exist(page: Path) -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "webapp").rglob("*.py"))
    text = page.read_text("utf-8")

    assert [name for name in re.findall(r"RELEVANSI_\w+", text) if name not in sources] == []
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" not in target:
            name, _, heading = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            assert path.exists(), target
            assert not heading or heading in headings(path), target


def headings(path: Path) -> set[str]:
    return {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith(("## ", "### "))
    }


@pytest.mark.parametrize("url", re.findall(r"DATABASE_URL='([^']+)'", "".join(TEXT.values())))
def test_the_guide_s_addresses_reach_the_driver_as_they_are_meant(url: str) -> None:
    dialect = make_url(with_driver(url)).get_dialect()()
    _, options = dialect.create_connect_args(make_url(with_driver(url)))

    if "target_session_attrs" in url:
        assert options["host"] == "db1,db2,db3"
        assert options["port"] == "5432,5432,5432"
        assert options["target_session_attrs"] == "read-write"
    else:
        assert options["password"] == "PASSWORD"


def test_the_image_is_made_of_files_python_and_a_command_that_exist() -> None:
    text = re.sub(r"^#.*\n", "", (DOCS / "Containerfile").read_text("utf-8"), flags=re.MULTILINE)
    joined = re.sub(r"\\\n\s*", "", text)
    result = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    for name, remainder in result:
        if name == "COPY" and not remainder.startswith("--from"):
            assert [
                source for source in remainder.split()[:-1] if not (ROOT / source).exists()
            ] == []

    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    version = re.search(r"python:3\.(\d+)", result[0][1])
    assert version is not None
    assert int(version[1]) >= int(oldest["requires-python"].rpartition(".")[2])
    program, *arguments = json.loads(next(remainder for name, remainder in result if name == "CMD"))
    assert program == "granian"
    cli.make_context(program, arguments)


def test_the_proxy_of_compose_is_the_one_its_servers_trust_and_takes_what_they_take() -> None:
    services = yaml.safe_load((DOCS / "compose.yaml").read_text("utf-8"))["services"]
    proxy, nginx = services["proxy"], (DOCS / "nginx.conf").read_text("utf-8")

    sources = "".join(path.read_text("utf-8") for path in (ROOT / "webapp").rglob("*.py"))
    servers = re.findall(r"server ([\w-]+):8800 ", nginx)
    assert servers == list(proxy["extra_hosts"]) == ["app-1", "app-2"]
    for name in servers:
        front = services[name]["networks"]["front"]["ipv4_address"]
        settings = services[name]["environment"]
        assert front == proxy["extra_hosts"][name]
        assert settings["RELEVANSI_TRUSTED_PROXIES"] == proxy["networks"]["front"]["ipv4_address"]
        assert all(setting.removesuffix("_FILE") in sources for setting in settings)
    listening = re.findall(r"listen (\d+)", nginx)
    assert [port.partition(":")[2] for port in proxy["ports"]] == listening
    megabytes = Settings.from_environment({}).max_upload_bytes // 2**20
    assert f"client_max_body_size {megabytes}m;" in nginx


@pytest.mark.parametrize("language", ["en", "id"])
def test_the_guide_of_results_names_every_shape_and_limit(language: str) -> None:
    guide = " ".join((DOCS / language / "own-results.md").read_text("utf-8").split())
    budget = Budget()
    with speaking(language):
        names = {name for shape in SHAPES for name in gettext(shape.name).split(", ")}
        limits = {number(getattr(budget, name)) for name in Budget.__struct_fields__}
    limits |= {f"{size // 2**20} MB" for size in (LONGEST_RECORD, MOST_UNPACKED)}

    assert {name for name in names | limits if name not in guide} == set()


PAPERS = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
PLACES = (ROOT, ROOT / "webapp" / "relevansi")


@pytest.mark.parametrize("page", PAPERS, ids=lambda path: path.name)
def test_every_place_that_the_papers_lead_to_exists(page: Path) -> None:
    text = " ".join(page.read_text("utf-8").split())
    places_and_names = re.findall(r"`((?:[\w-]+/)*[\w-]+(?:\.\w+|/))`(?:, `(\w+)`)?", text)
    assert len(places_and_names) > 5
    for path, name in places_and_names:
        places = [folder / path for folder in PLACES if (folder / path).exists()]
        assert places or "/" not in path or path in EXAMPLES, path
        if name and path.endswith(".py"):
            assert re.search(rf"\b{name}\b", places[0].read_text("utf-8")), f"{path}, {name}"


EXAMPLES = {"docs/en/", "docs/id/"}
"""Folders that stand for any file in them."""


@pytest.mark.parametrize(
    "code",
    [c for page in PAPERS for c in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)],
)
def test_every_example_in_the_papers_imports_what_it_uses(code: str) -> None:
    """Claims run; what needs a study is held to the names of the modules that it calls."""
    tree = ast.parse(dedent(code))
    modules: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            source = import_module(node.module or "")
            modules |= {alias.name: getattr(source, alias.name, None) for alias in node.names}
    for part in ast.walk(tree):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            module = modules.get(part.value.id)
            assert module is None or hasattr(module, part.attr), ast.unparse(part)
    claims: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Assert)]
    exec(compile(ast.Module(claims, []), "paper", "exec"), modules)
    assert modules
    assert None not in modules.values()
