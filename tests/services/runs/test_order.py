"""Runs come in the owner's order, then in that of the methods, then as they were imported."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.comparisons.stored_runs import stored
from tests.services.runs.runs import card, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.services.comparisons import chosen_runs
from webapp.services.runs import runs


def test_search_methods_come_in_the_method_s_order_then_as_they_were_imported(
    session: Session, study: Study
) -> None:
    stored(session, study, "bm25", query(1, card("a")), hour=1)
    stored(session, study, "hybrid", query(1, card("b")), hour=2)
    stored(session, study, "dense", query(1, card("c")), hour=3)
    stored(session, study, "vector_only", query(1, card("d")), hour=4)
    stored(session, study, "api_only", query(1, card("e")), hour=5)

    chosen = [runs.find(session, study, run) for run in chosen_runs.of_phase(session, study, 1)]

    methods = [run.search_method for run in chosen]
    assert methods == ["api_only", "vector_only", "hybrid", "bm25", "dense"]
    assert list(chosen_runs.names_of(chosen).values())[:3] == ["API Only", "Vector Only", "Hybrid"]


def test_the_owner_s_order_of_runs_is_that_of_lists_and_phases(
    session: Session, study: Study, rater: Rater
) -> None:
    hybrid = stored(session, study, "hybrid", query(1, card("a")), hour=1)
    vector = stored(session, study, "vector_only", query(1, card("b")), hour=2)
    api = stored(session, study, "api_only", query(1, card("c")), hour=3)

    def lists() -> list[tuple[str, ...]]:
        return [
            chosen_runs.of_phase(session, study, 1),
            tuple(one.id for one in runs.overviews(session, rater)),
            tuple(one.run for one in chosen_runs.candidates(session, study)),
        ]

    assert lists() == [(api, vector, hybrid)] * 3
    runs.move(session, study, hybrid, "up")
    runs.move(session, study, api, "up")  # it is the first already
    assert lists() == [(api, hybrid, vector)] * 3
    runs.move(session, study, api, "down")
    runs.move(session, study, vector, "down")  # it is the last already
    assert lists() == [(hybrid, api, vector)] * 3

    late = stored(session, study, "api_only", query(1, card("d")), hour=4, llm="two")
    assert lists()[1:] == [(hybrid, api, vector, late)] * 2  # a new run comes last
    runs.relabel(session, study, late, "bm25", "one", NOW)
    assert lists() == [(hybrid, api, vector, late)] * 3
