"""What programs read and write is what pages and commands show and store."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.exporters.comparisons import files
from relevansi.exporters.exports import metrics_tables
from relevansi.i18n import speaking
from relevansi.importers.results.formats import examples
from relevansi.services.comparisons import comparisons
from relevansi.services.exports import exports
from relevansi.services.runs import reports, waiting_files
from relevansi.services.runs.stored_results import NoQuestion
from relevansi.services.study import studies
from relevansi.web.runs import runs as run_pages
from tests.services.runs.runs import card, query
from tests.stored_studies import open_study
from tests.web.conftest import WORK_SECONDS, judge, small_run, stored
from tests.web.documents import collection, lines
from tests.web.programs.program import Program
from tests.web.rating.blind_study import three_runs
from tests.web.roles import everything

RUN = "q1 Q0 d1 1 2.0 lexical\nq1 Q0 d2 2 1.0 lexical\n"


@pytest.fixture(name="program")
def _program(app: Flask) -> Program:
    return Program(app)


@pytest.fixture(name="all_imports_are_large")
def _all_imports_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_files, "is_long", lambda _sizes: True)


def test_figures_are_those_of_page_and_command(
    client: FlaskClient, program: Program, run_id: str, web_database: Database
) -> None:
    """To the last digit, of the headline and of figures that are asked for."""
    judge(client, run_id, 1)
    judge(client, run_id, 1, rank=2, relevance="0")
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        figures = studies.figures_in("nDCG@10, AP")
        rule = reports.rule_of(session, study)
        report = reports.report_in_words(session, study, run_id, rule, figures=figures)

    assert program.get(f"/runs/{run_id}/figures") == client.get(f"/runs/{run_id}/metrics.json").json
    response = program.get(f"/runs/{run_id}/figures", figures="nDCG@10, AP")
    assert response == metrics_tables.metrics_json(report)


def test_every_export_is_that_of_the_page(
    client: FlaskClient, program: Program, run_id: str
) -> None:
    """The same bytes under the same names, of every format that the study has."""
    assert set(exports.FORMATS) == set(run_pages.FORMATS)
    for name, last in run_pages.FORMATS.items():
        of_page = client.get(f"/runs/{run_id}/{last}")
        response = program.ask("GET", f"/runs/{run_id}/exports/{name}")
        assert response.status_code == of_page.status_code
        if response.status_code == 200:
            assert response.data == of_page.data
            assert response.content_type == of_page.content_type


def test_all_rows_come_in_pages_without_a_gap(app: Flask, program: Program) -> None:
    """Whatever the size of a page, its cursor leads to the next row and at last to none.

    Files may count questions from 0, and so does the cursor.
    """
    first, *_ = three_runs(app.extensions["database"])
    zero = stored(app.extensions["database"], [query(n, card("a")) for n in range(3)])
    rows = program.get(f"/runs/{zero}/results", limit=1000)["data"]
    assert [row["query_id"] for row in rows] == [0, 1, 2]
    of_runs = (f"/runs/{run}/results" for run in (zero, first))
    for path in (*of_runs, "/questions", "/items", "/judgments", "/ratings"):
        expected, rows, cursor = program.get(path, limit=1000)["data"], [], 0
        while cursor is not None:
            page = program.get(path, limit=1, cursor=cursor)
            rows += page["data"]
            cursor = page["next"]
        assert rows == expected


def test_a_program_gives_a_reason_beside_a_verdict(program: Program, run_id: str) -> None:
    """Only beside one that is not relevant, and only a reason of the study."""
    item = program.get(f"/runs/{run_id}/results")["data"][0]["item"]
    about: dict[str, Any] = {"event_id": "e1", "item": item, "verdict": "0"}
    assert program.post("/judgments", **about, reason="price")["reason"] == "price"
    response = program.post("/judgments", **{**about, "event_id": "e2"})
    assert response["reason"] == "price"
    for wrong in ({"verdict": "1", "reason": "price"}, {"reason": "prise"}):
        program.post("/judgments", status=400, **{**about, "event_id": "e3", **wrong})
    assert program.get("/judgments")["data"][0]["reason"] == "price"
    taken_back = program.post("/judgments", **{**about, "event_id": "e4"}, reason=None)
    assert taken_back["reason"] is None


def test_what_nobody_judged_is_listed_first_ranks_first(
    client: FlaskClient, program: Program, run_id: str
) -> None:
    """With the share of the first k results that is judged, question by question."""
    judge(client, run_id, 1)
    response = program.get(f"/runs/{run_id}/unjudged", k=2)

    places = [(item["rank"], item["query_id"]) for item in response["results"]]
    assert places == [(1, 2), (1, 6), (2, 1), (2, 2)]
    # One of two, none of two, none of one; the questions without a list have no share.
    assert response["judged"] == pytest.approx((0.5 + 0 + 0) / 3)
    items = program.get("/items", run=run_id, unjudged=True)["data"]
    assert {item["item"] for item in response["results"]} <= {item["id"] for item in items}


def test_a_verdict_by_a_program_is_one_on_the_page(
    client: FlaskClient, program: Program, run_id: str
) -> None:
    """The same event sent again is one event; another verdict under its id is refused."""
    item = program.get(f"/runs/{run_id}/results")["data"][0]["item"]
    body = {"event_id": "e1", "item": item, "verdict": "1"}
    judgment = program.post("/judgments", **body)
    again = program.post("/judgments", **body)
    refused = program.post("/judgments", status=409, **{**body, "verdict": "0"})

    assert judgment == again
    assert judgment["relevant"] is True
    assert refused["title"] == "This click was stored before as something else"
    assert "event_id" in refused["detail"]
    assert client.get(f"/runs/{run_id}/metrics.json").get_json()["queries"][0]["judged_count"] == 1
    program.post("/judgments", event_id="e2", item=item, verdict=None)
    assert program.get("/judgments")["data"] == []


def test_an_answer_is_graded_with_notes_and_an_empty_list_is_judged(
    program: Program, run_id: str
) -> None:
    """What is left out stays as it was."""
    place = f"/runs/{run_id}/queries"
    program.post(f"{place}/1/ratings", event_id="r1", quality=4, notes="good")
    response = program.post(f"{place}/1/ratings", event_id="r2", quality=3)
    program.post(f"{place}/3/ratings", event_id="r3", empty_outcome="false_negative")

    assert (response["quality"], response["notes"]) == (3, "good")
    assert program.get("/ratings")["data"] == [response]
    [empty] = [item for item in program.get("/items")["data"] if item["identity"] is None]
    [verdict] = program.get("/judgments")["data"]
    assert (verdict["item"], verdict["verdict"]) == (empty["id"], "false_negative")
    assert verdict["relevant"] is None


def test_a_verdict_of_another_scale_or_item_is_refused(program: Program, run_id: str) -> None:
    """Nothing is stored of it."""
    item = program.get(f"/runs/{run_id}/results")["data"][0]["item"]
    assert program.post("/judgments", status=400, event_id="a", item=item, verdict="2")
    assert program.post("/judgments", status=400, event_id="b", item=item, verdict="correct_empty")
    assert program.post("/judgments", status=404, event_id="c", item=9_999, verdict="1")
    assert program.get("/judgments")["data"] == []


def example(name: str) -> tuple[str, bytes]:
    """The smallest file of a format, as it is sent."""
    file, _ = examples()[name]
    return file.name, file.read_bytes()


def test_a_file_brings_its_runs_and_the_grades_of_the_rater_who_is_named(app: Flask) -> None:
    program = Program(app, "import", "read")

    report = program.send(example("rank_eval.json"), rater="Ani")

    assert program.get("/runs")["data"] == report["data"] != []
    assert report["grades"] == {"Ani": 1}


def test_grades_without_their_questions_are_refused(program: Program) -> None:
    refused = program.send(example("qrels.txt"), status=400, rater="Ani")

    assert refused["title"] == NoQuestion.message
    assert program.get("/judgments")["data"] == []


def test_documents_alone_bring_no_run(program: Program) -> None:
    refused = program.send(example("corpus.jsonl"), status=400)

    assert refused["problems"][0]["severity"] == "error"
    assert program.get("/runs")["data"] == []


def test_files_are_one_import_with_what_is_said_beside_them(program: Program) -> None:
    """Columns, depth and the rater of grades hold; the same files again are the same runs."""
    rows = b"frage,platz,nummer,note\nrot,1,d1,1\nrot,2,d2,0\nrot,3,d3,0\n"
    columns = {"query": "frage", "rank": "platz", "doc_id": "nummer", "grade": "note"}
    fields: dict[str, Any] = {"columns": json.dumps(columns), "depth": "2", "rater": "Ani"}
    [run] = program.send(("rows.csv", rows), **fields)["data"]

    assert run["cards"] == 2
    assert program.send(("rows.csv", rows), **fields)["data"] == [run]
    verdicts = program.get("/judgments", rater="Ani")["data"]
    assert [verdict["verdict"] for verdict in verdicts][:2] == ["1", "0"]


def test_grades_of_questions_that_nobody_was_asked_are_remarked_on(program: Program) -> None:
    """The others are stored."""
    program.send(("a.run", RUN.encode()))
    qrels = ("some.qrels", b"q1 0 d1 1\nq9 0 d1 1\n")
    report = program.send(qrels, rater="Ani")

    assert report["grades"] == {"Ani": 1}
    assert [remark["code"] for remark in report["remarks"]] == ["results_grades_unasked"]


def test_documents_with_another_text_are_the_same_ones_by_all_scopes_only(
    app: Flask, program: Program
) -> None:
    """Else they are judged anew; either way a remark says how many they are."""
    rows = "query_id,query,doc_id,text,system\nq1,how,d1,Turn the tap {0},{1}\n"
    program.send(("a.csv", rows.format("off", "a").encode()), rating="open")
    mended = ("b.csv", rows.format("on", "b").encode())
    Program(app, "read", "import").send(mended, status=403, same_documents="true")
    [replaced] = program.send(mended, same_documents="true")["remarks"]
    [differ] = program.send(("c.csv", rows.format("out", "c").encode()))["remarks"]

    assert (replaced["code"], differ["code"]) == ("results_texts_replaced", "results_texts_differ")
    assert len(program.get("/items")["data"]) == 2  # the text of b, which a has too, and of c


def test_a_run_is_deleted_by_all_scopes_only(app: Flask, program: Program, run_id: str) -> None:
    """Then it is gone for pages too."""
    some_scopes, address = Program(app, "read", "import", "judge"), f"/runs/{run_id}"

    assert some_scopes.ask("DELETE", address).status_code == 403
    assert program.ask("DELETE", address).status_code == 204
    assert program.get("/runs") == {"data": []}
    assert program.ask("DELETE", address).status_code == 404


def test_a_refused_file_says_where_and_stores_nothing(program: Program) -> None:
    """The problem document has the file, the line and the code of each problem."""
    refused = program.send(("rows.csv", b"query,rank\nx,1\n"), status=400)

    assert refused["status"] == 400
    assert refused["title"] == "rows.csv cannot be used"
    assert {problem["file"] for problem in refused["problems"]} == {"rows.csv"}
    assert program.get("/runs") == {"data": []}
    assert program.send(status=400)["detail"] == "Please choose a file first."


def test_a_mapping_is_asked_for_as_the_field_that_takes_it(program: Program) -> None:
    unknown = b'{"asked for": "red dress", "seen": [{"ref": "d7", "says": "Long red dress"}]}'

    refused = program.send(("r.json", unknown), status=400)

    guess = '{"query":"asked for","items":"seen","doc_id":"ref","text":"says"}'
    assert f"map={guess} (" in refused["detail"]
    assert f"map={guess} (" in refused["problems"][0]["message"]
    assert program.send(("r.json", unknown), map=guess, status=201)["data"]


def test_a_refused_import_changes_and_leaves_nothing(app: Flask, program: Program) -> None:
    """Neither how the study is rated nor a file that waits; a rated CSV needs a rater's name."""
    run_id = small_run(app.extensions["database"])
    rated = program.ask("GET", f"/runs/{run_id}/exports/csv").data
    other_kind = collection()
    program.send(("rated.csv", rated), rater="Ani")
    before = everything(app.extensions["database"])
    program.send(("rows.csv", b"query,rank\nx,1\n"), status=400, rating="open")
    program.send(*other_kind, status=400, rating="open")
    refused = program.send(("rated.csv", rated), status=409)

    assert refused["title"] == "rated.csv cannot be stored as it is"
    assert everything(app.extensions["database"]) == before


