"""Files dropped on the page: a report first, stored only at their owner's word."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import LongWork, Run, Upload
from relevansi.db.tables.study import Question, Study
from relevansi.importers.frame import bounded
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.services.runs import file_formats, imports, runs, stored_runs, waiting_files
from relevansi.services.runs.file_formats import FileDecision
from relevansi.services.runs.results import ResultsReport
from relevansi.services.workers import jobs, kinds
from relevansi.web.frame.workers import workers
from tests.conftest import NOW
from tests.page import Page
from tests.stored_studies import open_study
from tests.web.conftest import PART, WAYS, count


def run_file(**changed: Any) -> bytes:
    """Return a V1 file of two questions, one of them answered with a card."""
    answer = "1. **Rumah A**\n   📍 Cemara\n   💰 Rp 650 jt\n"
    exchanges = (("Rumah di Cemara?", answer, 1), ("Ada pilihan lain?", "Tidak ada.", 0))
    results = [
        {"query_id": number, "question": question, "category": "location", "success": True}
        | {"response": response, "results_count": count}
        for number, (question, response, count) in enumerate(exchanges, 1)
    ]
    run = {
        "timestamp": "20260301_090000",
        "thread_id": "t",
        "user_id": "u",
        "search_method": "hybrid",
        "total_questions": 2,
        "successful": 2,
        "results": results,
    }
    return json.dumps(run | changed).encode()


def drop(client: FlaskClient, *files: bytes, headers: dict[str, str] | None = None) -> TestResponse:
    """Drop files and follow to their report."""
    chosen = [(BytesIO(data), f"test_results_{n}.json") for n, data in enumerate(files)]
    return client.post(
        "/runs/import", data={"files": chosen}, headers=headers, follow_redirects=True
    )


def tokens(answer: TestResponse) -> list[str]:
    return Page(answer).values("[name=token]")


def store(client: FlaskClient, *files: bytes, **form: str) -> str:
    """Store files and return their report, as it was before."""
    report = drop(client, *files)
    client.post("/runs/import", data={"token": tokens(report), "action": "store", **form})
    return report.text


@pytest.mark.parametrize("headers", WAYS)
def test_a_dropped_file_is_reported_on_and_stored_only_when_it_is_confirmed(
    client: FlaskClient, web_database: Database, headers: dict[str, str]
) -> None:
    report = drop(client, run_file(), headers=headers)
    assert report.status_code == 200
    assert Page(report).is_part == bool(headers)
    question = json.loads(run_file())["results"][0]["question"]
    assert question in Page(report).one(".as-rated")
    (token,) = tokens(report)
    client.post("/runs/import", data={"token": token, "action": "discard"})
    assert client.get(f"/runs/import?token={token}").status_code == 404
    assert "There is no run yet." in client.get("/runs/").text

    (token,) = tokens(drop(client, run_file(), headers=headers))
    labels = {f"method-{token}": "vector_only", f"llm-{token}": "gpt", f"depends-{token}": "2"}
    answer = client.post("/runs/import", data={"token": token, "action": "store", **labels})

    assert answer.status_code == 303
    run_address, _, first = answer.location.rpartition("/queries/")
    assert first == "1"  # rating begins at once
    assert "Vector Only · gpt" in client.get(run_address).text
    with web_database.reading() as session:
        depend = session.scalars(select(Question.position).where(Question.context_dependent))
        assert list(depend) == [2]
    assert client.get(f"/runs/import?token={token}").status_code == 404
    assert "This very file was imported before." in drop(client, run_file()).text


def test_several_files_wait_together_and_those_of_one_name_are_told_apart(
    client: FlaskClient,
) -> None:
    two = [(BytesIO(run_file(timestamp=at)), "test_results.json") for at in ("1", "2")]
    page = client.post("/runs/import", data={"files": two}, follow_redirects=True)

    headings = Page(page).texts("h2[id^=file-]")
    assert headings == ["test_results.json (file 1 of 2)", "test_results.json (file 2 of 2)"]
    assert len(set(Page(page).texts("label > span:has(.vh)"))) == 4  # search method, LLM of each
    answer = client.post("/runs/import", data={"token": tokens(page), "action": "store"})
    assert answer.location == "/rate/"
    assert Page(client.get("/runs/")).count("tr[id]") == 2


@pytest.mark.parametrize("data", [b"", b'{"a": 1}', b"\x89PNG\r\n"])
def test_a_wrong_file_is_told_what_was_expected(client: FlaskClient, data: bytes) -> None:
    report = drop(client, data)

    assert report.status_code == 200
    assert "This file cannot be imported." in report.text
    assert not Page(report).has("[value=store]")


def test_the_smallest_file_that_works_is_of_what_the_study_holds_and_can_be_copied(
    client: FlaskClient,
) -> None:
    of_any_system = Page(drop(client, b'{"a": 1}'))
    store(client, run_file())
    of_a_chatbot = Page(drop(client, b'{"a": 1}'))

    for page, key in ((of_any_system, "query"), (of_a_chatbot, "search_method")):
        example = page.one(".code")
        assert key in json.loads(example.content)
        assert page.one("[data-copies]")["data-copies"] == example["id"]


def test_questions_recognised_as_follow_ups_are_named(client: FlaskClient) -> None:
    document = json.loads(run_file())
    first = document["results"][0]
    categories = enumerate(["location", "context_followup", "context_modify"], 1)
    results = [first | {"query_id": n, "category": category} for n, category in categories]

    report = drop(client, json.dumps(document | {"results": results}).encode())

    assert "Recognised as follow-ups: questions 2-3." in Page(report)


@pytest.mark.parametrize("headers", WAYS)
def test_no_file_at_all_is_asked_for(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.post("/runs/import", data={}, headers=headers)

    assert answer.status_code == 422
    assert "Please choose a file first." in answer.text


HEADER = "query_id,question,category,results_count,relevant_count,response_quality,notes\n"


def rated(*, quality: str = "4", notes: str = "bagus", question: str = "Rumah di Cemara?") -> bytes:
    """A rated CSV of `run_file`, its empty list said to be truly empty."""
    lines = f"1,{question},location,1,1,{quality},{notes}\n"
    return f"{HEADER}{lines}2,Ada pilihan lain?,location,0,,0,no data exists\n".encode()


def drop_rated(client: FlaskClient, data: bytes, name: str = "rated.csv") -> TestResponse:
    """Drop a rated CSV and follow to its report."""
    chosen = [(BytesIO(data), name)]
    return client.post("/runs/import", data={"files": chosen}, follow_redirects=True)


def decide(client: FlaskClient, token: str, rater: str, **form: str) -> TestResponse:
    """Store a file of ratings as `rater`'s whose report was shown."""
    fields = {"rater": rater, "reported_rater": rater, **form}
    fields_of_token = {f"{field}-{token}": value for field, value in fields.items()}
    form = {"token": token, "action": "store", **fields_of_token}
    return client.post("/runs/import", data=form, follow_redirects=True)


