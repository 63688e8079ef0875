"""The README and the guides: both languages name the same commands, and those exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webapp.cli.frame import commands as command_line

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COMMAND = re.compile(r"\brelevansi ([a-z][a-z-]*)((?: +(?:--?[a-z]\S*|[A-Z]{2,}\b|\d\S*))*)")
PAIRS = [
    (ROOT / "README.md", ROOT / "README.id.md"),
    *((path, DOCS / "id" / path.name) for path in sorted((DOCS / "en").glob("*.md"))),
]


def commands(path: Path) -> list[tuple[str, ...]]:
    """Return the commands in code, each with its options, in their order."""
    code = re.findall(
        r"`([^`\n]+)`|^([^`\n]*\brelevansi [^`\n]*)$", path.read_text("utf-8"), re.MULTILINE
    )
    lines = (" ".join("".join(found).split("#")[0].split()) for found in code)
    named = (COMMAND.search(line) for line in lines)
    return [(found[1], *found[2].split()) for found in named if found]


@pytest.mark.parametrize(("english", "indonesian"), PAIRS, ids=lambda path: path.name)
def test_both_languages_name_the_same_commands_and_link_each_other(
    english: Path, indonesian: Path
) -> None:
    assert sorted(set(commands(english))) == sorted(set(commands(indonesian)))
    first = "\n".join(english.read_text("utf-8").splitlines()[:4])
    other = "\n".join(indonesian.read_text("utf-8").splitlines()[:4])
    assert re.search(r"\[Bahasa Indonesia\]\(\S*" + re.escape(indonesian.name), first)
    assert re.search(r"\[English\]\(\S*" + re.escape(english.name), other)


@pytest.mark.parametrize("english", [english for english, _ in PAIRS], ids=lambda path: path.name)
def test_every_command_that_is_named_is_there(english: Path) -> None:
    assert {name for name, *_ in commands(english)} <= command_line.COMMANDS.keys()


def test_the_readme_lists_every_command() -> None:
    """Both languages name the same commands, so it is enough to ask one."""
    named = {name for name, *_ in commands(ROOT / "README.md")}

    assert command_line.COMMANDS.keys() <= named


def test_every_guide_is_there_in_both_languages_and_on_the_site() -> None:
    names = {path.name for path in (DOCS / "en").iterdir()}
    site = (ROOT / "mkdocs.yml").read_text("utf-8")

    assert names == {path.name for path in (DOCS / "id").iterdir()}
    for name in names - {"index.md"}:
        assert f"- {name}\n" in site
        assert all(
            f"]({name})" in (DOCS / tongue / "index.md").read_text() for tongue in ("en", "id")
        )


@pytest.mark.parametrize("tongue", ["en", "id"])
def test_the_pictures_of_a_guide_are_in_its_language(tongue: str) -> None:
    readme = ROOT / ("README.md" if tongue == "en" else f"README.{tongue}.md")
    texts = [path.read_text("utf-8") for path in (readme, *(DOCS / tongue).glob("*.md"))]
    shown = {name for text in texts for name in re.findall(r"screenshots/([\w-]+\.png)", text)}

    assert shown == {path.name for path in DOCS.glob(f"screenshots/*-{tongue}.png")}


@pytest.mark.parametrize("readme", ["README.md", "README.id.md"])
def test_the_links_of_a_readme_lead_to_files(readme: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / readme).read_text("utf-8")):
        assert "://" in target or (ROOT / target).exists(), target