def test_how_a_study_is_rated_is_set_by_all_scopes_only(app: Flask) -> None:
    rows = ("rows.jsonl", lines([{"query": "x", "text": "y"}]))
    importing, all_scopes = Program(app, "read", "import"), Program(app)

    importing.send(rows, status=403, rating="blind")
    assert importing.get("/runs") == {"data": []}
    importing.send(rows)
    all_scopes.send(rows, rating="blind")
    assert all_scopes.get("/study")["blind"] is True


def test_a_file_s_name_has_no_nul(program: Program) -> None:
    """PostgreSQL refuses a text with one."""
    [run] = program.send(("a\x00b.jsonl", lines([{"query": "x", "text": "y"}])))["data"]
    assert run["search_method"] == "ab"


@pytest.mark.usefixtures("all_imports_are_large")
def test_a_large_import_goes_on_as_a_job(app: Flask, program: Program) -> None:
    """The answer is 202 with the job's address; the job ends with the ids of its runs."""
    rows = lines({"query": f"Case {n}?", "text": "Copper"} for n in range(3))
    job = program.send(("deep.jsonl", rows), status=202)
    app.extensions["workers"].finish(WORK_SECONDS)
    state = program.get(job["address"].removeprefix("/api/v1"))

    assert state["state"] == "done"
    assert state["steps_done"] == state["steps"]
    assert state["runs"] == [run["id"] for run in program.get("/runs")["data"]]


