"""An imported file waits, then gives one run per session and one thing per content."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run, Upload
from relevansi.db.tables.study import Study
from relevansi.importers.runs.problems import ImportRefused
from relevansi.records import QueryState
from relevansi.services.judging import stored_summaries, verdicts
from relevansi.services.runs import file_formats, imports, stored_runs, waiting_files
from relevansi.services.runs.file_formats import FileFormat, ReadFile
from relevansi.services.runs.imports import ImportReport
from relevansi.services.runs.waiting_files import UnknownUpload, new_upload
from relevansi.services.workers import kinds
from tests.conftest import NOW
from tests.services.exports.offline_files import change, ratings
from tests.services.runs.runs import card, count, query, run, store
from tests.web.runs.test_imports import rated, run_file


def test_a_file_is_one_run_whatever_its_other_forms(
    session: Session, study: Study, rater: Rater
) -> None:
    read = run(query(1, card("a")), query(2), query(3, state=QueryState.FAILED))
    first = store(session, study, read, search_method="vector_only", llm="gpt")
    again = store(session, study, read)
    second_run = store(session, study, run(*read.queries, method="api_only"))

    assert (again.id, again.already_imported) == (first.id, True)
    assert second_run.id != first.id
    assert (count(session, Result), count(session, JudgedItem)) == (2, 2)  # and the emptiness
    row = session.get_one(Run, first.id)  # labels given at import win, the file's are kept
    assert (row.search_method, row.llm) == ("vector_only", "gpt")
    assert (row.stated_search_method, row.stated_llm) == ("hybrid", None)
    result = stored_summaries.by_category(session, rater.id, first.id)["location"]
    assert (result.totals.n_queries, result.totals.n_unrated) == (3, 3)
    assert (result.open_judgments, result.open_queries) == (2, 3)


def test_two_files_of_one_session_are_one_run_enriched(session: Session, study: Study) -> None:
    bare = run(query(1, card("a", price=5)), query(2))
    fuller = replace(
        run(query(1, card("a", price=5, bedrooms=3)), query(2), name="results.json"),
        llm="openai",
        file_format="v2",
    )
    first = store(session, study, bare)
    second = store(session, study, fuller)

    assert (second.id, second.enriched, second.llm) == (first.id, True, "openai")
    assert session.scalars(select(Result)).one().card["bedrooms"] == 3
    assert count(session, JudgedItem) == 2  # the card and the emptiness
    assert stored_summaries.check(session) == []


def test_nothing_is_stored_by_looking(session: Session, study: Study) -> None:
    report = imports.examine(session, study, imports.read("hybrid/test_results.json", run_file()))

    assert (report.counts.cards, report.run_id) == (1, None)
    assert [entry.query_id for entry in report.undecided] == [1, 2]
    assert count(session, Run) == 0
    with pytest.raises(ImportRefused) as refused:
        imports.read("notes.json", b"[1, 2")
    assert refused.value.name == "notes.json"


@pytest.mark.real
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_two_files_of_the_real_run_are_one_run_with_the_same_cards(
    session: Session, study: Study, real_run: Path, order: tuple[int, int]
) -> None:
    names = ("test_results.json", "results.json")
    visited = []
    for place in order:
        path = real_run / names[place]
        report = imports.examine(
            session, study, imports.read(f"hybrid/{path.name}", path.read_bytes())
        )
        visited.append(store(session, study, report.read))

    first, second = visited
    assert second.id == first.id
    assert second.enriched
    assert (first.counts.queries, first.counts.cards) == (30, 237)
    assert (first.counts.with_results, first.counts.empty) == (28, 2)
    assert first.counts == second.counts
    assert count(session, Run) == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_file_waits_for_a_day_in_its_study_until_it_is_forgotten(
    session: Session, study: Study
) -> None:
    second_study = Study(name="Other", created_at=NOW)
    session.add(second_study)
    session.flush()
    old = waiting_files.store_upload(session, study, new_upload("old.json", b"\x00{}"), NOW).id
    later = NOW + timedelta(seconds=1)
    just = waiting_files.store_upload(session, study, new_upload("just.json", b""), later).id
    elsewhere = waiting_files.store_upload(
        session, second_study, new_upload("run.json", b""), later
    ).id
    session.flush()
    assert waiting_files.find(session, study, old).content == b"\x00{}"

    waiting_files.store_upload(
        session, study, new_upload("new.json", b""), later + waiting_files.WAITING_LIMIT
    )
    session.expire_all()
    session.delete(waiting_files.find(session, study, just))
    session.flush()
    for token in (old, just, elsewhere):
        with pytest.raises(UnknownUpload):
            waiting_files.find(session, study, token)
    assert count(session, Upload) == 2


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_questions_of_all_files_are_counted_as_they_are_read_once(
    session: Session, study: Study
) -> None:
    files = [
        waiting_files.store_upload(
            session, study, new_upload(f"run_{n}.json", run_file(), FileFormat.RUN), NOW
        )
        for n in range(2)
    ]
    session.flush()
    steps: list[tuple[int, int]] = []

    def on_progress(n: int, of: int) -> None:
        steps.append((n, of))

    kinds.read_files(session, study, kinds.order_to_read(files), on_progress)(session, study, NOW)
    assert steps == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    session.flush()
    session.expire_all()
    steps.clear()
    finish = kinds.store_files(session, study, kinds.order_to_store(files, {}), on_progress)

    assert steps == [(4, 4)]
    assert len(finish(session, study, NOW)["runs"]) == 2
    assert count(session, Upload) == 0


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("form", "data"),
    [
        (FileFormat.RUN, run_file(extra=10**29, llm=None)),
        (FileFormat.RUN, b'{"results": [{"query_id": 1, "response": 3}]}'),
        (FileFormat.RATINGS, b'{"format": "relevansi offline ratings", "changes": []}'),
        (
            FileFormat.RATINGS,
            ratings(run(query(1, card("a"))), change(1, 1, "relevance", "1", rank=1)),
        ),
        (FileFormat.RATED_CSV, rated() + b"x,,,\n"),
    ],
)
def test_what_was_read_of_a_file_waits_as_it_is(
    session: Session, study: Study, form: FileFormat, data: bytes
) -> None:
    """A file that waited before files were read once is read when it is asked for."""
    upload = waiting_files.store_upload(session, study, new_upload("test", data), NOW)
    read = file_formats.read_file(form, "test", data)
    first = waiting_files.read_upload(upload)
    waiting_files.store_content(upload, waiting_files.waiting_content(read))
    session.flush()
    session.expire_all()

    for result in (first, waiting_files.read_upload(upload)):
        assert result.format is form
        assert _comparable(result) == _comparable(read)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_file_that_another_version_read_goes_on_waiting_or_is_to_be_chosen_again(
    session: Session, study: Study
) -> None:
    upload = waiting_files.store_upload(session, study, new_upload("test", run_file()), NOW)
    read = file_formats.read_file(FileFormat.RUN, "test", run_file())
    waiting_files.store_content(upload, waiting_files.waiting_content(read))
    assert upload.report is not None
    report = json.loads(upload.report)
    upload.report = json.dumps({**report, "refused": "", "remedy": ""}).encode()
    content = waiting_files.read_upload(upload).content
    assert isinstance(content, ImportReport)
    assert imports.examine(session, study, content).brings_something

    upload.report = json.dumps({**report, "read": None}).encode()
    with pytest.raises(UnknownUpload):
        waiting_files.read_upload(upload)


def _comparable(file: ReadFile) -> object:
    if isinstance(file.content, ImportRefused):
        return file.content.problems
    if isinstance(file.content, ImportReport):  # whose undecided questions are for looking only
        return replace(file.content, undecided=len(file.content.undecided))
    return file.content


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_run_stored_in_portions_has_the_rows_of_one_stored_at_once(
    session: Session, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does one that a second file of its session completes."""
    second_study = Study(name="Other", created_at=NOW)
    session.add(second_study)
    session.flush()
    bare = run(
        query(1, card("a", price=5), card("b"), card("a", bedrooms=3), card("a", price=6)),
        query(2),
        query(3, card("a", price=5), category="context_x", context_dependent=True),
        query(4, card("b", price=7), card("c")),
    )
    fuller = replace(bare.queries[3], cards=(card("b", price=8), card("c", floors=2)))
    second = replace(bare, queries=(*bare.queries[:3], fuller), sha256="2")

    def rows(of: Study) -> list[list[tuple[object, ...]]]:
        result = []
        for read in (bare, second):
            run_id = store(session, of, read).id
            listed = (
                select(Query.query_id, Result.rank, Result.card, StoredItem.identity)
                .add_columns(JudgedItem.content, JudgedItem.card, JudgedItem.run_id == run_id)
                .select_from(Query)
                .outerjoin(Result)
                .outerjoin(
                    JudgedItem, JudgedItem.id.in_((Result.judged_item_id, Query.emptiness_id))
                )
                .outerjoin(StoredItem)
                .where(Query.run_id == run_id)
                .order_by(Query.id, Result.rank)
            )
            result.append([tuple(row) for row in session.execute(listed)])
        return result

    rows_at_once = rows(study)
    monkeypatch.setattr(stored_runs, "PORTION", 1)

    assert rows(second_study) == rows_at_once
    assert [(rank, identity, content) for _, rank, _, identity, content, *_ in rows_at_once[0]] == [
        (1, "slug:a", 1),
        (2, "slug:b", 1),
        (3, "slug:a", 1),
        (4, "slug:a", 2),
        (None, None, 1),
        (1, "slug:a", 1),
        (1, "slug:b", 1),
        (2, "slug:c", 1),
    ]
    assert rows_at_once[0][0][5] == {"title": "A", "slug": "a", "price": 5, "bedrooms": 3}
    assert [row[2].get("floors") for row in rows_at_once[1][-2:]] == [None, 2]  # type: ignore[attr-defined]


def test_a_chatbot_s_own_key_is_never_taken_for_the_ranks_below(
    session: Session, study: Study
) -> None:
    """A file's "tail" is kept under another name, and ranking figures know nothing of it."""
    read_query = replace(query(1, card("a")), extra={"tail": "abc", "usage": 1})
    stored = store(session, study, run(read_query))
    extra = session.scalars(select(Query.extra)).one()
    [asked_query] = verdicts.asked_queries(session, Query.run_id == stored.id, pooled=True)

    assert extra == {"tail_": "abc", "usage": 1}
    assert asked_query.tail == ()