@pytest.fixture(name="owner")
def _owner(client: FlaskClient) -> str:
    """The name of the only rater, whose study has the run of `run_file`."""
    (token,) = tokens(drop(client, run_file()))
    client.post("/runs/import", data={"token": token, "action": "store"})
    return Page(drop_rated(client, rated())).one("input[name^=rater-]")["value"]


def test_quality_notes_and_outcomes_of_a_rated_csv_become_the_chosen_raters(
    client: FlaskClient, owner: str
) -> None:
    report = drop_rated(client, rated())
    assert f"4 values of {owner} are new and would be stored." in report.text
    (token,) = tokens(report)

    page = decide(client, token, owner)

    run = page.request.path
    (quality, empty) = client.get(f"{run}/export.json").get_json()["queries"]
    assert (quality["quality"], quality["notes"]) == (4, "bagus")
    assert (empty["empty_outcome"], empty["quality"]) == ("correct_empty", 0)
    assert not empty["notes"]  # "no data exists" is how the file says the outcome
    assert quality["results"][0]["relevance"] is None
    assert client.get(f"/runs/import?token={token}").status_code == 404
    again = drop_rated(client, rated())
    assert "gave all of these verdicts here already. There is nothing to store." in again.text
    assert not Page(again).has("[value=store]")
    (token,) = tokens(drop_rated(client, rated(quality="2", notes="biasa")))
    decide(client, token, owner, confirm="1")
    first = client.get(f"{run}/export.json").get_json()["queries"][0]
    assert (first["quality"], first["notes"]) == (2, "biasa")


