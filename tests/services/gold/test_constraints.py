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
from tests.services.gold.gold_files import GOLD, gold_bytes, leaves, listing, stored_run, v2_file
from tests.services.runs.runs import card, click, query, run
from webapp.db.tables.evaluations import CardDecision, GoldVersion
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.exporters.gold.constraint_reports import constraints_json
from webapp.importers.runs import json_runs
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.gold.constraint_rules import Outcome
from webapp.metrics.gold.constraints import ConstraintReport, MissingRule
from webapp.records import Relevance
from webapp.services.agreement import agreement
from webapp.services.gold import card_decisions, constraints, gold
from webapp.services.gold.card_decisions import (
    Decision,
    DecisionReasonMissing,
    DecisionReplaced,
    UnfitDecision,
)
from webapp.services.gold.constraints import NoGold, UnknownListedCard
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
def test_the_real_run_in_the_app_has_every_recorded_figure_before_and_after_manual_input(
    session: Session, study: Study, rater: Rater, real_run: Path
) -> None:
    read = json_runs.read("results.json", (real_run / "results.json").read_bytes())
    run_id = imports.store(session, study, read, Labels(), NOW).id
    set_id = session.get_one(Run, run_id).question_set_id
    data = (real_run / "questions_v2.json").read_bytes()
    gold.import_file(session, rater, set_id, "questions_v2.json", data, NOW)

    for recorded in (
        "recorded_metrics_before_manual_input.json",
        "recorded_final_metrics.json",
    ):
        file: dict[str, Any] = json.loads((real_run / recorded).read_text("utf-8"))
        theirs = dict(leaves({**file["metrics"], "evaluations": file["evaluations"]}))
        session.expire_all()
        assert dict(leaves(constraints_json(report(session, study, run_id)))) == theirs
        manual = (real_run / "manual_input.json").read_bytes()
        taken = constraints.import_manual(session, rater, run_id, "manual_input.json", manual, NOW)
        assert taken.problems == ()
        assert taken.new == (71 if "before" in recorded else 0)  # 3 overrides, 68 cards

    theirs = json.loads((real_run / "manual_input.json").read_text("utf-8"))
    ours = constraints.manual_document(session, study, run_id, NOW)
    for part in ("constraint_overrides", "manual_evaluations"):
        assert ours[part] == theirs[part]


def test_a_run_is_checked_by_what_its_file_lists(
    session: Session, study: Study, run_id: str
) -> None:
    found = report(session, study, run_id)

    cprs = [card.cpr for query in found.queries for card in query.cards]
    assert cprs == [1, Fraction(3, 4), Fraction(1, 2), 0, 0]
    assert [str(query.confusion) for query in found.queries] == ["TP", "FN", "TN"]
    assert found.totals.mean_cpr == Fraction(9, 20)  # (1 + 3/4 + 1/2) / 5
    assert found.queries[1].n_pending == 2


def test_missing_may_be_left_out(session: Session, study: Study, run_id: str) -> None:
    found = constraints.checked_run(session, study, run_id, MissingRule.LEFT_OUT).report

    assert found is not None
    assert found.queries[0].cards[2].cpr == Fraction(2, 3)  # of place, sale and price


def test_a_run_without_gold_questions_has_no_report(
    session: Session, study: Study, rater: Rater
) -> None:
    found = constraints.checked_run(
        session, study, stored_run(session, study, rater, with_gold=False).id
    )

    assert found.gold is None
    assert found.report is None


def test_a_run_of_which_no_file_lists_properties_is_checked_by_its_text(
    session: Session, study: Study, rater: Rater
) -> None:
    texts = [question["question"] for question in GOLD["questions"]]
    cards = (card("a", location="Cemara", price=900_000_000, listing_type="sale"), card("b"))
    read = run(query(1, *cards, text=texts[0]), query(2, text=texts[1]), query(3, text=texts[2]))
    run_id = imports.store(session, study, read, Labels(), NOW).id
    set_id = session.get_one(Run, run_id).question_set_id
    gold.import_file(session, rater, set_id, "gold.json", gold_bytes(), NOW)
    found = constraints.checked_run(session, study, run_id)

    assert found.from_text
    assert found.report is not None
    cprs = [one.cpr for one in found.report.queries[0].cards]
    assert cprs == [Fraction(3, 4), 0]  # a: no type in a text; b: a title and nothing else


