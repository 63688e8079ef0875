"""Every address leads to a view, and a server starts without the libraries of other work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from flask.testing import FlaskClient

FIRST_PAGE = """
import sys
from pathlib import Path
from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url

file = Path(sys.argv[1])
app = create_app(Settings(sqlite_url(file), file.parent, is_demo=True))
assert app.test_client().get("/").status_code == 200
print(*sys.modules)
"""

ALL_AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url

folder = Path(sys.argv[1])
app = create_app(Settings(sqlite_url(folder / "first.sqlite"), folder))
paths = [
    rule.rule
    for rule in app.url_map.iter_rules()
    if not rule.arguments and "GET" in rule.methods and rule.endpoint != "static"
]
with ThreadPoolExecutor(8) as at_once:
    answers = list(at_once.map(lambda path: app.test_client().get(path), paths))
print(len(paths), {answer.status_code for answer in answers if answer.status_code >= 500} or "")
"""


def fresh(code: str, folder: Path) -> list[str]:
    process = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.split()


def test_the_first_page_waits_for_no_library_it_does_without(demo_file: Path) -> None:
    of_other_pages = {"alembic", "httpx", "markdown_it", "numpy", "openpyxl", "pandas", "scipy",
                      "segno", "resvg_py"}  # fmt: skip

    loaded = set(fresh(FIRST_PAGE, demo_file))

    assert of_other_pages & loaded == set()


def test_pages_may_be_read_for_the_first_time_all_at_once(tmp_path: Path) -> None:
    count, *faults = fresh(ALL_AT_ONCE, tmp_path)

    assert int(count) > 20
    assert faults == []


@pytest.mark.parametrize(
    ("path", "address"),
    [("/tokens", "/tokens/"), ("/runs?sort=a%26b", "/runs/?sort=a%26b"), ("//tokens", "/tokens/")],
)
def test_a_slash_is_added_on_whatever_host_was_asked_for(
    client: FlaskClient, path: str, address: str
) -> None:
    """A cache that is shared would hand the host of one request on to others."""
    environ = {"PATH_INFO": path.partition("?")[0], "QUERY_STRING": path.partition("?")[2]}
    answer = client.get(environ_overrides=environ, headers={"Host": "evil.invalid"})

    assert (answer.status_code, answer.headers["Location"]) == (308, address)
