from __future__ import annotations

import json
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.engine import Database
from relevansi.db.tables.evaluations import CardDecision
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.exporters.gold.constraint_reports import constraints_json
from relevansi.importers.runs import json_runs
from relevansi.metrics.gold.constraint_rules import Outcome
from relevansi.metrics.gold.constraints import ConstraintReport, MissingRule
from relevansi.records import Relevance
from relevansi.services.agreement import agreement
from relevansi.services.gold import card_agreement, constraints, gold, marks
from relevansi.services.gold.constraints import CheckedCard
from relevansi.services.gold.decisions import Decision, DecisionReplaced, Step, UnfitDecision
from relevansi.services.gold.marks import CheckedAnswer
from relevansi.services.judging import changes, judgments
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.judging.reasons import ReasonMissing
from relevansi.services.offline import runs as offline_runs
from relevansi.services.rating import particulars, tasks
from relevansi.services.runs import reports, runs
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.demo import study_of
from tests.services.gold.gold_files import (
    GOLD,
    gold_bytes,
    leaves,
    listing,
    stored_file,
    stored_run,
    take_gold,
    v2_file,
)
from tests.services.rating.blind_raters import Robot, set_study
from tests.services.rating.particulars import exported, of_run, stored
from tests.services.runs.runs import card, click, query, run, store
from tests.services.statements import statements_of


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study, rater: Rater) -> str:
    return stored_run(session, study, rater).id


def report(session: Session, study: Study, run_id: str) -> ConstraintReport:
    result = constraints.checked_run(session, study, run_id).report
    assert result is not None
    return result


def decide(session: Session, rater: Rater, run_id: str, query_id: int, *what: Any) -> None:
    constraints.decide(session, rater, run_id, query_id, Decision(*what), NOW)


@pytest.mark.real
def test_the_figures_of_the_real_run_are_those_recorded(
    session: Session, study: Study, rater: Rater, real_run: Path
) -> None:
    read = json_runs.read("results.json", (real_run / "results.json").read_bytes())
    run_id = store(session, study, read).id
    set_id = session.get_one(Run, run_id).question_set_id
    data = (real_run / "questions_v2.json").read_bytes()
    gold.import_file(session, rater, set_id, "questions_v2.json", data, NOW)

    for recorded in ("recorded_metrics_before_manual_input.json", "recorded_final_metrics.json"):
        file: dict[str, Any] = json.loads((real_run / recorded).read_text("utf-8"))
        theirs = dict(leaves({**file["metrics"], "evaluations": file["evaluations"]}))
        session.expire_all()
        assert dict(leaves(constraints_json(report(session, study, run_id)))) == theirs
        manual = (real_run / "manual_input.json").read_bytes()
        counts = constraints.import_manual(session, rater, run_id, "manual_input.json", manual, NOW)
        new = 71 if "before" in recorded else 0  # 3 overrides, 68 cards
        assert counts == (new, 71, ())

    theirs = json.loads((real_run / "manual_input.json").read_text("utf-8"))
    ours = constraints.manual_document(session, study, run_id, NOW)
    for part in ("constraint_overrides", "manual_evaluations"):
        assert ours[part] == theirs[part]


def test_a_run_is_checked_by_its_cards(session: Session, study: Study, run_id: str) -> None:
    result = report(session, study, run_id)

    cprs = [card.cpr for query in result.queries for card in query.cards]
    assert cprs == [1, Fraction(3, 4), Fraction(1, 2), 0, 0]
    assert [str(query.confusion) for query in result.queries] == ["TP", "FN", "TN"]
    assert result.totals.mean_cpr == Fraction(9, 20)  # (1 + 3/4 + 1/2) / 5
    assert result.queries[1].n_pending == 2
    left_out = constraints.checked_run(session, study, run_id, MissingRule.LEFT_OUT).report
    assert left_out is not None
    assert left_out.queries[0].cards[2].cpr == Fraction(2, 3)  # of place, sale and price