@pytest.mark.usefixtures("all_imports_are_large")
def test_a_large_refused_import_ends_with_its_problems(app: Flask, program: Program) -> None:
    """As a small one says them at once."""
    job = program.send(("rows.csv", b"query,rank\nx,1\n"), status=202)
    app.extensions["workers"].finish(WORK_SECONDS)
    state = program.get(f"/jobs/{job['id']}")

    assert state["problems"]
    assert state["runs"] == []


def test_a_comparison_is_the_document_of_the_command(app: Flask, program: Program) -> None:
    """And agreement too; in words, as tables and as a workbook as well."""
    first, second, _ = three_runs(app.extensions["database"])
    with open_study(app.extensions["database"]) as (session, study):
        rule = reports.rule_of(session, study)
        with speaking("en"):
            report = comparisons.report(session, study, [first, second], rule)
        expected = files.FORMATS["json"].render(report, date.min)
    selection = {"run": [first, second]}
    response = program.ask("GET", "/comparisons", query_string=selection)

    assert response.data == expected
    for form in ("markdown", "xlsx"):
        report_file = program.ask("GET", "/comparisons", query_string={**selection, "format": form})
        assert report_file.status_code == 200
        assert report_file.data
        assert program.ask("GET", "/agreement", query_string={"format": form}).data