def test_an_override_moves_the_figures_and_keeps_who_when_and_why(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 1, 2, "location", "pass", " beside the gate ")
    found = report(session, study, run_id)

    assert found.queries[0].cards[2].cpr == Fraction(3, 4)
    (step,) = constraints.checked_query(session, study, run_id, 1).steps
    assert (step.by, step.at, step.reason, step.cause) == (
        rater.name,
        NOW,
        "beside the gate",
        "click",
    )


def test_a_constraint_removed_by_hand_is_in_no_denominator(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 1, 1, "price", "na", "typing error")

    assert report(session, study, run_id).queries[0].cards[1].cpr == 1


def test_a_card_of_a_manual_question_is_passed_failed_and_taken_back(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 2, 0, "card", "pass", "")
    decide(session, rater, run_id, 2, 1, "card", "fail", "too far")
    found = report(session, study, run_id).queries[1]
    assert [card.cpr for card in found.cards] == [1, 0]
    assert (found.is_success, found.n_pending) == (False, 0)  # 1/2 < 0.6

    decide(session, rater, run_id, 2, 1, "card", None, "")
    again = report(session, study, run_id).queries[1]
    assert again.n_pending == 1


def test_an_override_asks_for_a_reason_and_stores_nothing_without(
    session: Session, rater: Rater, run_id: str
) -> None:
    with pytest.raises(DecisionReasonMissing):
        decide(session, rater, run_id, 1, 0, "price", "fail", "  ")

    assert session.scalar(select(func.count()).select_from(CardDecision)) == 0


@pytest.mark.parametrize(
    ("subject", "outcome"), [("card", "na"), ("price", "missing"), ("rank", "pass")]
)
def test_an_outcome_that_a_subject_cannot_have_is_refused(
    session: Session, rater: Rater, run_id: str, subject: str, outcome: str
) -> None:
    with pytest.raises(UnfitDecision):
        decide(session, rater, run_id, 1, 0, subject, outcome, "x")


def test_a_card_or_question_that_is_not_there_is_refused(
    session: Session, rater: Rater, run_id: str
) -> None:
    with pytest.raises(UnknownListedCard):
        decide(session, rater, run_id, 1, 3, "price", "pass", "x")
    with pytest.raises(UnknownQuery):
        decide(session, rater, run_id, 9, 0, "price", "pass", "x")


def test_what_stands_already_is_not_written_again(
    session: Session, rater: Rater, run_id: str
) -> None:
    for _ in range(2):
        decide(session, rater, run_id, 1, 0, "price", "fail", "x")

    assert session.scalar(select(func.count()).select_from(CardDecision)) == 1


def test_undo_brings_back_what_stood_before_and_can_be_undone(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 1, 0, "price", "fail", "first")
    decide(session, rater, run_id, 1, 0, "price", "na", "second")
    first, second = card_decisions.steps(session, run_id)
    with pytest.raises(DecisionReplaced):
        constraints.undo(session, rater, run_id, first.id, NOW)

    for reason in ("first", "second"):
        last = card_decisions.steps(session, run_id)[-1]
        constraints.undo(session, rater, run_id, last.id, NOW)
        in_force = constraints.checked_run(session, study, run_id).in_force
        assert in_force is not None
        assert [step.reason for step in in_force.values()] == [reason]
    assert second.reason == "second"


def test_undoing_the_only_decision_leaves_what_the_machine_found(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 1, 0, "price", "fail", "x")
    (step,) = card_decisions.steps(session, run_id)
    constraints.undo(session, rater, run_id, step.id, NOW)

    check = report(session, study, run_id).queries[0].cards[0].checks[3]
    assert (check.outcome, check.automatic) == (Outcome.PASS, Outcome.PASS)