def test_an_override_is_logged(session: Session, study: Study, rater: Rater, run_id: str) -> None:
    with pytest.raises(ReasonMissing):
        decide(session, rater, run_id, 1, 2, "location", "pass", "  ")
    for _ in range(2):  # what is in force already is not written again
        decide(session, rater, run_id, 1, 2, "location", "pass", " beside the gate ")
    decide(session, rater, run_id, 1, 1, "price", "na", "typing error")
    result = report(session, study, run_id)

    assert result.queries[0].cards[2].cpr == Fraction(3, 4)
    assert result.queries[0].cards[1].cpr == 1  # what is removed is in no denominator
    (step,) = constraints.checked_query(session, study, run_id, 1).cards[2].steps
    assert (step.by, step.at, step.reason, step.cause) == (
        *(rater.name, NOW),
        *("beside the gate", "click"),
    )


def test_a_card_passed_or_failed_by_hand_counts_in_its_question(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 2, 0, "card", "pass", "")
    decide(session, rater, run_id, 2, 1, "card", "fail", "too far")
    result = report(session, study, run_id).queries[1]
    assert [card.cpr for card in result.cards] == [1, 0]
    assert (result.is_success, result.n_pending) == (False, 0)  # 1/2 < 0.6

    decide(session, rater, run_id, 2, 1, "card", None, "")
    again = report(session, study, run_id).queries[1]
    assert again.n_pending == 1