def test_another_rater_is_shown_what_would_change_before_anything_is_stored(
    client: FlaskClient, owner: str
) -> None:
    (token,) = tokens(drop_rated(client, rated()))
    form = {"token": token, f"rater-{token}": "Budi", f"reported_rater-{token}": owner}

    report = client.post("/runs/import", data={**form, "action": "store"}, follow_redirects=True)

    assert "4 values of Budi are new and would be stored." in report.text
    assert "No rater has this name yet: storing adds the rater." in report.text
    assert "Budi" not in client.get("/raters/").text
    decide(client, token, "Budi")
    assert "Budi" in client.get("/raters/").text
    assert 'value=""' in drop_rated(client, rated()).text  # of two raters none is guessed


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (rated(question="Ruko?"), "No run here has its questions with its numbers of results."),
        (b"a,b\n1,2\n", "Formats and examples"),
    ],
)
@pytest.mark.usefixtures("owner")
def test_a_rated_csv_of_no_run_here_cannot_be_imported(
    client: FlaskClient, data: bytes, why: str
) -> None:
    report = drop_rated(client, data)

    assert why in report.text
    assert not Page(report).has("[value=store]")


OTHER = run_file(search_method="vector", timestamp="20260302_090000")
LEGEND = "From now on this study is rated blind"


def test_a_second_run_of_the_questions_says_before_that_rating_becomes_blind(
    client: FlaskClient,
) -> None:
    """The first run says nothing of it, nor does the file of other questions, nor the third run."""
    first = run_file()
    questions = json.loads(first)["results"]
    others = run_file(
        results=[{**entry, "question": f"Lain: {entry['question']}"} for entry in questions]
    )

    assert LEGEND not in store(client, first)
    assert LEGEND not in store(client, others)
    assert LEGEND in store(client, OTHER)
    third = run_file(search_method="api", timestamp="20260303_090000")
    assert LEGEND not in store(client, third)
    assert "/rate/" in Page(client.get("/")).links()


def test_two_runs_dropped_together_say_so_and_two_files_of_one_session_do_not(
    client: FlaskClient,
) -> None:
    with_key = json.loads(run_file())
    again = json.dumps(with_key | {"note": "the same session"}).encode()

    assert LEGEND not in drop(client, run_file(), again).text
    assert LEGEND in drop(client, run_file(), OTHER).text


def test_the_owner_keeps_the_study_open_in_the_report(
    client: FlaskClient, web_database: Database
) -> None:
    store(client, run_file())
    store(client, OTHER, open="1")

    with web_database.reading() as session:
        assert session.scalars(select(Study.blind)).one() is False
        assert session.scalars(
            select(LogEntry.new).where(LogEntry.action == "set blind")
        ).all() == ["False"]
    assert "/rate/" not in Page(client.get("/")).links()


def test_the_first_import_asks_for_the_name_of_the_study_in_the_language_of_the_page(
    client: FlaskClient, web_database: Database
) -> None:
    """Whatever language the study was made in; the owner whom nobody named is called so too."""
    client.post("/language", data={"to": "id"})
    report = drop(client, run_file())
    assert Page(report).one("[name=study_name]")["value"] == "Studi saya"

    form = {"token": tokens(report), "action": "store", "study_name": "Skripsi Ani"}
    client.post("/runs/import", data=form)

    with web_database.reading() as session:
        assert session.scalars(select(Study.name)).all() == ["Skripsi Ani"]
        assert session.scalars(select(Rater.name)).all() == ["Pemilik"]
    assert not Page(drop(client, OTHER)).has("[name=study_name]")


WAIT = 60


