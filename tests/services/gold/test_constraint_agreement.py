"""The constraints beside people's verdicts: the same figures as scikit-learn, disputes first."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.gold_files import gold_bytes, listing, stored_run, v2_file
from tests.services.runs.runs import click
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.importers.runs import json_runs
from webapp.records import Relevance
from webapp.services.gold import constraints, gold
from webapp.services.gold.card_decisions import Decision
from webapp.services.gold.constraints import NoGold
from webapp.services.judging import events
from webapp.services.runs import imports, reports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

YES, NO, UNSURE = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE


def test_figures_are_those_of_scikit_learn(session: Session, study: Study, rater: Rater) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    machine = [1, 1, 1, 0, 0, 1, 0]
    people = [1, 0, 1, 0, 1, 1, 0]
    cards = [listing(f"s{n}", price=9 * 10**8 if m else 2 * 10**9) for n, m in enumerate(machine)]
    read = json_runs.read("results.json", v2_file({1: cards, 2: [], 3: []}))
    run_id = imports.store(session, study, read, Labels(), NOW).id
    set_id = session.get_one(Run, run_id).question_set_id
    gold.import_file(session, rater, set_id, "gold.json", gold_bytes(), NOW)
    for rank, person in enumerate(people, start=1):
        verdict = YES if person else NO
        events.judge(session, rater, run_id, 1, rank, verdict, click(f"v{rank}"))

    found = constraints.compare(session, study, run_id, reports.of_rater(rater)).agreement

    assert found.kappa.value == pytest.approx(metrics.cohen_kappa_score(machine, people))
    assert found.precision == pytest.approx(metrics.precision_score(people, machine))
    assert found.recall == pytest.approx(metrics.recall_score(people, machine))
    table = metrics.confusion_matrix(people, machine).tolist()
    assert [[found.neither, found.machine_only], [found.people_only, found.both]] == table


def test_the_furthest_apart_come_first_and_what_cannot_be_compared_is_counted(
    session: Session, study: Study, rater: Rater
) -> None:
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
    left_out = (found.n_manual, found.n_undecided, found.n_not_shown)
    assert (found.n_cards, *left_out) == (5, 2, 1, 0)
    assert found.agreement.n == 2


def test_what_people_decided_by_hand_is_not_the_machine_s(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored_run(session, study, rater).id
    events.judge(session, rater, run_id, 1, 2, YES, click("v"))
    wanted = Decision(1, "price", "pass", "typing error")
    constraints.decide(session, rater, run_id, 1, wanted, NOW)
    rule = reports.of_rater(rater)

    (one,) = constraints.compare(session, study, run_id, rule).disagreed
    assert (one.machine, one.person, one.cpr) == (False, True, Fraction(3, 4))


def test_without_gold_questions_there_is_nothing_to_compare(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored_run(session, study, rater, with_gold=False).id
    with pytest.raises(NoGold):
        constraints.compare(session, study, run_id, reports.of_rater(rater))
