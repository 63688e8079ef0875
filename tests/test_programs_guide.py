"""Every example of the guide for programs does what it says, at a served study."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import httpx
import pytest
from werkzeug.serving import make_server

import relevansi
from relevansi.app import create_app
from tests.cli.relevansi import relevansi as command
from tests.test_notebook import FILES

DOCS = Path(__file__).parents[1] / "docs"
FOUND = {
    name: re.findall(
        r"^```(sh|python)\n(.*?)^```", (DOCS / name).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    for name in ("en/programs.md", "id/programs.md")
}
EXAMPLES = FOUND["en/programs.md"]


class Served(NamedTuple):
    """A folder to run examples in, and the environment that they name."""

    folder: Path
    environment: dict[str, str]


@pytest.fixture(name="served")
def _served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("RELEVANSI_INSTANCE", str(tmp_path))
    with relevansi.open(tmp_path / "relevansi.sqlite", new=True) as study:
        ids = study.import_files(*FILES, rater="Dewi")["id"]
        item = int(study.items(unjudged=True)["item"][0])
    question = json.loads(FILES[1].read_text("utf-8").partition("\n")[0])["text"]
    result = {"query": question, "doc_id": "n1", "rank": 1, "text": "News"}
    (tmp_path / "results.jsonl").write_text(json.dumps(result) + "\n", "utf-8")
    app = create_app()
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    environment = {
        "RELEVANSI_URL": f"http://127.0.0.1:{server.port}",
        "RELEVANSI_TOKEN": command(
            tmp_path, "token", "new", "--scope", "everything"
        ).stdout.strip(),
        "RUN": ids[0],
        "OTHER": ids[1],
        "ITEM": str(item),
    }
    header = {"Authorization": f"Bearer {environment['RELEVANSI_TOKEN']}"}
    tasks = f"{environment['RELEVANSI_URL']}/api/v1/tasks"
    task = httpx.post(tasks, headers=header, trust_env=False).json()["task"]
    yield Served(tmp_path, {**environment, "TASK": task["id"], "CARD": task["cards"][0]["card"]})
    server.shutdown()
    thread.join()
    server.server_close()
    app.extensions["workers"].finish(60)
    app.extensions["database"].close()


def test_both_languages_have_the_same_examples() -> None:
    """But for the words of a comment."""
    plain = [
        [(kind, re.sub(r"#.*", "", text)) for kind, text in examples] for examples in FOUND.values()
    ]
    assert plain[0] == plain[1]
    assert {kind for kind, _ in EXAMPLES} == {"sh", "python"}


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
def test_every_curl_line_is_answered(served: Served) -> None:
    """With a status of success, also when it is sent again."""
    lines = [line for kind, text in EXAMPLES if kind == "sh" for line in text.splitlines()]
    environment = {"PATH": os.environ["PATH"], **served.environment}
    for line in lines * 2:
        call = line.replace('"item": 1', f'"item": {served.environment["ITEM"]}')
        process = subprocess.run(
            ["sh", "-c", call.replace("curl ", "curl -sS --fail-with-body --noproxy '*' ", 1)],
            cwd=served.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert process.returncode == 0, f"{line}\n{process.stdout}{process.stderr}"
        assert process.stdout


def test_every_python_example_runs(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in one namespace, as one would type them."""
    monkeypatch.chdir(served.folder)
    monkeypatch.setenv("RELEVANSI_TOKEN", served.environment["RELEVANSI_TOKEN"])
    names: dict[str, Any] = {}
    for kind, text in EXAMPLES:
        if kind == "python":
            exec(text.replace("http://127.0.0.1:8800", served.environment["RELEVANSI_URL"]), names)
    assert len(names["study"].runs()) == 4
    names["study"].close()