def test_a_wrong_request_names_the_place(program: Program, run_id: str) -> None:
    """A parameter, a field or a body that the description does not know is never passed over."""
    for path, place in (
        ("/items?limit=0", "limit"),
        ("/items?what=1", "what"),
        ("/items?limit=1&limit=2", "limit"),
        ("/study?x=1", "parameters"),
        (f"/runs/{run_id}/figures?rule=best", "rule"),
    ):
        response = program.ask("GET", path)
        assert response.status_code == 422
        assert response.content_type == "application/problem+json"
        assert place in response.text
    body = program.ask("POST", "/judgments", data=b"{", content_type="application/json")
    assert body.status_code == 422
    assert program.ask("POST", "/judgments", json={"event_id": "a b", "item": 1}).status_code == 422


def test_failures_speak_the_language_that_is_asked_for(program: Program) -> None:
    """English where none is."""
    program.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "id"
    indonesian = program.ask("GET", "/runs/nothing").json
    del program.client.environ_base["HTTP_ACCEPT_LANGUAGE"]
    english = program.ask("GET", "/runs/nothing").json

    assert indonesian is not None
    assert english is not None
    assert english["title"] == "This study has no run nothing"
    assert indonesian["title"] != english["title"]
    assert indonesian["status"] == english["status"] == 404


def test_a_refusal_is_told_in_terms_of_addresses(app: Flask, program: Program) -> None:
    """Its title and detail are filled in, and lead to what a program can ask for."""
    rater = Program(app, "judge", rater="Ani")
    for asking, method, path, status, remedy in (
        (program, "GET", "/runs/nothing", 404, "/api/v1/runs"),
        (program, "GET", "/nothing", 404, "/api/v1/openapi.json"),
        (program, "PUT", "/study", 405, "/api/v1/openapi.json"),
        (program, "GET", "/tasks/x", 404, "/api/v1/tasks"),
        (rater, "GET", "/runs", 403, "/api/v1/tasks"),
        (rater, "DELETE", "/runs/x", 403, "/api/v1/tasks"),
        (Program(app, "read"), "DELETE", "/runs/x", 403, "everything"),
    ):
        response = asking.ask(method, path)
        assert response.status_code == status, path
        assert response.content_type == "application/problem+json"
        assert set(response.json or ()) <= {"type", "title", "status", "detail", "problems"}
        assert remedy in response.json["detail"], path  # type: ignore[index]
        assert "%(" not in response.text


