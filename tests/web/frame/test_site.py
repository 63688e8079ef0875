"""The frame of every page: menus, files, templates, the service worker, health, compression."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import DictLoader, Environment, UndefinedError, nodes

from relevansi.config import resource
from relevansi.db.engine import Database
from relevansi.web.features import KEPT_FILES
from relevansi.web.frame import htmx
from relevansi.web.frame.access import RATER
from relevansi.web.frame.setup import CompiledTemplates
from relevansi.web.frame.site import site, static_address
from tests.page import Page
from tests.web import visitors
from tests.web.conftest import PART

FOLDER = resource("templates")
TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))


def test_the_frame_names_its_owner_and_no_one_to_a_stranger(
    app: Flask, web_database: Database
) -> None:
    def frame() -> Any:
        with app.test_request_context("/sign-in/", base_url="http://127.0.0.1:8000"):
            app.preprocess_request()
            return site()

    owner = frame()
    visitors.lock(web_database)
    stranger = frame()

    assert (owner.is_owner, owner.is_local, owner.home) == (True, True, "home.show")
    assert owner.rater
    assert (stranger.rater, stranger.guest, stranger.key) == ("", "", "")
    assert not stranger.is_owner


def test_the_address_of_a_static_file_moves_with_its_content(
    app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "static_folder", str(tmp_path))
    file = tmp_path / "a.css"
    addresses = []
    with app.test_request_context("/"):
        for number, text in enumerate(("one", "two", "one")):
            file.write_text(text)
            # Distinct times, however coarse the clock of the file system is.
            stamp = 1_700_000_000 + number
            os.utime(file, (stamp, stamp))
            addresses.append(static_address("a.css"))
        missing = static_address("b.css")

    assert addresses[0] == addresses[2] != addresses[1]
    assert missing.endswith("v=missing")


@pytest.mark.parametrize(
    ("joined", "part"),
    [
        ("joined/rating/rating.js+frame/copying.js", "frame/copying.js"),
        ("joined/rating/rating.js+frame/copying.js", "frame/outbox.js"),  # imported by the first
        ("joined/frame/parts.css", "frame/tokens.css"),
        ("joined/frame/parts.css", "vendor/inter-latin.woff2"),  # named by its styles
    ],
)
def test_the_address_of_a_joined_file_moves_with_all_that_is_in_it(
    app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, joined: str, part: str
) -> None:
    monkeypatch.setattr(app, "static_folder", copytree(resource("static"), tmp_path / "static"))
    file = tmp_path / "static" / part
    content = file.read_bytes()
    addresses = []
    with app.test_request_context("/"):
        for number, ending in enumerate((b"", b"\n/* more */", b"")):
            file.write_bytes(content + ending)
            stamp = 1_700_000_000 + number
            os.utime(file, (stamp, stamp))
            addresses.append(static_address(joined))

    assert addresses[0] == addresses[2] != addresses[1]


def test_a_script_comes_after_all_that_it_imports_and_each_file_once(client: FlaskClient) -> None:
    names = [path.name for path in resource("static").rglob("*.js") if "vendor" not in path.parts]
    assert sorted(names) == sorted(set(names))

    script = client.get("/static/joined/rating/rating.js+frame/copying.js")

    order = re.findall(r'^parts\["([\w.]+)"\] =', script.text, re.MULTILINE)
    assert script.mimetype == "text/javascript"
    assert not re.search(r"^\s*(?:import|export)\b", script.text, re.MULTILINE)
    assert len(order) == len(set(order))
    assert order.index("memory.js") < order.index("queue.js") < order.index("outbox.js")
    assert order[-2:] == ["rating.js", "copying.js"]


@pytest.mark.parametrize(
    "name",
    [
        "frame/nothing.js",
        "frame/page.js+frame/parts.css",
        "../../pyproject.toml",
        "rating/rating.js+../../webapp/app.js",
        "frame/icon.svg",
    ],
)
def test_no_other_file_is_shown(client: FlaskClient, name: str) -> None:
    assert client.get(f"/static/joined/{name}").status_code == 404


def files_named(name: str) -> set[str]:
    source = (FOLDER / name).read_text("utf-8")
    joined = re.findall(r"{% block (?:parts|scripts) %}([^{]+){% endblock %}", source)
    alone = re.findall(r"static\('([^']+\.\w+)'\)", source)
    return {*alone, *(f"joined/{files}" for files in joined)}


def worker(client: FlaskClient) -> dict[str, Any]:
    script = client.get("/service-worker.js").text
    decoded: dict[str, Any] = json.loads(script.partition("\n")[0][len("const SHELL = ") : -1])
    return decoded


def test_the_worker_is_a_script_for_the_whole_app_that_no_cache_holds(client: FlaskClient) -> None:
    answer = client.get("/service-worker.js")

    assert answer.mimetype == "text/javascript"
    assert answer.headers["Cache-Control"] == "no-store"
    assert worker(client)["base"] == "/"
    for file in worker(client)["files"]:
        with client.get(file) as result:
            assert result.status_code == 200, file


def test_the_worker_keeps_all_that_the_rating_pages_are_made_of() -> None:
    pages = ("frame/layout", "frame/page", "rating/judgments/page", "phase_3/own_questions/answer")
    files = {file for page in pages for file in files_named(f"{page}.html")}

    assert len(files - {"joined/frame/parts.css"}) >= 9
    assert files - {"joined/frame/parts.css"} <= {*KEPT_FILES}


def test_another_version_of_a_file_is_another_worker(
    app: Flask, client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = worker(client)
    copytree(resource("static"), tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(app, "static_folder", str(tmp_path))
    same = worker(client)
    (tmp_path / "rating/rating.js").write_text("// another version", "utf-8")
    os.utime(tmp_path / "rating/rating.js", (1, 1))
    after = worker(client)

    assert same == before
    assert after["version"] != before["version"]
    assert after["files"] != before["files"]


@pytest.mark.parametrize("language", ["id", "en"])
def test_the_page_for_a_missing_network_speaks_to_nobody_in_particular(
    client: FlaskClient, language: str
) -> None:
    answer = client.get(f"/offline/{language}")

    assert Page(answer)["lang"] == language
    assert "data-rater" not in answer.text
    assert RATER not in answer.headers
    assert "Database" not in answer.text
    assert client.get("/offline/xx").status_code == 404


def test_a_click_of_somebody_else_is_not_stored_as_whoever_is_here(
    app: Flask, client: FlaskClient, run_id: str
) -> None:
    page, judgment = f"/runs/{run_id}/queries/1", {"relevance": "1"}
    address = f"{page}/results/1/judgment"
    mine = client.get(page).headers[RATER]
    theirs = {**PART, RATER: "0" * 16}

    def judged() -> int:
        metrics = client.get(f"/runs/{run_id}/metrics.json").get_json()
        return int(metrics["queries"][0]["judged_count"])

    assert client.post(address, data=judgment, headers=theirs).status_code == 412
    assert judged() == 0
    response = client.post(address, data=judgment, headers={**PART, RATER: mine})
    assert (response.status_code, judged()) == (200, 1)
    visitors.lock(app.extensions["database"])
    signed_out = visitors.browser(app).post(address, data=judgment, headers=theirs)
    assert signed_out.status_code == 401


def test_a_server_says_in_a_line_whether_it_can_store(
    app: Flask, client: FlaskClient, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text, answer.mimetype) == (200, "ok\n", "text/plain")

    web_database.close()
    file = Path(web_database.description)
    away = file.rename(file.with_suffix(".away"))
    try:
        assert client.get("/healthz").status_code == 503
    finally:
        web_database.close()
        away.replace(file)
    assert client.get("/healthz").status_code == 200

    nowhere = Database("postgresql+psycopg://nobody@127.0.0.1:1/nothing")
    monkeypatch.setitem(app.extensions, "database", nowhere)
    answer = client.get("/healthz")
    nowhere.close()
    assert answer.status_code == 503
    assert answer.text.startswith("database: ")
    assert answer.text.count("\n") == 1


def test_a_template_prints_clean_text_and_forgives_no_missing_value(app: Flask) -> None:
    def printed(template: str, **values: object) -> str:
        with app.test_request_context("/"):
            return app.jinja_env.from_string(template).render(**values)

    assert printed("{{ name }}", name="a\x07b\u202ec") == "abc"
    assert printed("{{ name }}", name="<b>") == "&lt;b&gt;"
    with pytest.raises(UndefinedError):
        printed("{{ nothing }}")


def rendered(folder: Path, source: str) -> str:
    loader, cache = DictLoader({"page": source}), CompiledTemplates(folder)
    return Environment(loader=loader, bytecode_cache=cache).get_template("page").render()


def test_templates_are_compiled_whatever_becomes_of_the_folder_that_keeps_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    assert rendered(tmp_path / "file", "{{ 1 + 1 }}") == "2"  # no folder
    folder = tmp_path / "kept"
    assert rendered(folder, "{{ 1 + 2 }}") == "3"
    assert rendered(folder, "{{ 1 + 1 }}") == "2"  # another source
    (file,) = folder.iterdir()
    bytecode = file.read_bytes()

    for length in range(0, len(bytecode), 7):  # cut off
        file.write_bytes(bytecode[:length])
        assert rendered(folder, "{{ 1 + 1 }}") == "2"


def test_imported_templates_set_nothing_of_one_language(app: Flask) -> None:
    """They are run once for all readers; what their macros say is said anew each time."""
    trees = {name: app.jinja_env.parse((FOLDER / name).read_text("utf-8")) for name in TEMPLATES}
    imports = [node for tree in trees.values() for node in tree.find_all(nodes.Import)]
    names = {node.template.value for node in imports if isinstance(node.template, nodes.Const)}
    names |= {name for name in TEMPLATES if name.startswith("kinds/")}
    assigned = [node for name in names for node in trees[name].body if type(node) is nodes.Assign]
    calls = [call.node for node in assigned for call in node.find_all(nodes.Call)]

    assert len(names) > 10
    assert [call for call in calls if getattr(call, "name", "") in {"_", "ngettext"}] == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_compiles_is_translated_and_holds_no_script_or_style(
    app: Flask, name: str
) -> None:
    app.jinja_env.get_template(name)
    source = (FOLDER / name).read_text("utf-8")
    assert not re.search(
        r"<style(?!>\{\{ \w+ \}\}<)|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|hx-on", source
    )
    for unseen in (r"\{#.*?#\}", r"\{%.*?%\}", r"\{\{.*?\}\}", r"<(?:pre|code|kbd).*?</\w+>"):
        source = re.sub(unseen, " ", source, flags=re.DOTALL)
    text = " ".join(re.findall(r">([^<>]*)<", source)).replace("Relevansi", "")
    assert re.findall(r"[A-Za-z]{3,}", re.sub(r"&\w+;|SHA|Holm|metrics\.json", "", text)) == []


@pytest.mark.parametrize(
    ("address", "headers", "is_compressed"),
    [
        ("/static/frame/parts.css", {}, True),
        ("/static/frame/parts.css", {"Accept-Encoding": "identity"}, False),
        # A browser that resumes a download joins the part to bytes that are not compressed.
        ("/static/frame/parts.css", {"Range": "bytes=1000-3999"}, False),
        ("/healthz", {}, False),  # short
        ("/static/frame/icon.svg", {}, False),
    ],
)
def test_text_is_compressed_for_those_who_take_it(
    client: FlaskClient, address: str, headers: dict[str, str], *, is_compressed: bool
) -> None:
    with client.get(address, headers={"Accept-Encoding": "gzip", **headers}) as answer:
        assert ("Content-Encoding" in answer.headers) == is_compressed
        if "Range" in headers:
            assert (answer.status_code, len(answer.data)) == (206, 3000)
    assert "Accept-Encoding" in client.get("/").vary


@pytest.mark.parametrize(
    ("headers", "part"),
    [({}, False), ({"HX-Request-Type": "full"}, False), ({"HX-Request-Type": "partial"}, True)],
)
def test_only_a_request_that_swaps_the_answer_wants_a_part(
    app: Flask, client: FlaskClient, run_id: str, headers: dict[str, str], *, part: bool
) -> None:
    with app.test_request_context("/", headers=headers):
        assert htmx.wants_part() == part
    refused = {"event_id": "one", "quality": "9"}
    answer = client.post(f"/runs/{run_id}/queries/1/rating", data=refused, headers=headers)
    assert Page(answer).is_part == part
    assert "HX-Request-Type" in str(answer.vary)
