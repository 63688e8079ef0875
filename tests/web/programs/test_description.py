"""The OpenAPI document: it is what the addresses do, and programs can be made from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest
from flask import Flask

from relevansi.services.people.tokens import SCOPES, Scope
from relevansi.web.programs import api
from relevansi.web.programs.openapi import document
from tests.page import Page
from tests.web.programs.program import Program, served, token
from tests.web.rating.blind_study import three_runs

HERE = Path(__file__).parent
KEPT = HERE.parents[2] / "docs" / "openapi.json"
RUN = b'{"query": "Does copper bend?", "system": "a", "doc_id": "d1", "title": "Copper"}\n'


def written() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def test_the_committed_document_is_the_one_of_the_code() -> None:
    """`nox -s openapi` writes it anew where an address changed."""
    assert api.blueprint is not None  # type: ignore[attr-defined]
    assert KEPT.read_text("utf-8") == written()


def test_the_document_is_at_its_address(app: Flask) -> None:
    """For everybody, without a token, and without an address of another machine in it."""
    response = app.test_client().get("/api/v1/openapi.json")

    assert response.json == json.loads(written())
    assert "http" not in json.dumps(response.json).replace('"type": "http"', "")


def test_its_page_explains_every_type_that_it_names(app: Flask) -> None:
    page = Page(app.test_client().get("/tokens/addresses"))
    links = {link for link in page.links("section a") if link.startswith("#")}

    assert (
        {f"#{anchor}" for anchor in page.values("[id]", "id")} >= links > {"#GateReport", "#RunRow"}
    )
    assert "failed | open | passed" in page
    assert not page.all("pre")  # a paragraph is no code


def schemathesis_findings(app: Flask, secret: str) -> str:
    """Return what a run of all checks against a served application prints if it finds anything."""
    with served(app) as address:
        command = [
            *(sys.executable, "-m", "schemathesis.cli"),
            *("--config-file", str(HERE / "schemathesis.toml"), "run", str(KEPT)),
            *("--url", address, "-H", f"Authorization: Bearer {secret}", "--seed", "1"),
            *("--generation-database", "none", "--max-examples", "40"),
        ]
        with TemporaryDirectory() as folder:  # it keeps what it found where it is run
            process = subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=folder
            )
    return process.stdout + process.stderr if process.returncode else ""


@pytest.mark.thorough
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("rater", [None, "Ani"])
def test_nothing_is_found_by_many_requests(app: Flask, rater: str | None, scope: Scope) -> None:
    """In every scope, as the owner and as a rater, in sequences too."""
    three_runs(app.extensions["database"])
    assert schemathesis_findings(app, token(app, scope, rater=rater)) == ""


@pytest.fixture(name="generated_client", scope="module")
def _generated_client(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("made")
    config = folder / "config.yml"
    config.write_text("post_hooks: []\n")
    place = ("--output-path", str(folder / "made_client"), "--meta", "none")
    command = (sys.executable, "-m", "openapi_python_client", "generate", "--path", str(KEPT))
    subprocess.run(
        [*command, *place, "--config", str(config)],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    sys.path.insert(0, str(folder))
    try:
        return import_module("made_client")
    finally:
        sys.path.remove(str(folder))


@pytest.mark.thorough
def test_a_generated_client_imports_a_run_reads_its_figures_and_exports_it(
    app: Flask, generated_client: ModuleType
) -> None:
    """What openapi-python-client makes of the document works against the application."""

    def call(name: str, *place: Any, **arguments: Any) -> Any:
        module = import_module(f"made_client.api.default.{name}")
        return module.sync(*place, client=client, **arguments)

    models, types = import_module("made_client.models"), import_module("made_client.types")
    with served(app) as address:
        client = generated_client.AuthenticatedClient(address, token(app, "everything"))
        with client:
            body = types.File(BytesIO(RUN), "run.jsonl", "application/jsonl")
            [run] = call("import_runs", body=models.ImportForm([body])).data
            [result] = call("list_results", run.id).data
            judgment = models.NewJudgment(event_id="e1", item=result.item, verdict="1")
            judged = call("judge_item", body=judgment)
            figures = call("show_figures", run.id, figures="P@1").to_dict()
            exported = call("export_run", run.id, "qrels").payload.read()

    assert judged.relevant is True
    assert figures["figures"]["P@1"]["value"] == 1
    assert exported == b"1 0 d1 1\n"
    assert Program(app, "read").get(f"/runs/{run.id}/figures", figures="P@1") == figures


if __name__ == "__main__":
    KEPT.write_text(written(), "utf-8")
