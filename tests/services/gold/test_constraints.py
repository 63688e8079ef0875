"""A stored run against gold questions: recorded figures, decisions by hand, versions."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.demo import study_of
from tests.services.gold.gold_files import (
    gold_bytes,
    leaves,
    listing,
    stored_file,
    stored_run,
    v2_file,
)
from tests.services.runs.runs import card, click, query, run
from webapp.db.tables.evaluations import CardDecision
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.exporters.gold.constraint_reports import constraints_json
from webapp.importers.runs import json_runs
from webapp.metrics.gold.constraints import ConstraintReport, MissingRule
from webapp.records import Relevance
from webapp.services.agreement import agreement
from webapp.services.gold import constraints, gold
from webapp.services.gold.constraints import UnknownListedCard
from webapp.services.gold.decisions import (
    Decision,
    DecisionReasonMissing,
    DecisionReplaced,
    Step,
    UnfitDecision,
)
from webapp.services.judging import events
from webapp.services.judging.events import UnknownQuery
from webapp.services.runs import imports, reports, runs
from webapp.services.runs.imports import Labels
from webapp.services.study import studies


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study, rater: Rater) -> str:
    return stored_run(session, study, rater).id


def report(session: Session, study: Study, run_id: str) -> ConstraintReport:
    found = constraints.checked_run(session, study, run_id).report
    assert found is not None
    return found


def decide(session: Session, rater: Rater, run_id: str, query_id: int, *what: Any) -> None:
    constraints.decide(session, rater, run_id, query_id, Decision(*what), NOW)


@pytest.mark.real
def test_the_recorded_figures(session: Session, study: Study, rater: Rater, real_run: Path) -> None:
    read = json_runs.read("results.json", (real_run / "results.json").read_bytes())
    run_id = imports.store(session, study, read, Labels(), NOW).id
    set_id = session.get_one(Run, run_id).question_set_id
    data = (real_run / "questions_v2.json").read_bytes()
    gold.import_file(session, rater, set_id, "questions_v2.json", data, NOW)

    for recorded in ("recorded_metrics_before_manual_input.json", "recorded_final_metrics.json"):
        file: dict[str, Any] = json.loads((real_run / recorded).read_text("utf-8"))
        theirs = dict(leaves({**file["metrics"], "evaluations": file["evaluations"]}))
        session.expire_all()
        assert dict(leaves(constraints_json(report(session, study, run_id)))) == theirs
        manual = (real_run / "manual_input.json").read_bytes()
        taken = constraints.import_manual(session, rater, run_id, "manual_input.json", manual, NOW)
        new = 71 if "before" in recorded else 0  # 3 overrides, 68 cards
        assert taken == (new, 71, ())

    theirs = json.loads((real_run / "manual_input.json").read_text("utf-8"))
    ours = constraints.manual_document(session, study, run_id, NOW)
    for part in ("constraint_overrides", "manual_evaluations"):
        assert ours[part] == theirs[part]


def test_a_run_is_checked_by_its_cards(session: Session, study: Study, run_id: str) -> None:
    found = report(session, study, run_id)

    cprs = [card.cpr for query in found.queries for card in query.cards]
    assert cprs == [1, Fraction(3, 4), Fraction(1, 2), 0, 0]
    assert [str(query.confusion) for query in found.queries] == ["TP", "FN", "TN"]
    assert found.totals.mean_cpr == Fraction(9, 20)  # (1 + 3/4 + 1/2) / 5
    assert found.queries[1].n_pending == 2
    left_out = constraints.checked_run(session, study, run_id, MissingRule.LEFT_OUT).report
    assert left_out is not None
    assert left_out.queries[0].cards[2].cpr == Fraction(2, 3)  # of place, sale and price


def test_an_override_is_logged(session: Session, study: Study, rater: Rater, run_id: str) -> None:
    with pytest.raises(DecisionReasonMissing):
        decide(session, rater, run_id, 1, 2, "location", "pass", "  ")
    for _ in range(2):  # what is in force already is not written again
        decide(session, rater, run_id, 1, 2, "location", "pass", " beside the gate ")
    decide(session, rater, run_id, 1, 1, "price", "na", "typing error")
    found = report(session, study, run_id)

    assert found.queries[0].cards[2].cpr == Fraction(3, 4)
    assert found.queries[0].cards[1].cpr == 1  # what is removed is in no denominator
    (step,) = constraints.checked_query(session, study, run_id, 1).cards[2].steps
    assert (step.by, step.at, step.reason, step.cause) == (
        *(rater.name, NOW),
        *("beside the gate", "click"),
    )


def test_a_card_passed_by_hand(session: Session, study: Study, rater: Rater, run_id: str) -> None:
    decide(session, rater, run_id, 2, 0, "card", "pass", "")
    decide(session, rater, run_id, 2, 1, "card", "fail", "too far")
    found = report(session, study, run_id).queries[1]
    assert [card.cpr for card in found.cards] == [1, 0]
    assert (found.is_success, found.n_pending) == (False, 0)  # 1/2 < 0.6

    decide(session, rater, run_id, 2, 1, "card", None, "")
    again = report(session, study, run_id).queries[1]
    assert again.n_pending == 1


@pytest.mark.parametrize(
    ("place", "outcome", "error"),
    [
        ((1, 0, "card"), "na", UnfitDecision),
        ((1, 0, "price"), "missing", UnfitDecision),
        ((1, 0, "rank"), "pass", UnfitDecision),
        ((1, 3, "price"), "pass", UnknownListedCard),
        ((9, 0, "price"), "pass", UnknownQuery),
    ],
)
def test_what_cannot_be_decided_is_refused_and_not_stored(
    session: Session, rater: Rater, run_id: str, place: tuple[int, int, str], outcome: str,
    error: type[Exception],
) -> None:  # fmt: skip
    query_id, card, subject = place
    with pytest.raises(error):
        decide(session, rater, run_id, query_id, card, subject, outcome, "x")

    assert session.scalar(select(func.count()).select_from(CardDecision)) == 0


def test_undo_can_be_undone(session: Session, study: Study, rater: Rater, run_id: str) -> None:
    def steps() -> list[Step]:
        return list(constraints.checked_query(session, study, run_id, 1).cards[0].steps)

    decide(session, rater, run_id, 1, 0, "price", "fail", "first")
    decide(session, rater, run_id, 1, 0, "price", "na", "second")
    first, second = steps()
    with pytest.raises(DecisionReplaced):
        constraints.undo(session, rater, run_id, first.id, NOW)

    for reason in ("first", "second"):
        constraints.undo(session, rater, run_id, steps()[-1].id, NOW)
        in_force = constraints.checked_run(session, study, run_id).in_force
        assert [step.reason for step in in_force.values()] == [reason]
    assert second.reason == "second"


def test_a_set_that_grows_keeps_its_gold(session: Session, study: Study, rater: Rater) -> None:
    parts = [run(query(1), name="one"), run(query(2), name="two")]
    ids = [imports.store(session, study, part, Labels(), NOW).id for part in parts]
    sets = [session.get_one(Run, run_id).question_set_id for run_id in ids]
    assert sets[0] != sets[1]
    for set_id in sets:
        gold.import_file(session, rater, set_id, f"{set_id}.json", gold_bytes(), NOW)
    whole = imports.store(session, study, run(query(1), query(2), name="all"), Labels(), NOW)

    kept = gold.versions(session, session.get_one(Run, whole.id).question_set_id)
    assert [version.name for version in kept] == [f"{set_id}.json" for set_id in reversed(sets)]


def test_a_run_deleted(session: Session, study: Study, rater: Rater, run_id: str) -> None:
    decide(session, rater, run_id, 1, 0, "price", "fail", "x")
    goes, _ = runs.deletion_cost(session, study, run_id)
    assert goes[-1] == "1 keputusan orang pada kartu yang diperiksa dengan pertanyaan gold"
    runs.delete_run(session, study, run_id, NOW)

    assert session.scalar(select(func.count()).select_from(CardDecision)) == 0


def test_a_listed_card_is_found_in_the_answer_by_its_slug(session: Session, study: Study) -> None:
    """The file lists c, a, a; the answer shows a, c, a and something else."""
    listed = {1: [listing("c"), listing("a"), listing("a"), listing("x")], 2: [], 3: []}
    read = json_runs.read("results.json", v2_file(listed))
    shown = (card("a"), card("c"), card("a"), card("y"))
    queries = (replace(read.queries[0], cards=shown), *read.queries[1:])
    run_id = imports.store(session, study, replace(read, queries=queries), Labels(), NOW).id

    cards = constraints.shown_cards(session, session.get_one(Run, run_id))[1]
    assert [one.rank for one in cards] == [2, 1, 3, None]


YES, NO, UNSURE = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE


def test_figures_are_those_of_scikit_learn(session: Session, study: Study, rater: Rater) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    machine = [1, 1, 1, 0, 0, 1, 0]
    people = [1, 0, 1, 0, 1, 1, 0]
    cards = [listing(f"s{n}", price=9 * 10**8 if m else 2 * 10**9) for n, m in enumerate(machine)]
    run_id = stored_file(session, study, rater, v2_file({1: cards, 2: [], 3: []}))
    for rank, person in enumerate(people, start=1):
        verdict = YES if person else NO
        events.judge(session, rater, run_id, 1, rank, verdict, click(f"v{rank}"))

    found = constraints.compare(session, study, run_id, reports.of_rater(rater)).agreement

    assert found.kappa.value == pytest.approx(metrics.cohen_kappa_score(machine, people))
    assert found.precision == pytest.approx(metrics.precision_score(people, machine))
    assert found.recall == pytest.approx(metrics.recall_score(people, machine))
    table = metrics.confusion_matrix(people, machine).tolist()
    assert [[found.neither, found.machine_only], [found.people_only, found.both]] == table


def test_the_furthest_apart_come_first(session: Session, study: Study, rater: Rater) -> None:
    """CPRs of the first question: 1, 3/4, 1/2; the second is for people alone."""
    run_id = stored_run(session, study, rater).id
    budi = studies.add_rater(session, study, "Budi", NOW)
    ani = studies.add_rater(session, study, "Ani", NOW)
    said = {1: (NO, NO, YES), 2: (YES, YES, YES), 3: (UNSURE, UNSURE, UNSURE)}
    for rank, verdicts in said.items():
        for person, verdict in zip((rater, budi, ani), verdicts, strict=True):
            name = click(f"{rank}-{person.id}")
            events.judge(session, person, run_id, 1, rank, verdict, name)
    rule = reports.rule_of(session, study, "majority")

    found = constraints.compare(session, study, run_id, rule)

    assert [(one.index, one.distance) for one in found.disagreed] == [
        (0, Fraction(2, 3)),  # 1 against 1 of 3
        (1, Fraction(1, 4)),  # 3/4 against 3 of 3
    ]
    assert found.left_out == {"manual": 2, "undecided": 1, "not shown": 0}
    assert found.agreement.n == 2


def test_people_decide_apart_from_the_machine(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored_run(session, study, rater).id
    events.judge(session, rater, run_id, 1, 2, YES, click("v"))
    wanted = Decision(1, "price", "pass", "typing error")
    constraints.decide(session, rater, run_id, 1, wanted, NOW)
    rule = reports.of_rater(rater)

    (one,) = constraints.compare(session, study, run_id, rule).disagreed
    assert (one.machine, one.person, one.evaluation.cpr) == (False, True, Fraction(3, 4))


def test_the_demos_runs_contradict_each_other_as_people_do(demo_session: Session) -> None:
    """As `relevansi conflicts` says of the files they were imported from."""
    found = agreement.in_study(demo_session, study_of(demo_session))

    assert found is not None
    assert found.problems == ()
    assert found.report.favours == {
        "Hybrid · openai": 5,
        "Vector Only · openai": 3,
        "API Only · openai": 0,
    }
    assert found.report.pairs_judged_more_than_once == 42
    assert len(found.report.contradictions) == 8
    for query_id, property_id in found.report.contradictions:
        assert found.questions[query_id][1]
        assert found.titles[property_id]
