"""An imported file gives one run per session, one question set per list, one thing per content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.services.runs.runs import card, count, query, run, store
from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Result, Run
from webapp.db.tables.study import Study
from webapp.records import QueryState
from webapp.services.judging import live_metrics
from webapp.services.runs import imports


def test_the_same_file_twice_is_recognised_by_its_hash(session: Session, study: Study) -> None:
    first = store(session, study, run(query(1, card("a"))))
    again = store(session, study, run(query(1, card("a"))))

    assert (again.id, again.already_imported) == (first.id, True)
    assert count(session, Result) == 1


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
    assert count(session, JudgedThing) == 2  # the card and the emptiness
    assert live_metrics.check(session) == []


def test_the_same_answers_under_another_method_are_another_run(
    session: Session, study: Study
) -> None:
    first = store(session, study, run(query(1, card("a")), method="hybrid"))
    second = store(session, study, run(query(1, card("a")), method="api_only"))

    assert first.id != second.id
    assert count(session, JudgedThing) == 1


def test_labels_given_at_import_win_over_the_file_and_the_file_s_are_kept(
    session: Session, study: Study
) -> None:
    imported = store(session, study, run(query(1)), search_method="vector_only", llm="gpt")

    row = session.get_one(Run, imported.id)
    assert (row.search_method, row.llm) == ("vector_only", "gpt")
    assert (row.stated_search_method, row.stated_llm) == ("hybrid", None)


def test_a_rater_finds_summary_rows_for_every_query(
    session: Session, study: Study, rater: Rater
) -> None:
    read = run(query(1, card("a")), query(2), query(3, state=QueryState.FAILED))
    imported = store(session, study, read)

    found = live_metrics.by_category(session, rater.id, imported.id)
    assert found["location"].totals.n_queries == 3
    assert found["location"].open_judgments == 2
    assert found["location"].open_queries == 3
    assert found["location"].totals.n_unrated == 3


def test_nothing_is_stored_by_looking(session: Session, study: Study) -> None:
    data = json.dumps(
        {
            "search_method": "hybrid",
            "results": [
                {
                    "query_id": 1,
                    "question": "A",
                    "category": "c",
                    "success": True,
                    "response": "1. **[T](https://x.example/properti/t)**",
                    "results_count": 1,
                }
            ],
        }
    ).encode()
    report = imports.examine(session, study, imports.read("hybrid/test_results.json", data))

    assert report.counts is not None
    assert (report.counts.cards, report.run_id) == (1, None)
    assert [entry.query_id for entry in report.undecided] == [1]
    assert count(session, Run) == 0


def test_a_file_that_is_no_run_is_refused_with_its_problem(session: Session, study: Study) -> None:
    report = imports.examine(session, study, imports.read("notes.json", b"[1, 2"))

    assert report.read is None
    assert report.problems[0].file == "notes.json"


@pytest.mark.real
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_two_files_of_the_real_run_are_one_run_with_the_same_cards(
    session: Session, study: Study, real_run: Path, order: tuple[int, int]
) -> None:
    names = ("test_results.json", "results.json")
    seen = []
    for place in order:
        path = real_run / names[place]
        report = imports.examine(
            session, study, imports.read(f"hybrid/{path.name}", path.read_bytes())
        )
        assert report.read is not None
        seen.append(store(session, study, report.read))

    first, second = seen
    assert second.id == first.id
    assert second.enriched
    assert (first.counts.queries, first.counts.cards) == (30, 237)
    assert (first.counts.with_results, first.counts.empty) == (28, 2)
    assert first.counts == second.counts
    assert count(session, Run) == 1
