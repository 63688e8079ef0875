"""A wing goes when its name, folders and tables are deleted: the core does without it."""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.wings import copy_package, copy_tests, gone_with, left_out
from webapp.config import resource, sqlite_url
from webapp.db.engine import Database
from webapp.rooms import WINGS
from webapp.services.runs import samples

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_IT = """
import re
import sys
from pathlib import Path
from webapp.app import create_app
from webapp.cli import run
from webapp.config import Settings, sqlite_url
from webapp.web.frame.rooms import every, kept_files

folder, compiled = map(Path, sys.argv[1:])
(folder / "compiled_templates").symlink_to(compiled)
settings = Settings(sqlite_url(folder / "study.sqlite"), folder)
app = create_app(settings)
client = app.test_client()
runs = sorted(set(re.findall(r"/runs/([0-9a-f]{10})", client.get("/runs/").text)))
assert len(runs) >= 2, runs
clicked = client.post(
    f"/runs/{runs[0]}/queries/1/results/1/judgment",
    data={"relevance": "1", "event_id": "wingless"},
)
assert clicked.status_code == 303, clicked.text
paths = [
    "/", "/runs/", f"/runs/{runs[0]}", f"/runs/{runs[0]}/queries/1", f"/runs/{runs[0]}/export.csv",
    f"/runs/{runs[0]}/metrics.json", f"/comparisons/?runs={runs[0]}&runs={runs[1]}",
    f"/comparisons/report.json?runs={runs[0]}&runs={runs[1]}", "/measures/", "/runs/import",
    "/study/standing", "/raters/", "/agreement", "/rate/",
    *(
        app.url_map.bind("").build(entry.endpoint)
        for room in every()
        for entry in room.entries
    ),
]
for path in paths:
    answer = client.get(path, headers={"Sec-Fetch-Site": "same-origin"}, follow_redirects=True)
    assert answer.status_code == 200, (path, answer.status_code)
for file in kept_files():
    assert client.get(f"/static/{file}").status_code == 200, file
for arguments in (
    ["--help"],
    ["runs", "--json"],
    ["raters"],
    ["metrics", "--run", runs[0], "--format", "json"],
    ["agreement"],
    ["compare", "--runs", runs[0], runs[1], "--resamples", "100", "--format", "json"],
    *(["export", runs[0], "--format", form] for form in ("csv", "json", "qrels", "run")),
    ["export-tree", str(folder / "tree")],
    ["check"],
):
    try:
        run(create_app, arguments)
    except SystemExit as ended:
        assert not ended.code, arguments
"""


@pytest.fixture(scope="module", name="study_file")
def _study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of the rated sample study."""
    path = tmp_path_factory.mktemp("wings") / "study.sqlite"
    database = Database(sqlite_url(path))
    database.prepare()
    with database.writing() as session:
        samples.load(session, resource("seeds"), NOW)
        session.commit()
    database.close()
    return path


@pytest.fixture(scope="module", name="whole_package")
def _whole_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as in a wheel, with templates, static and seeds inside, compiled once."""
    package = tmp_path_factory.mktemp("whole") / "webapp"
    shutil.copytree(ROOT / "webapp", package, ignore=left_out({"__pycache__"}))
    for folder in ("templates", "static"):
        shutil.copytree(ROOT / folder, package / folder)
    (package / "seeds").symlink_to(ROOT / "seeds")
    for module in package.rglob("*.py"):
        py_compile.compile(str(module), doraise=True)
    return package


EACH_TIME = "phase_3"
"""The wing that the test command takes out; `nox -s thorough` takes out each."""


each_wing = pytest.mark.parametrize(
    "wing",
    [pytest.param(wing, marks=() if wing == EACH_TIME else pytest.mark.thorough) for wing in WINGS],
)


@each_wing
def test_the_core_rates_compares_and_exports_without_a_wing(
    wing: str, whole_package: Path, study_file: Path, tmp_path: Path
) -> None:
    copy_package(whole_package, tmp_path / "webapp", gone_with(wing))
    shutil.copy(study_file, tmp_path)
    done = _python(
        *("-c", WITHOUT_IT, str(tmp_path), str(whole_package.parent)),
        folder=tmp_path,
        RELEVANSI_INSTANCE=str(tmp_path),
        RELEVANSI_DATABASE_URL=sqlite_url(tmp_path / "study.sqlite"),
    )

    assert done.returncode == 0, done.stdout + done.stderr


@each_wing
def test_the_tests_of_all_other_rooms_are_collected_without_a_wing(
    wing: str, whole_package: Path, tmp_path: Path
) -> None:
    """Every test file that stays is imported, with all that it imports."""
    gone = gone_with(wing)
    copy_package(whole_package, tmp_path / "webapp", gone)
    copy_tests(tmp_path / "tests", gone)
    for name in ("pyproject.toml", "noxfile.py", "hatch_build.py", "docs", "seeds"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = _python(
        *("-m", "pytest", "--collect-only", "-qq", "-m", "", "-p", "no:cacheprovider", "tests"),
        folder=tmp_path,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "/services/rating/test_" in done.stdout
    assert f"/{wing}/test_" not in done.stdout


def _python(*arguments: str, folder: Path, **known: str) -> subprocess.CompletedProcess[str]:
    """Return what Python ended with, run in a folder that has the package."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **known},
    )