@pytest.fixture(name="long")
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large import is read and stored in the background; one may leave and come back."""
    monkeypatch.setattr(waiting_files, "LONG_FROM", 2)


def led_to(client: FlaskClient, form: dict[str, Any]) -> str:
    """Return the address of the page to which a form of the import page leads."""
    answer = client.post("/runs/import", data=form)
    assert answer.status_code == 303
    return answer.headers["Location"]


def files(*data: bytes) -> dict[str, Any]:
    return {"files": [(BytesIO(content), f"run_{n}.json") for n, content in enumerate(data)]}


def rows(database: Database) -> tuple[int, int]:
    """Return how many runs are stored, and how many files wait."""
    return count(database, Run), count(database, Upload)


@pytest.mark.usefixtures("long")
def test_a_large_import_is_left_and_found_again_with_its_report_and_then_its_run(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    """The good file waits beside one that is refused, with the reason and the remedy."""
    reading = led_to(client, files(run_file(), b'{"total_questions": 0, "results": []}'))
    assert workers(app).is_idle(WAIT)
    assert "waits for your decision" in client.get("/runs/import").text
    assert client.get(reading, headers=PART).headers["HX-Refresh"] == "true"
    report = client.get(reading, follow_redirects=True)
    waiting = tokens(report)
    assert len(waiting) == 2
    assert "run_1.json holds no question" in report.text
    assert rows(web_database) == (0, 2)

    storing = led_to(
        client, {"token": waiting, "action": "store", f"method-{waiting[0]}": "vector"}
    )
    assert storing.startswith("/files/")
    assert workers(app).is_idle(WAIT)
    assert rows(web_database) == (1, 0)
    listed = Page(client.get("/runs/import"))
    assert "Import of run_0.json, run_1.json : stored" in listed
    assert "waits for your decision" not in listed
    assert "vector" in client.get(storing, follow_redirects=True).text


@pytest.mark.parametrize("long_from", [2, 300])
def test_a_file_is_recognised_and_read_once_however_often_it_is_looked_at(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch, long_from: int
) -> None:
    """On the page and in the background: by one POST, three looks and the storing."""
    monkeypatch.setattr(waiting_files, "LONG_FROM", long_from)
    calls: list[str] = []
    call = bounded.call

    def counting(file: str, function: Any, *arguments: Any, **options: Any) -> Any:
        calls.append(function.__name__)
        return call(file, function, *arguments, **options)

    monkeypatch.setattr(bounded, "call", counting)
    page = led_to(client, files(run_file()))
    assert workers(app).is_idle(WAIT)
    for _ in range(2):
        report = client.get(page, follow_redirects=True)
    (token,) = tokens(report)
    client.get(f"/runs/import?token={token}")
    page = led_to(client, {"token": token, "action": "store"})
    assert workers(app).is_idle(WAIT)

    assert "1 card" in client.get("/runs/").text
    assert calls == ["recognises", "read"]


@pytest.mark.usefixtures("long")
def test_an_import_that_fails_at_its_second_file_stores_nothing_and_can_be_repeated(
    app: Flask, client: FlaskClient, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    second_file = run_file(search_method="vector", timestamp="20260302_090000")
    reading = led_to(client, files(run_file(), second_file))
    assert workers(app).is_idle(WAIT)
    waiting = tokens(client.get(reading, follow_redirects=True))
    decided = {"token": waiting, "action": "store"}
    store_run = stored_runs.store
    stored: list[stored_runs.ImportedRun] = []

    def store(*arguments: Any) -> stored_runs.ImportedRun:
        if stored:
            raise RuntimeError
        stored.append(store_run(*arguments))
        return stored[0]

    with monkeypatch.context() as broken:
        broken.setattr(stored_runs, "store", store)
        page = led_to(client, decided)
        assert workers(app).is_idle(WAIT)
    part = client.get(page, headers=PART).text
    assert "Something went wrong on our side" in part
    assert "Try again" in part
    assert rows(web_database) == (0, 2)

    page = led_to(client, decided)
    assert workers(app).is_idle(WAIT)
    assert client.get(page).headers["Location"] == "/rate/"
    assert rows(web_database) == (2, 0)


@pytest.mark.usefixtures("long")
def test_a_large_import_that_is_stored_by_several_clicks_at_once_is_one_job(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    """Whether a click comes before the job of another one is there, or after."""
    reading = led_to(client, files(run_file()))
    assert workers(app).is_idle(WAIT)
    waiting = tokens(client.get(reading, follow_redirects=True))
    assert workers(app).finish(WAIT)  # nothing is begun any more
    decided = {"token": waiting, "action": "store", f"depends-{waiting[0]}": ["1", "2"]}
    pages = {led_to(client, decided), led_to(client, decided)}
    decisions = {waiting[0]: FileDecision(depends=["1", "2"])}
    with open_study(web_database) as (session, study):
        uploads = [waiting_files.find(session, study, token) for token in waiting]
        expected = kinds.order_to_store(uploads, decisions)
        pages.add(f"/files/{jobs.enqueue(session, study, jobs.STORING, expected, NOW)}")

    assert len(pages) == 1
    assert count(web_database, LongWork) == 1


DOCUMENTS = (
    b"query,system,rank,doc_id,text\nhow to thaw meat,bm25,1,d7,On a plate.\n"
    b"how to thaw meat,lsa,1,d8,In water.\n"
)


@pytest.mark.parametrize("is_of_documents", [True, False])
def test_a_study_has_the_kind_of_its_first_import_and_refuses_the_other(
    client: FlaskClient, web_database: Database, *, is_of_documents: bool
) -> None:
    def dropped(name: str, data: bytes) -> TestResponse:
        form = {"files": [(BytesIO(data), name)]}
        return client.post("/runs/import", data=form, follow_redirects=True)

    files = [("results.csv", DOCUMENTS), ("test_results.json", run_file())]
    first_file, second_file = files if is_of_documents else reversed(files)
    kind = Document.kind if is_of_documents else Card.kind

    first = dropped(*first_file)
    assert imports.BECOMES[kind] in first.text
    assert ("judge each document once" in first.text) is is_of_documents
    assert "property" not in Page(first).all("main")[0].text or not is_of_documents
    client.post("/runs/import", data={"token": tokens(first), "action": "store"})
    second = dropped(*second_file)
    assert stored_runs.OtherKind.remedy in second.text
    assert imports.BECOMES[Card.kind] not in second.text
    assert not Page(second).all("button[value=store]")
    forced = client.post("/runs/import", data={"token": tokens(second), "action": "store"})
    assert forced.status_code == 400

    with web_database.reading() as session:
        (study,) = session.scalars(select(Study))
        assert (study.kind, study.asks_quality) == (kind, not is_of_documents)
        assert len(session.scalars(select(Run)).all()) == 1 + is_of_documents


def test_a_study_without_runs_takes_either_kind(
    client: FlaskClient, web_database: Database
) -> None:
    form = {"files": [(BytesIO(DOCUMENTS), "results.csv")]}
    report = client.post("/runs/import", data=form, follow_redirects=True)
    client.post("/runs/import", data={"token": tokens(report), "action": "store"})
    with web_database.writing() as session:
        (study,) = session.scalars(select(Study))
        for run in session.scalars(select(Run)).all():
            runs.delete_run(session, study, run.id, NOW)
        session.commit()

    store(client, run_file())

    with web_database.reading() as session:
        (study,) = session.scalars(select(Study))
        assert (study.kind, study.asks_quality) == (Card.kind, True)


def test_files_are_read_by_other_columns_while_clicks_are_stored(
    client: FlaskClient, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"query,system,rank,doc_id,label\nhow to thaw meat,bm25,1,d7,kitchen\n"
    upload = {"files": [(BytesIO(data), "results.csv")]}
    (token,) = tokens(client.post("/runs/import", data=upload, follow_redirects=True))
    read_results = file_formats.read_results

    def beside_a_click(*arguments: Any) -> Any:
        with web_database.writing() as session:
            session.commit()
        return read_results(*arguments)

    monkeypatch.setattr(file_formats, "read_results", beside_a_click)
    columns = [f"{role}={role}" for role in ("query", "system", "rank", "doc_id")]
    form = {"token": token, "action": "look", f"depth-{token}": "3"}
    chosen = form | {f"column-{token}": [*columns, "grade=", "rater="]}
    client.post("/runs/import", data=chosen)

    with open_study(web_database) as (session, study):
        report = waiting_files.read_upload(waiting_files.find(session, study, token)).content
    assert isinstance(report, ResultsReport)
    assert report.group.choices.depth == 3
    assert report.group.choices.columns == {role: role for role in report.group.columns} | {
        "grade": ""
    }
    assert "grade" not in report.group.columns  # as it was guessed to be
    assert "results_grade_wrong" not in {problem.code for problem in report.problems}
