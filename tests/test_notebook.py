"""A study in a notebook: in this process and at a server, with the numbers of the commands."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import relevansi
from relevansi import RelevansiError, Study
from relevansi.db.engine import Database
from relevansi.services.runs import waiting_files
from relevansi.web.frame.access import IN_PROCESS
from tests.cli.relevansi import document
from tests.cli.relevansi import relevansi as command

ROOT = Path(__file__).parents[1]
SEEDS = ROOT / "seeds" / "documents"
FILES = [SEEDS / name for name in ("corpus.jsonl", "queries.jsonl", "runs", "qrels.txt")]


@pytest.fixture(name="instance")
def _instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RELEVANSI_INSTANCE", str(tmp_path))
    monkeypatch.delenv("RELEVANSI_TOKEN", raising=False)
    return tmp_path


@pytest.fixture(name="study")
def _study(instance: Path) -> Iterator[Study]:
    """The demo's files of documents in the database that commands of the folder use."""
    with relevansi.open(instance / "relevansi.sqlite", new=True) as study:
        study.import_files(*FILES, rater="Dewi")
        yield study


def test_the_import_is_light() -> None:
    """No Flask, SQLAlchemy or pandas before a study is opened."""
    heavy = "[m for m in ('flask', 'sqlalchemy', 'pandas') if m in sys.modules]"
    code = f"import relevansi, sys; print({heavy})"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT
    )

    assert process.stdout.strip() == b"[]"


def test_figures_and_differences_are_those_of_the_commands(study: Study, instance: Path) -> None:
    """To the last digit, of the run and of each question."""
    runs = study.runs()
    assert sorted(runs["search_method"]) == ["bm25", "char_ngrams", "lsa"]
    for run in runs["id"]:
        printed = document(command(instance, "metrics", "--run", run, "--format", "json"))
        result = study.figures(run).set_index("figure")
        for name, figure in printed["figures"].items():
            assert _same(result.loc[name, [*figure]].to_dict(), figure)
        by_question = study.figures_by_question(run).set_index(["query_id", "figure"])
        for query in printed["queries"]:
            for name, span in query["figures"].items():
                assert _same(by_question.loc[(query["query_id"], name)][[*span]].to_dict(), span)
    compared = document(command(instance, "compare", "--runs", *runs["id"], "--format", "json"))
    differences = study.differences(*runs["id"])
    assert len(differences) == len(compared["differences"])
    for row, printed in zip(differences.to_dict("records"), compared["differences"], strict=True):
        flat = {**printed, **printed["interval"]}
        assert _same(row, {str(name): flat[str(name)] for name in row})
    agreement = document(command(instance, "agreement", "--format", "json"))
    assert study.agreement() == agreement


def _same(row: dict[Any, Any], printed: dict[str, Any]) -> bool:
    return all(
        pd.isna(row[name]) if value is None else row[name] == value
        for name, value in printed.items()
    )


def test_a_gate_says_what_the_command_says(study: Study, instance: Path) -> None:
    """Of one list alone, with and without the questions that it lacks; nothing is stored."""
    baseline = study.runs()["id"][0]
    question = json.loads(FILES[1].read_text("utf-8").partition("\n")[0])["text"]
    new = instance / "new.jsonl"
    new.write_text(json.dumps({"query": question, "doc_id": "n1", "rank": 1}) + "\n", "utf-8")
    limits = ("--figures", "P@5", "--min-judged", "0.5", "--floor", "RR=0.1", "--format", "json")

    for further, left_out in (((), False), (("--allow-missing",), True)):
        printed = command(instance, "gate", new, "--baseline", baseline, *limits, *further)
        result = study.gate(
            new, baseline=baseline, figures=["P@5"], floors={"RR": 0.1}, min_judged=0.5,
            allow_missing=left_out,
        )  # fmt: skip
        assert result == json.loads(printed.stdout)
        assert result["exit_code"] == printed.returncode
    assert len(study.runs()) == 3
    with pytest.raises(RelevansiError, match="A gate cannot take"):
        study.gate(new, baseline=baseline, tolerance=float("inf"))