@pytest.mark.parametrize(
    ("place", "outcome", "error"),
    [
        ((1, 0, "card"), "na", UnfitDecision),
        ((1, 0, "price"), "missing", UnfitDecision),
        ((1, 0, "rank"), "pass", UnfitDecision),
        ((1, 3, "price"), "pass", UnknownQuery),
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


def test_each_undo_restores_the_decision_before(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
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
    ids = [store(session, study, part).id for part in parts]
    sets = [session.get_one(Run, run_id).question_set_id for run_id in ids]
    assert sets[0] != sets[1]
    for set_id in sets:
        gold.import_file(session, rater, set_id, f"{set_id}.json", gold_bytes(), NOW)
    run_of_both = store(session, study, run(query(1), query(2), name="all"))

    versions = gold.versions(session, session.get_one(Run, run_of_both.id).question_set_id)
    assert [version.name for version in versions] == [f"{set_id}.json" for set_id in reversed(sets)]


def test_the_decisions_on_a_deleted_run_go_with_it(
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
    answer_cards = (card("a"), card("c"), card("a"), card("y"))
    queries = (replace(read.queries[0], cards=answer_cards), *read.queries[1:])
    run_id = store(session, study, replace(read, queries=queries)).id

    stored = constraints.checked_run(session, study, run_id).queries
    actual = constraints.shown_in_text(constraints.facts_of_cards(stored)[1], stored[1])
    assert [result and result.rank for result in actual] == [2, 1, 3, None]


YES, NO, UNSURE = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE


def test_the_furthest_apart_come_first(session: Session, study: Study, rater: Rater) -> None:
    """CPRs of the first question: 1, 3/4, 1/2; the second is for people alone."""
    run_id = stored_run(session, study, rater).id
    budi = studies.add_rater(session, study, "Budi", NOW)
    ani = studies.add_rater(session, study, "Ani", NOW)
    verdicts_by_rank = {1: (NO, NO, YES), 2: (YES, YES, YES), 3: (UNSURE, UNSURE, UNSURE)}
    for rank, verdicts in verdicts_by_rank.items():
        for person, verdict in zip((rater, budi, ani), verdicts, strict=True):
            name = click(f"{rank}-{person.id}")
            judgments.judge(session, person, run_id, 1, rank, verdict, name)
    rule = reports.rule_of(session, study, "majority")

    comparison = card_agreement.agreement_with_people(session, study, run_id, rule)

    assert [(card.index, card.distance) for card in comparison.disagreed] == [
        (0, Fraction(2, 3)),  # 1 against 1 of 3
        (1, Fraction(1, 4)),  # 3/4 against 3 of 3
    ]
    assert comparison.left_out == {"manual": 2, "undecided": 1, "not shown": 0}
    assert comparison.agreement.n == 2


def test_people_s_verdicts_are_compared_with_the_computed_outcome(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored_run(session, study, rater).id
    judgments.judge(session, rater, run_id, 1, 2, YES, click("v"))
    decision = Decision(1, "price", "pass", "typing error")
    constraints.decide(session, rater, run_id, 1, decision, NOW)
    rule = reports.of_rater(rater)

    (disagreement,) = card_agreement.agreement_with_people(session, study, run_id, rule).disagreed
    assert (disagreement.machine, disagreement.person) == (False, True)
    assert disagreement.card.evaluation.cpr == Fraction(3, 4)


def test_the_demos_runs_contradict_each_other_as_people_do(demo_session: Session) -> None:
    """As `relevansi conflicts` says of the files they were imported from."""
    judged = card_agreement.judged_by_hand(demo_session, study_of(demo_session))
    comparison = agreement.compare(judged)

    assert comparison is not None
    assert comparison.problems == ()
    assert comparison.favours == {
        "Hybrid · openai": 5,
        "Vector Only · openai": 3,
        "API Only · openai": 0,
    }
    assert comparison.pairs_judged_more_than_once == 42
    assert len(comparison.contradictions) == 8
    for query_id, property_id in comparison.contradictions:
        assert comparison.questions[query_id][1]
        assert comparison.titles[property_id]


LATER = NOW + timedelta(days=3)


def answer(session: Session, study: Study, run_id: str, query_id: int = 1) -> CheckedAnswer:
    result = marks.of_answer(session, study, run_id, query_id)
    assert result is not None
    return result


def outcomes(checked: CheckedCard) -> list[str]:
    return [str(check.outcome) for check in checked.evaluation.checks][:4]


def mark(session: Session, rater: Rater, run_id: str, rank: int, *what: str, n: int = 1) -> None:
    subject, outcome, reason = (*what, "")[:3]
    decision = Decision(0, subject, outcome or None, reason)
    marks.decide_on_answer(session, rater, run_id, n, rank, decision, NOW)


class Blind:
    """A blind rater's question 1 in a study of two runs that shows marks."""

    def __init__(self, session: Session, rater: Rater) -> None:
        self.session, self.rater = session, rater
        robot = Robot(session, rater)
        page = robot.next_page()
        assert page is not None
        self.task_id = page.task_id
        self.keys = {shown_card.card.identity[5:]: shown_card.key for shown_card in page.cards}

    def marks(self) -> dict[str, CheckedCard]:
        """Return the marks by slug."""
        result = marks.of_task(self.session, self.rater, self.task_id)
        return {slug: result[key] for slug, key in self.keys.items() if slug and key in result}

    def decide(self, slug: str, *what: str) -> None:
        subject, outcome, reason = (*what, "")[:3]
        decision = Decision(0, subject, outcome or None, reason)
        key = self.keys[slug]
        marks.decide_in_task(self.session, self.rater, self.task_id, key, decision, NOW)


@pytest.fixture(name="text_id")
def _text_id(session: Session, study: Study, run_id: str) -> str:
    """Store a second run of the same questions of which no file lists the properties.

    It shows "b" and "a" as the first does, and "f" alone.
    """
    assert run_id
    listings = [listing("b", price=2_000_000_000), listing("a"), listing("f")]
    document = json.loads(v2_file({1: listings, 2: [], 3: []})) | {"method": "api_only"}
    for entry in document["results"]:
        del entry["properties"], entry["properties_count"]
    return store(session, study, json_runs.read("r.json", json.dumps(document).encode())).id


@pytest.fixture(name="blind")
def _blind(session: Session, study: Study, rater: Rater, text_id: str) -> Blind:
    assert text_id
    set_study(session, study, badges_while_blind=True, repeat_percent=0)
    return Blind(session, rater)


def test_an_answer_is_checked_as_its_run_is(session: Session, study: Study, run_id: str) -> None:
    result = answer(session, study, run_id)

    assert {rank: outcomes(card) for rank, card in result.by_rank.items()} == {
        1: ["pass", "pass", "pass", "pass"],
        2: ["pass", "pass", "pass", "fail"],
        3: ["missing", "pass", "fail", "pass"],
    }
    assert result.evaluation.mean_cpr == Fraction(3, 4)
    run_report = constraints.checked_run(session, study, run_id).report
    assert run_report is not None
    assert [answer(session, study, run_id, n).evaluation for n in (1, 2, 3)] == [
        *run_report.queries
    ]


def test_an_answer_is_checked_by_its_text(session: Session, study: Study, text_id: str) -> None:
    result = answer(session, study, text_id)

    assert [outcomes(card)[3] for card in result.cards] == ["fail", "pass", "pass"]
    assert {outcomes(card)[0] for card in result.cards} == {"missing"}  # no kind in any text
    run_report = constraints.checked_run(session, study, text_id).report
    assert run_report is not None
    assert result.evaluation == run_report.queries[0]


def test_an_empty_list_is_not_taken_by_text(session: Session, study: Study, rater: Rater) -> None:
    document = json.loads(v2_file())
    entry = document["results"][1]
    del entry["properties"]
    entry["properties_count"] = 0
    run_id = stored_file(session, study, rater, json.dumps(document).encode())
    run_report = constraints.checked_run(session, study, run_id).report
    assert run_report is not None

    assert run_report.queries[1].cards == ()  # its text shows two, its run is listed
    assert answer(session, study, run_id, 2).evaluation == run_report.queries[1]


def test_nothing_to_check_without_gold(session: Session, study: Study, rater: Rater) -> None:
    result = stored_run(session, study, rater, with_gold=False)
    states = [changes.state(session, study)]
    assert not gold.has_gold(session, result.id)
    assert marks.of_answer(session, study, result.id, 1) is None
    first_question = gold_bytes(questions=GOLD["questions"][:1])
    gold.import_file(session, rater, result.question_set_id, "one.json", first_question, NOW)
    states.append(changes.state(session, study))

    assert gold.has_gold(session, result.id)
    assert marks.of_answer(session, study, result.id, 1) is not None
    assert marks.of_answer(session, study, result.id, 2) is None
    with pytest.raises(UnknownQuery):
        marks.of_answer(session, study, result.id, 9)
    with pytest.raises(UnknownQuery):
        mark(session, rater, result.id, 1, "card", "pass", n=2)
    mark(session, rater, result.id, 1, "card", "pass")
    states.append(changes.state(session, study))
    assert len(set(states)) == 3


def test_a_decision_holds_wherever_the_same_card_was_listed(
    session: Session, study: Study, rater: Rater, run_id: str, text_id: str
) -> None:
    """In the first run "b" is second, in the other first."""
    mark(session, rater, run_id, 2, "price", "pass", "typing error")

    assert outcomes(answer(session, study, text_id).by_rank[1])[3] == "pass"
    assert outcomes(answer(session, study, text_id).by_rank[2])[3] == "pass"  # "a": computed
    assert session.scalar(select(func.count()).select_from(CardDecision)) == 2


def test_a_blind_rater_sees_each_card_once_by_the_run_that_knows_most_of_it(blind: Blind) -> None:
    result = blind.marks()

    assert {slug: outcomes(card) for slug, card in result.items()} == {
        "a": ["pass", "pass", "pass", "pass"],  # by its text alone its kind would be missing
        "b": ["pass", "pass", "pass", "fail"],
        "c": ["missing", "pass", "fail", "pass"],
        "f": ["missing", "missing", "missing", "pass"],
    }


def test_a_blind_rater_does_not_see_the_reason_of_an_open_decision(
    session: Session, rater: Rater, blind: Blind, run_id: str
) -> None:
    """It may name a run, a method or a file. The latest decision on any run's card counts."""
    owner_s = Decision(1, "price", "pass", "hybrid misreads it")
    constraints.decide(session, rater, run_id, 1, owner_s, NOW)
    (step,) = blind.marks()["b"].steps

    assert (step.outcome, step.by, step.reason) == ("pass", rater.name, "")
    assert outcomes(blind.marks()["b"])[3] == "pass"
    constraints.decide(session, rater, run_id, 1, Decision(1, "price", "fail", "it is not"), NOW)
    assert outcomes(blind.marks()["b"])[3] == "fail"


def test_a_repeat_is_decided_anew(
    session: Session, study: Study, rater: Rater, blind: Blind
) -> None:
    robot = Robot(session, rater)
    blind.decide("b", "price", "pass", "typing error")
    robot.rate_all()
    set_study(session, study, repeat_percent=100)
    again = tasks.next_task(session, rater, LATER)
    while again is not None and again.question.text != GOLD["questions"][0]["question"]:
        page = robot.next_page()
        assert page is not None
        robot.rate(page)
        again = tasks.next_task(session, rater, LATER)
    assert again is not None

    (key,) = [
        tasks.key(again, item.id)
        for item in tasks.cards(session, again)
        if (item.card or {})["slug"] == "b"
    ]
    (result,) = [marks.of_task(session, rater, again.id)[key]]
    assert (outcomes(result)[3], result.steps) == ("fail", ())
    decision = Decision(0, "price", "pass", "typing error")
    marks.decide_in_task(session, rater, again.id, key, decision, LATER)
    assert outcomes(marks.of_task(session, rater, again.id)[key])[3] == "pass"


def test_decisions_cost_a_blind_rater_s_page_no_more_statements(
    session: Session, study: Study, database: Database, blind: Blind
) -> None:
    def cost() -> int:
        session.expire_all()
        with statements_of(database) as statements:
            assert blind.marks()
        return len(statements)

    before = cost()
    blind.decide("b", "price", "pass", "x")
    blind.decide("a", "price", "fail", "x")
    assert cost() == before
    set_study(session, study, badges_while_blind=False)
    with statements_of(database) as statements:
        assert blind.marks() == {}
    assert statements == []


def test_decisions_are_written_to_a_file_and_read_again(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    mark(session, rater, run_id, 2, "price", "pass", "typing error")
    mark(session, rater, run_id, 3, "location", "na", "“beside” the gate\nof Cemara")
    mark(session, rater, run_id, 1, "card", "pass", "near a school", n=2)
    mark(session, rater, run_id, 2, "card", "", "to be asked", n=2)
    file = constraints.manual_document(session, study, run_id, NOW)
    assert file["constraint_overrides"] == {"1": {"1": {"price": "pass"}, "2": {"location": "na"}}}
    assert file["override_reasons"]["1"]["1"] == {"price": "typing error"}
    assert file["manual_evaluations"] == {
        "2": {
            "0": {"result": "pass", "comment": "near a school"},
            "1": {"result": "pending", "comment": "to be asked"},
        }
    }
    for rank, subject, n in ((2, "price", 1), (3, "location", 1), (1, "card", 2), (2, "card", 2)):
        mark(session, rater, run_id, rank, subject, "", n=n)
    assert constraints.manual_document(session, study, run_id, NOW)["override_reasons"] == {}

    data = json.dumps(file).encode()
    for new in (4, 0):
        counts = constraints.import_manual(session, rater, run_id, "m.json", data, NOW)
        assert counts == (new, 4, ())
    assert constraints.manual_document(session, study, run_id, NOW) == file
    assert answer(session, study, run_id).cards[1].evaluation.checks[3].outcome == Outcome.PASS


def test_the_distance_to_the_gold_question_s_place_is_computed_and_exported(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study)
    take_gold(session, rater, notes="Cemara Asri counts.")
    particulars.show_offered_notes(session, study, NOW)
    set_study(session, study, show_record=True)

    result = of_run(session, study, run_id)
    offline = exported(session, study, run_id)

    # 0.01 degrees of longitude at 3.6 degrees north: 6371 km x cos 3.6 x 0.01 x pi / 180.
    assert result.recorded_km == pytest.approx(1.1097, abs=0.0005)
    assert (result.place, result.listed_km) == ("cemara", None)
    assert offline["asked_place"] == "cemara"
    assert offline["record"]["distance_km"] == result.recorded_km


def test_a_gold_note_is_on_every_page_once_it_is_shown(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study)
    take_gold(session, rater, notes="no_data because it is full")
    session.flush()
    task = tasks.next_task(session, rater, NOW)
    assert task is not None

    def read() -> set[str]:
        return {
            particulars.of_answer(session, study, run_id, 1).note,
            particulars.of_task(session, rater, task.id).note,
            *(
                question.note
                for question in offline_runs.offline_run(session, study, run_id).questions
            ),
        }

    assert read() == {""}

    particulars.show_offered_notes(session, study, NOW)
    assert read() == {"no_data because it is full"}
