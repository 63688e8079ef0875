"""Results of any system on the page: dropped together, looked at, changed, stored, and counted."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.db.tables.evaluations import Evaluation
from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import LongWork, Result, Run, Upload
from relevansi.importers.results.formats import examples
from relevansi.services.runs import stored_runs, waiting_files
from relevansi.services.workers import jobs, kinds
from relevansi.services.workers.jobs import JobCall, JobWork
from relevansi.services.workers.loop import LEASE_TIME
from relevansi.web.frame import access
from relevansi.web.frame.workers import workers
from tests.page import Page
from tests.services.runs.killed import KILLED_WHILE_STORING
from tests.web.conftest import count

WAIT = 30
SEEDS = Path(__file__).parents[3] / "seeds" / "demo"
WITHOUT_A_RUN = {
    **dict.fromkeys(("qrels.txt", "ratings.csv", "judgments.json", "beir/qrels/test.tsv"), ""),
    **dict.fromkeys(("topics.tsv", "topics.xml", "beir/queries.jsonl"), "topics.tsv"),
    **dict.fromkeys(("corpus.jsonl", "documents.sgml", "d7.md"), "corpus.jsonl"),
}
"""The examples that belong to a run, and the file below whose place they take."""
OF_IDS = ("run.txt", "ranks.tsv", "scores.json", "rank_eval.json")
BESIDE = ("run.txt", "topics.tsv", "corpus.jsonl")
"""What gives a file of questions, documents or grades the run that it belongs to."""
FORMATS = (
    *("run.txt", "rank_eval.json", "table.csv", "lists.jsonl", "search.jsonl", "spans.jsonl"),
    *("qrels.txt", "ratings.csv", "topics.tsv", "corpus.jsonl"),
)
"""Of each kind of format; the importers read an example of every one."""


def together(name: str) -> list[Path]:
    """An example with what it needs to be a run."""
    place = "run.txt" if name in OF_IDS else WITHOUT_A_RUN.get(name)
    beside = () if place is None else [example for example in BESIDE if example != place]
    return [examples()[example][0] for example in (name, *beside)]


def drop(client: FlaskClient, *files: Path | tuple[str, str]) -> TestResponse:
    chosen = [
        (BytesIO(file.read_bytes()), file.name)
        if isinstance(file, Path)
        else (BytesIO(file[1].encode()), file[0])
        for file in files
    ]
    return client.post("/runs/import", data={"files": chosen}, follow_redirects=True)


def token_of(report: TestResponse) -> str:
    (token,) = Page(report).values("[name=token]")
    return token


def decide(
    client: FlaskClient, report: TestResponse, action: str, **decisions: object
) -> TestResponse:
    token = token_of(report)
    fields = {f"{name}-{token}": value for name, value in decisions.items()}
    return client.post(
        "/runs/import", data={"token": token, "action": action, **fields}, follow_redirects=True
    )


def runs_of(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(Run.id).order_by(Run.search_method)))


@pytest.mark.parametrize("name", FORMATS)
def test_each_example_is_reported_on_stored_and_counted(
    client: FlaskClient, web_database: Database, name: str
) -> None:
    report = drop(client, *together(name))
    assert report.status_code == 200
    assert Page(report).count(".as-rated .card") >= 1
    assert Page(report).has("[value=store]")
    assert count(web_database, Run) == 0

    stored = decide(client, report, "store", grader="qrels")

    assert stored.status_code == 200
    assert count(web_database, Upload) == 0
    assert count(web_database, Result) >= 1
    for run in runs_of(web_database):
        assert client.get(f"/runs/{run}").status_code == 200
        assert client.get(f"/runs/{run}/queries/1", follow_redirects=True).status_code == 200
        assert client.get(f"/runs/{run}/metrics.json").status_code == 200
    has_grades = WITHOUT_A_RUN.get(name) == "" or name == "rank_eval.json"
    assert bool(count(web_database, Judgment)) == has_grades


def test_the_report_opens_with_how_many_runs_were_found(client: FlaskClient) -> None:
    lines = "q1 Q0 d7 1 1 bm25\n", "q1 Q0 d7 1 1 bm25\nq1 Q0 d8 1 1 dense\n"
    pages = [Page(drop(client, ("a.txt", text))) for text in lines]
    assert [page.one("h1").text[:2] for page in pages] == ["1 ", "2 "]


def test_roles_of_columns_are_named_in_the_language_of_each_reader(client: FlaskClient) -> None:
    report = drop(client, ("a.csv", FOREIGN.format("a")))
    address = f"/runs/import?token={token_of(report)}"

    labels = {
        language: Page(client.get(address, headers={"Accept-Language": language})).text
        for language in ("en", "id")
    }

    assert "Document id" in labels["en"]
    assert "Id dokumen" in labels["id"]


FOREIGN = "Frage,Treffer,Weg\nred,Long dress {0},{0}\n"


def test_columns_that_nothing_names_are_chosen_on_the_page_and_remembered(
    client: FlaskClient, web_database: Database
) -> None:
    report = drop(client, ("a.csv", FOREIGN.format("a")))
    assert not Page(report).has("[value=store]")
    assert Page(report).has("a[href='/runs/import/formats']")

    columns = ["query=frage", "text=treffer", "system=weg", "doc_id="]
    report = decide(client, report, "look", column=columns, depth="5")
    assert Page(report).has(".as-rated .card")
    decide(client, report, "store")
    decide(client, drop(client, ("b.csv", FOREIGN.format("b"))), "store")

    with web_database.reading() as session:
        assert session.scalars(select(Run.search_method).order_by(Run.search_method)).all() == [
            "a",
            "b",
        ]


def test_the_first_cards_are_shown_by_other_columns_while_what_waits_stays_as_it_was(
    client: FlaskClient,
) -> None:
    rows = "query,title,text\nred,Dress,A long one\nred,Gown,A short one\nblue,Hat,A warm one\n"
    report = drop(client, ("a.csv", rows))
    token = token_of(report)
    columns = ["query=query", "title=text", "text=title"]

    part = client.post(
        f"/runs/import/{token}/preview",
        data={f"column-{token}": columns, f"depth-{token}": "5"},
    )

    titles = ".as-rated .card > b"
    assert Page(part).texts(titles) == ["A long one", "A short one"]
    assert "All 2 questions have results." in part.text
    waiting = Page(client.get("/runs/import", query_string={"token": token}))
    assert waiting.texts(titles) == ["Dress", "Gown"]


def test_a_preview_by_columns_that_the_file_lacks_says_why(client: FlaskClient) -> None:
    token = token_of(drop(client, ("a.csv", "query,text\nred,Dress\n")))
    path = f"/runs/import/{token}/preview"
    part = client.post(path, data={f"column-{token}": ["query=", "text=text"]})

    assert part.status_code == 200
    assert Page(part).has(".notice.bad")


def test_files_whose_columns_were_changed_are_shown_anew_before_they_are_stored(
    client: FlaskClient, web_database: Database
) -> None:
    report = drop(client, ("a.csv", "query,title,text\nred,Dress,A long one\n"))
    columns = ["query=query", "title=text", "text=title"]

    again = decide(client, report, "store", column=columns, depth="20")
    assert count(web_database, Run) == 0
    decide(client, again, "store", column=columns, depth="20")

    with web_database.reading() as session:
        [card] = session.scalars(select(JudgedItem.card))
        assert card is not None
        assert (card["title"], card["text"]) == ("A long one", "Dress")


def test_a_column_that_was_guessed_wrongly_is_taken_for_nothing_on_the_page(
    client: FlaskClient, web_database: Database
) -> None:
    report = drop(client, ("a.csv", "query,doc_id,text,score\nred,7,Dress,0.2\nred,8,Gown,0.9\n"))
    decide(client, decide(client, report, "look", column=["score="], depth="20"), "store")

    with web_database.reading() as session:
        cards = session.scalars(select(JudgedItem.card).order_by(JudgedItem.id))
        assert [card["doc_id"] for card in cards if card] == ["7", "8"]


@pytest.mark.parametrize(
    ("file", "is_refused"),
    [
        (
            (
                "a.json",
                '[{"wording": "in rain", "finds": [{"label": "d7", "prose": "Of rubber"}]}]',
            ),
            False,
        ),
        (("a.csv", "Frage;Treffer\nboots;d7\n"), False),
        (("a.json", '{"a": 1}'), True),
    ],
)
def test_what_is_asked_about_a_file_looks_like_no_error(
    client: FlaskClient, file: tuple[str, str], is_refused: bool
) -> None:
    page = Page(drop(client, file))

    assert page.has(".problems .error") == is_refused
    assert page.has(".problems .question") != is_refused


def test_a_table_with_blank_cells_in_its_first_row_is_reported_on(client: FlaskClient) -> None:
    report = drop(client, ("a.csv", "query,rank,doc_id,text,author\nred,1,,,\nred,2,d2,Gown,Ani\n"))

    assert report.status_code == 200
    assert Page(report).has("[value=store]")


def test_the_depth_of_lists_and_one_of_several_splits_are_chosen_on_the_page(
    client: FlaskClient, web_database: Database
) -> None:
    lines = "".join(f"q1 Q0 d{n} {n} {9 - n} bm25\n" for n in range(1, 9))
    qrels = [(f"qrels/{split}.tsv", f"query-id\tcorpus-id\tscore\nq1\td{n}\t1\n")
             for n, split in enumerate(("test", "dev"), 1)]  # fmt: skip
    report = drop(client, ("run.txt", lines), *qrels)
    assert "several sets of grades: dev, test" in report.text
    report = decide(client, report, "look", depth="3", split="dev")
    decide(client, report, "store", grader="people")

    assert count(web_database, Result) == 3
    with web_database.reading() as session:
        (judgment,) = session.scalars(select(Judgment))
        assert judgment.verdict == "1"


def test_grades_that_no_scale_has_are_asked_for_until_each_is_said(
    client: FlaskClient, web_database: Database
) -> None:
    """What was filled in stays; a grade below 0 says that nobody judged, and is not asked."""
    qrels = "q1 0 d7 100\nq1 0 d2 0.5\nq1 0 d3 -1\n"
    run = ("run.txt", "q1 Q0 d7 1 2 bm25\nq1 Q0 d2 2 1 bm25\nq1 Q0 d3 3 0 bm25\n")
    report = drop(client, run, ("qrels.txt", qrels))
    again = decide(client, report, "look", depth="20", grades="0.5=, 100=1")
    assert Page(report).values("[name^=grades-]") == ["0.5=, 100="]
    assert Page(again).values("[name^=grades-]") == ["100=1, 0.5="]
    read = decide(client, again, "look", depth="20", grades="100=1, 0.5=0")
    decide(client, read, "store", grader="a")

    with web_database.reading() as session:
        assert {*session.scalars(select(Judgment.verdict))} == {"0", "1"}


def test_grades_above_the_scale_are_refused_with_a_way_out_once_there_is_a_verdict(
    client: FlaskClient, web_database: Database
) -> None:
    files = [("run.txt", "q1 Q0 d7 1 1 bm25\n"), ("qrels.txt", "q1 0 d7 2\n")]
    report = drop(client, *files)
    assert "The scale of the study becomes 0 to 2." in report.text
    decide(client, report, "store", grader="a")
    refused = drop(client, ("qrels.txt", "q1 0 d7 3\n"))

    assert Page(refused).has(".notice.bad a[href='/runs/import/formats']")
    assert not Page(refused).has("[value=store]")
    assert count(web_database, Judgment) == 1


def test_grades_of_a_rater_of_the_study_are_stored_only_when_that_is_ticked(
    client: FlaskClient, web_database: Database
) -> None:
    decide(client, drop(client, ("run.txt", "q1 Q0 d7 1 1 bm25\n")), "store")
    report = drop(client, ("qrels.txt", "q1 0 d7 1\n"))
    with web_database.reading() as session:
        owner = session.scalars(select(Rater.name)).one()

    refused = decide(client, report, "store", grader=owner)
    assert refused.status_code == 400
    assert owner in refused.text
    assert count(web_database, Judgment) == 0
    decide(client, report, "store", grader=owner, confirm="on")
    assert count(web_database, Judgment) == 1


def test_documents_with_another_text_are_the_same_ones_where_that_is_ticked(
    client: FlaskClient, web_database: Database
) -> None:
    """The tick is there where a text differs, of a new run and of one that is stored."""
    rows = "query_id,query,doc_id,text,system\nq1,how,d1,Turn the tap {0},{1}\n"
    first = drop(client, ("a.csv", rows.format("off", "a")))
    assert not Page(first).has("[name^=same_documents]")
    decide(client, first, "store")

    report = drop(client, ("b.csv", rows.format("on", "b")))
    assert Page(report).has("[name^=same_documents]")
    looked = decide(client, report, "look", depth="5")
    assert Page(looked).has("[name^=same_documents]")
    decide(client, looked, "store", same_documents="on")
    again = drop(client, ("a.csv", rows.format("out", "a")))
    decide(client, again, "store", same_documents="on")

    with web_database.reading() as session:
        [card] = session.scalars(select(JudgedItem.card))
        assert card is not None
        assert card["text"] == "Turn the tap out"


@pytest.mark.parametrize(("name", "kind"), [("answers", "answers"), ("chunks", "chunks")])
def test_a_file_that_can_be_scored_and_judged_is_both_by_one_upload(
    client: FlaskClient, web_database: Database, name: str, kind: str
) -> None:
    report = drop(client, SEEDS / f"{name}.jsonl")
    (kind_offered,) = Page(report).values("button[name=score]")
    form = {"token": token_of(report), "score": kind_offered}
    scoring = client.post("/runs/import", data=form)

    page = client.get(scoring.location, follow_redirects=True)
    assert page.request.path.startswith("/evaluations/")
    with web_database.reading() as session:
        assert session.scalars(select(Evaluation.kind)).one() == kind
    decide(client, report, "store")
    assert count(web_database, Run) >= 1
    assert count(web_database, Upload) == 0
    unknown = client.post("/runs/import", data={"score": kind_offered})
    assert unknown.status_code == 404


def test_other_results_are_not_offered_for_scoring(client: FlaskClient) -> None:
    assert not Page(drop(client, *together("ragas.jsonl"))).has("button[name=score]")


@pytest.fixture(name="long")
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_files, "LONG_FROM", 0)


@pytest.mark.usefixtures("long")
def test_large_results_are_read_and_stored_in_the_background(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    chosen = [(BytesIO(path.read_bytes()), path.name) for path in together("run.txt")]
    reading = client.post("/runs/import", data={"files": chosen}).location
    assert workers(app).is_idle(WAIT)
    report = client.get(reading, follow_redirects=True)
    assert count(web_database, Run) == 0

    storing = client.post("/runs/import", data={"token": token_of(report), "action": "store"})
    assert workers(app).is_idle(WAIT)
    assert client.get(storing.location, follow_redirects=True).status_code == 200
    assert (count(web_database, Run), count(web_database, Upload)) == (1, 0)


WORKING = f"""{KILLED_WHILE_STORING}
from datetime import datetime
from relevansi.db.engine import Database
from relevansi.services.workers import kinds
from relevansi.services.workers.jobs import JobWork