def test_tables_have_a_row_for_each_thing_over_all_pages(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages are followed to the end, and small pages give the same table as large ones."""
    run = study.runs()["id"][0]

    def tables() -> list[pd.DataFrame]:
        return [
            *(study.results(run), study.judgments(), study.judgments("Dewi", run)),
            *(study.questions(), study.items(run=run), study.items(unjudged=True)),
        ]

    large = tables()
    monkeypatch.setattr("relevansi.notebook.ROWS", 7)
    for table, again in zip(large, tables(), strict=True):
        assert len(table) > 7
        pd.testing.assert_frame_equal(table, again)
    results, judgments, *_ = large
    graded = results.merge(judgments, on="item").dropna(subset="relevance")
    assert (graded["relevance"].astype(str) == graded["verdict"]).all()
    unjudged = study.unjudged(run, 10)
    assert 0 < unjudged["rank"].max() <= 10
    assert set(unjudged["item"]) <= set(large[-1]["item"])
    assert 0 < unjudged.attrs["judged"] < 1


def test_an_empty_table_has_the_same_types(instance: Path) -> None:
    """A new study has no rows, and its columns are typed as those of a full one."""
    with relevansi.open(instance / "empty.sqlite", new=True) as empty:
        before = [empty.runs(), empty.judgments(), empty.questions(), empty.figures()]
        empty.import_files(*FILES, rater="Dewi")
        after = [empty.runs(), empty.judgments(), empty.questions(), empty.figures()]

    for empty_table, table in zip(before, after, strict=True):
        assert empty_table.empty
        assert empty_table.dtypes.to_dict() == table.dtypes.to_dict()


def test_documents_with_another_text_are_the_same_ones_where_that_is_said(instance: Path) -> None:
    rows = "query_id,query,doc_id,text,system\nq1,how,d1,Turn the tap {0},{1}\n"
    with relevansi.open(instance / "taps.sqlite", new=True) as taps:
        for text, system, same in (("off", "a", False), ("on", "b", True), ("out", "c", False)):
            (instance / "r.csv").write_text(rows.format(text, system), "utf-8")
            taps.import_files(instance / "r.csv", same_documents=same, rating="open")
        assert len(taps.items()) == 2  # the text of b, which a has too, and that of c


def test_a_database_is_opened_by_its_url(instance: Path, database: Database) -> None:
    """On SQLite and PostgreSQL alike."""
    url = database.url.render_as_string(hide_password=False)
    with relevansi.open(url) as study:
        study.import_files(*FILES, rater="Dewi")
        assert len(study.figures(names="P@5")) == 3
    assert (instance / "relevansi.sqlite").exists() is False


def test_what_is_refused_says_why(study: Study, instance: Path) -> None:
    """Missing files, bad files and unknown runs; nothing is made where no database is."""
    with pytest.raises(RelevansiError, match="There is no database"):
        relevansi.open(instance / "none.sqlite")
    assert not (instance / "none.sqlite").exists()
    (instance / "text.sqlite").write_text("no database " * 100, "utf-8")
    with pytest.raises(RelevansiError, match="cannot be opened"):
        relevansi.open(instance / "text.sqlite")
    with pytest.raises(RelevansiError, match="cannot be opened"):
        relevansi.open("mysql://owner:secret@127.0.0.1/study")
    with pytest.raises(RelevansiError) as unknown:
        study.figures("nope")
    assert unknown.value.status == 404
    with pytest.raises(RelevansiError) as elsewhere:  # a name leads to no other address
        study.export(study.runs()["id"][0], "../figures")
    assert elsewhere.value.status == 404
    wrong = instance / "wrong.json"
    wrong.write_text("{", "utf-8")
    with pytest.raises(RelevansiError) as bad:
        study.import_files(wrong)
    assert bad.value.problems[0]["file"] == "wrong.json"
    with pytest.raises(RelevansiError, match="cannot be read"):
        study.import_files(instance / "none.json")
    for address in ("ftp://a", "http://me:secret@127.0.0.1"):
        with pytest.raises(RelevansiError) as refused:
            relevansi.connect(address, "t")
        assert "secret" not in str(refused.value)
    with pytest.raises(RelevansiError, match="RELEVANSI_TOKEN"):
        relevansi.connect("http://127.0.0.1")


def test_work_in_the_background_is_waited_for(
    study: Study, instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large import gives the same runs, and nothing runs on once the study is closed."""
    monkeypatch.setattr(waiting_files, "is_long", lambda _sizes: True)
    before = set(threading.enumerate())
    with relevansi.open(instance / "other.sqlite", new=True) as second_study:
        runs = second_study.import_files(*FILES, rater="Dewi")
    names = ["search_method", "queries", "cards", "complete"]
    expected = study.runs()[names].sort_values("search_method", ignore_index=True)
    result = runs[names].sort_values("search_method", ignore_index=True)
    pd.testing.assert_frame_equal(result, expected)
    assert {thread for thread in threading.enumerate() if thread.is_alive()} <= before


def test_a_server_gives_the_same_by_a_token(
    study: Study, instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header has the token, and without one nobody comes in."""
    from relevansi.app import create_app

    app = create_app()
    token = command(instance, "token", "new", "--scope", "read").stdout.strip()
    monkeypatch.setenv("RELEVANSI_TOKEN", token)
    with relevansi.connect("http://localhost/") as served:
        served._client._transport = httpx.WSGITransport(app)
        monkeypatch.setattr(served._client, "_mounts", {})
        pd.testing.assert_frame_equal(served.figures(), study.figures())
        run = served.runs()["id"][0]
        assert served.export(run, "json") == study.export(run, "json")
        with pytest.raises(RelevansiError) as refused:
            served.import_files(*FILES)
        assert refused.value.status == 403
        served._client.headers["Authorization"] = "Bearer other"
        with pytest.raises(RelevansiError) as stranger:
            served.runs()
        assert stranger.value.status == 401
        served._client.headers[IN_PROCESS] = "1"
        with pytest.raises(RelevansiError):
            served.runs()
    database: Database = app.extensions["database"]
    database.close()


def test_the_example_notebook_runs(instance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells of code, in order, in one namespace; no output is stored in it."""
    monkeypatch.chdir(ROOT / "docs")
    cells = json.loads(Path("notebook.ipynb").read_text("utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), names)

    assert len(names["runs"]) == 3
    assert len(names["differences"]) == 3
    assert not Path(names["folder"].name).exists()
    assert instance.exists()
