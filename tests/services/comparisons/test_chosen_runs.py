"""Which runs a comparison takes, what it refuses, and what it calls them."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.services.comparisons.stored_runs import judge, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.metrics.comparisons.significance import Resampling
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.comparisons.chosen_runs import DifferentQuestions, NothingToCompare
from webapp.services.runs import runs
from webapp.services.runs.reports import Rule
from webapp.services.runs.runs import UnknownRun

QUICK = Resampling(resamples=200)


def test_the_default_of_a_phase_is_the_newest_complete_run_of_each_method(
    session: Session, study: Study, rater: Rater
) -> None:
    old = stored(session, study, "api", query(1, card("a")), hour=1)
    new = stored(session, study, "api", query(1, card("b")), hour=2)
    stored(session, study, "api", query(1, card("c")), hour=3)
    other = stored(session, study, "hybrid", query(1, card("d")), hour=0)
    for rated in (old, new):
        judge(session, rater, rated, "1")

    assert chosen_runs.of_phase(session, study, 1) == (new, other)
    assert chosen_runs.phases_of(session, study) == (1,)
    with pytest.raises(NothingToCompare):
        chosen_runs.of_phase(session, study, 2)


def test_the_best_method_s_run_serves_both_phases(session: Session, study: Study) -> None:
    stored(session, study, "api", query(1, card("a")), llm="gpt")
    stored(session, study, "hybrid", query(1, card("b")), llm="gpt", hour=1)
    stored(session, study, "hybrid", query(1, card("c")), llm="claude", hour=2)

    phases = {phase: chosen_runs.of_phase(session, study, phase) for phase in (1, 2)}

    for phase, chosen in phases.items():
        found = comparisons.report(session, study, chosen, Rule("majority"), settings=QUICK)
        assert found.phase == phase
    labels = {
        phase: [(r.search_method, r.llm) for r in (runs.find(session, study, c) for c in chosen)]
        for phase, chosen in phases.items()
    }
    assert labels == {
        1: [("api", "gpt"), ("hybrid", "gpt")],
        2: [("hybrid", "gpt"), ("hybrid", "claude")],  # as they were imported
    }


def test_runs_of_different_questions_are_refused_with_what_differs(
    session: Session, study: Study
) -> None:
    first = stored(session, study, "api", query(1, text="Alike"), query(2, text="Only here"))
    second = stored(session, study, "hybrid", query(1, text="Alike"), query(2, text="Only there"))

    with pytest.raises(DifferentQuestions) as refused:
        comparisons.report(session, study, [first, second], Rule("majority"))

    assert refused.value.only == {
        "api": ((2, "Only here"),),
        "Hybrid": ((2, "Only there"),),
    }


@pytest.mark.parametrize("chosen", [[], ["one"], ["one", "one"]])
def test_one_run_is_compared_with_nothing(
    session: Session, study: Study, chosen: list[str]
) -> None:
    run_id = stored(session, study, "api", query(1, card("a")))
    wanted = [run_id for _ in chosen]

    with pytest.raises(NothingToCompare):
        comparisons.report(session, study, wanted, Rule("majority"))
    with pytest.raises(UnknownRun):
        comparisons.report(session, study, [run_id, "nowhere"], Rule("majority"))


def test_names_tell_the_runs_apart_as_shortly_as_they_can(session: Session, study: Study) -> None:
    first = stored(session, study, "api", query(1, card("a")), llm="gpt")
    second = stored(session, study, "api", query(1, card("b")), llm="claude")
    third = stored(session, study, "api", query(1, card("c")), llm="claude")

    def names(*wanted: str) -> list[str]:
        return list(chosen_runs.names_of([runs.find(session, study, r) for r in wanted]).values())

    assert names(first, second) == ["gpt", "claude"]
    assert names(second, third) == [f"api · claude · {second}", f"api · claude · {third}"]