database, now = Database(sys.argv[1]), datetime.fromisoformat(sys.argv[2])
work = JobWork(database, kinds.JOB_KINDS)
with database.writing() as session:
    call = work.claim(session, now)
    session.commit()
outcome = work.ask(call)
with database.writing() as session:
    work.store(session, call, outcome, now)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed so on POSIX")
@pytest.mark.usefixtures("long")
def test_a_server_that_is_killed_while_storing_leaves_nothing_and_the_next_one_stores(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    chosen = [(BytesIO(b"q1 Q0 d7 1 1 a\nq1 Q0 d7 1 1 b\n"), "run.txt")]
    reading = client.post("/runs/import", data={"files": chosen}).location
    assert workers(app).is_idle(WAIT)
    token = token_of(client.get(reading, follow_redirects=True))
    assert workers(app).finish(WAIT)  # nothing is begun any more
    client.post("/runs/import", data={"token": token, "action": "store"})
    now = access.now()
    url = web_database.url.render_as_string(hide_password=False)
    killed = subprocess.run(
        [sys.executable, "-c", WORKING, url, now.isoformat()], timeout=WAIT * 2, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    rows = (Run, JudgedItem, Upload)
    assert [count(web_database, row) for row in rows] == [0, 0, 1]

    work = JobWork(web_database, kinds.JOB_KINDS)
    with web_database.writing() as session:
        call = work.claim(session, now + 2 * LEASE_TIME)
        assert isinstance(call, JobCall)
        session.commit()
    outcome = work.ask(call)
    with web_database.writing() as session:
        work.store(session, call, outcome, now + 2 * LEASE_TIME)
        session.commit()
    assert [count(web_database, row) for row in rows] == [2, 1, 0]


@pytest.mark.usefixtures("long")
def test_large_results_that_are_given_up_leave_nothing(
    app: Flask, client: FlaskClient, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While they are being stored, once their answers are."""
    both = "q1 Q0 d7 1 1 a\nq1 Q0 d7 1 1 b\n"
    chosen = [(BytesIO(both.encode()), "run.txt")]
    reading = client.post("/runs/import", data={"files": chosen}).location
    assert workers(app).is_idle(WAIT)
    report = client.get(reading, follow_redirects=True)
    add_all, token = stored_runs.add_answers, token_of(report)
    stored: list[str] = []

    def add_answers(session: Session, answers: Mapping[str, Any], **more: Any) -> None:
        add_all(session, answers, **more)
        stored.extend(answers)
        raise jobs.Cancelled

    monkeypatch.setattr(stored_runs, "add_answers", add_answers)
    client.post("/runs/import", data={"token": token, "action": "store"})
    assert workers(app).is_idle(WAIT)
    client.post("/runs/import", data={"token": token, "action": "discard"})

    assert len(stored) >= 2
    assert [
        count(web_database, table) for table in (Run, Result, JudgedItem, Upload, LongWork)
    ] == [*[0] * 5]