@pytest.mark.parametrize(
    "body",
    [
        b'{"event_id": "a", "item": 1, "verdict": "1", "it\\u0065m": 2}',
        b'{"event_id": "a", "item": 1, "verdict": {"x": 1, "x": 2}}',
    ],
)
def test_a_name_that_is_there_twice_is_refused(program: Program, run_id: str, body: bytes) -> None:
    """Nobody can know which of the two is meant; in the JSON of a form's field, too."""
    assert run_id
    response = program.ask("POST", "/judgments", data=body, content_type="application/json")

    assert response.status_code == 422
    assert response.json is not None
    assert response.json["problems"] == [
        {"place": "body", "message": "a name is there more than once"}
    ]
    assert program.get("/judgments")["data"] == []
    rows = ("rows.csv", b"q,r,d\nx,1,d1\n")
    program.send(rows, status=422, columns='{"query": "q", "query": "r"}')


def test_labels_of_runs_are_printable_and_not_too_long(program: Program) -> None:
    """Marks that turn text around are left out of names that files give."""
    rows = b"query,system,rank,doc_id\nx,a\xe2\x80\xaegpj.csv,1,d1\nx," + b"y" * 3_000 + b",1,d2\n"
    runs = program.send(("rows.csv", rows))["data"]

    assert [run["search_method"] for run in runs] == ["agpj.csv", "y" * 199 + "…"]


def test_a_document_study_is_read_with_grades(program: Program) -> None:
    """Items have the collection's ids, texts and metadata; results their grades."""
    program.send(*collection())
    [lexical, _] = [run["id"] for run in program.get("/runs")["data"]]
    result = program.get(f"/runs/{lexical}/results")["data"][0]
    program.post("/judgments", event_id="g", item=result["item"], verdict="1")
    item = program.get("/items", question=result["question"])["data"][0]

    assert item["fields"]["doc_id"] == "d1x0"
    assert "Copper" in item["fields"]["text"]
    assert program.get(f"/runs/{lexical}/results")["data"][0]["relevance"] == 1
    assert program.get("/study")["kind"] == "document"


def test_a_gate_says_what_the_service_says_and_leaves_nothing(program: Program) -> None:
    """With ``ask`` the run stays, and what is open in it can be judged."""
    baseline, _ = program.send(*collection())["data"]
    rows = lines({"query": f"Does copper bend, case {q}?", "doc_id": f"new{q}"} for q in (1, 2, 3))
    before = everything(program.client.application.extensions["database"])

    def gate(**fields: str) -> Any:
        file = ("new.jsonl", rows)
        response = program.upload("/gates", file, baseline=baseline["id"], **fields)
        assert response.status_code == 200, response.text
        return response.json

    decision = gate(floor="P@1=0.5")

    assert everything(program.client.application.extensions["database"]) == before
    assert (decision["outcome"], decision["exit_code"], decision["run"]) == ("open", 3, None)
    assert len(decision["unjudged"]) == 3
    run_id = gate(floor="P@1=0.5", ask="1")["run"]
    assert run_id in {run["id"] for run in program.get("/runs")["data"]}
    assert len(program.get(f"/runs/{run_id}/unjudged")["results"]) == 3


def test_a_gate_waits_for_no_writer(program: Program) -> None:
    """It only reads, so that it answers while somebody else is writing."""
    baseline, _ = program.send(*collection())["data"]
    file = ("new.jsonl", lines([{"query": "Does copper bend, case 1?", "doc_id": "new1"}]))

    with program.client.application.extensions["database"].writing():
        response = program.upload("/gates", file, baseline=baseline["id"])

    assert (response.status_code, response.json and response.json["exit_code"]) == (200, 3)


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("min_judged", "1.1", 422),
        ("floor", "Judged@5=1", 400),
        ("baseline", "none", 404),
    ],
)
def test_a_gate_refuses_what_it_cannot_decide_by(
    program: Program, field: str, value: str, status: int
) -> None:
    """With what is wrong, and never as a run that failed."""
    baseline, _ = program.send(*collection())["data"]
    file = ("new.jsonl", lines([{"query": "Does copper bend?", "doc_id": "d"}]))

    response = program.upload("/gates", file, **{"baseline": baseline["id"], field: value})

    assert (response.status_code, response.content_type) == (status, "application/problem+json")