def test_decisions_go_out_and_come_in_again(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 1, 1, "price", "pass", "a typing error")
    decide(session, rater, run_id, 2, 0, "card", "pass", "")
    decide(session, rater, run_id, 2, 1, "card", None, "look again")
    out = constraints.manual_document(session, study, run_id, NOW)
    figures = constraints_json(report(session, study, run_id))
    assert out["constraint_overrides"] == {"1": {"1": {"price": "pass"}}}
    assert out["override_reasons"] == {"1": {"1": {"price": "a typing error"}}}
    assert out["manual_evaluations"] == {
        "2": {
            "0": {"result": "pass", "comment": ""},
            "1": {"result": "pending", "comment": "look again"},
        }
    }

    for step in reversed(card_decisions.steps(session, run_id)):
        constraints.undo(session, rater, run_id, step.id, NOW)
    data = json.dumps(out).encode()
    taken = constraints.import_manual(session, rater, run_id, "m.json", data, NOW)

    assert (taken.new, taken.problems) == (3, ())
    assert constraints_json(report(session, study, run_id)) == figures


def test_a_file_of_decisions_on_cards_that_are_not_there_says_so_and_gives_the_rest(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    data = json.dumps(
        {
            "constraint_overrides": {"1": {"9": {"price": "pass"}, "0": {"price": "fail"}}},
            "manual_evaluations": {"77": {"0": {"result": "pass"}}},
        }
    ).encode()
    taken = constraints.import_manual(session, rater, run_id, "m.json", data, NOW)

    assert taken.new == 1
    assert len(taken.problems) == 2
    assert report(session, study, run_id).queries[0].cards[0].cpr == Fraction(3, 4)


def test_gold_questions_are_kept_in_versions_and_an_older_one_is_put_in_force_again(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    set_id = session.get_one(Run, run_id).question_set_id
    strict = gold_bytes(threshold_t=0.8)
    gold.import_file(session, rater, set_id, "strict.json", strict, NOW)
    gold.import_file(session, rater, set_id, "strict.json", strict, NOW)  # changes nothing
    assert [one.name for one in gold.versions(session, set_id)] == ["strict.json", "gold.json"]
    assert str(report(session, study, run_id).queries[0].confusion) == "FN"  # 3/4 < 0.8

    gold.restore(session, rater, set_id, 1, NOW)

    found = gold.in_force(session, set_id)
    assert found is not None
    assert (found.version.number, found.version.name) == (3, "gold.json")
    assert found.document == json.loads(gold_bytes()) | {"questions": found.document["questions"]}
    assert str(report(session, study, run_id).queries[0].confusion) == "TP"


def test_a_gold_file_that_is_wrong_is_refused_whole(
    session: Session, rater: Rater, run_id: str
) -> None:
    set_id = session.get_one(Run, run_id).question_set_id
    with pytest.raises(ImportRefused):
        gold.import_file(session, rater, set_id, "g.json", b'{"questions": [{"id": 1}]}', NOW)

    assert session.scalar(select(func.count()).select_from(GoldVersion)) == 1


def test_gold_questions_in_other_words_or_unasked_are_remarked_on(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    set_id = session.get_one(Run, run_id).question_set_id
    first, second, _ = GOLD["questions"]
    changed = [first | {"question": "Gudang?"}, second, second | {"id": 8}]
    gold.import_file(session, rater, set_id, "g.json", gold_bytes(questions=changed), NOW)

    remarks = constraints.checked_run(session, study, run_id).remarks
    assert [(one.code, one.query_id) for one in remarks] == [
        ("gold_text_differs", 1),
        ("asked_without_gold", 3),
        ("gold_not_asked", 8),
    ]


def test_a_question_set_that_grows_keeps_its_gold_questions(
    session: Session, study: Study, rater: Rater
) -> None:
    parts = [run(query(1), name="one"), run(query(2), name="two")]
    ids = [imports.store(session, study, part, Labels(), NOW).id for part in parts]
    sets = [session.get_one(Run, run_id).question_set_id for run_id in ids]
    assert sets[0] != sets[1]
    for set_id in sets:
        gold.import_file(session, rater, set_id, f"{set_id}.json", gold_bytes(), NOW)
    whole = imports.store(session, study, run(query(1), query(2), name="all"), Labels(), NOW)

    kept = gold.versions(session, session.get_one(Run, whole.id).question_set_id)
    assert [version.name for version in kept] == [f"{set_id}.json" for set_id in reversed(sets)]


def test_deleting_a_run_takes_its_decisions_along(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
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


def test_many_cards_of_the_demo_have_decisions(demo_session: Session) -> None:
    assert (demo_session.scalar(select(func.count()).select_from(CardDecision)) or 0) > 100
