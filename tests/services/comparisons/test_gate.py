"""A new run held against floors and against an earlier run, by the judgments there are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.engine import Database
from relevansi.db.tables.base import Base
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.importers.results.formats import Choices
from relevansi.importers.runs.problems import ImportRefused
from relevansi.metrics.comparisons.gate import (
    GateDifference,
    GateFigure,
    GateRequest,
    Outcome,
    UnfitLimit,
)
from relevansi.records import EmptyOutcome, Scale
from relevansi.services.comparisons import comparisons, gate
from relevansi.services.comparisons.chosen_runs import DifferentQuestions
from relevansi.services.comparisons.gate import AnswerCounts, GateReport, NotOneRun, Unjudged
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.runs import imports, reports, results, runs, stored_results
from relevansi.services.runs.runs import UnknownRun
from relevansi.services.runs.stored_runs import OtherKind
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.comparisons.stored_runs import judge
from tests.services.runs.runs import click, store
from tests.stored_studies import open_study

QUESTIONS = range(1, 8)
Lists = dict[int, list[str]]
GOOD: Lists = {question: ["yes", "no"] for question in QUESTIONS}
BAD: Lists = {question: ["no", "none"] for question in QUESTIONS}
NEW: Lists = {question: ["unknown", "none"] for question in QUESTIONS}


def beir(lists: Lists, tag: str = "new") -> tuple[str, bytes]:
    """Return a file of lists by question, which may be empty."""
    rows = (
        {"query": f"Question {question}", "query_id": f"q{question}", "system": tag,
         "results": [{"doc_id": f"{question}-{doc}"} for doc in docs]}
        for question, docs in lists.items()
    )  # fmt: skip
    return f"{tag}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def qrels(**grades: int) -> tuple[str, bytes]:
    lines = (f"q{q} 0 {q}-{doc} {grade}\n" for q in QUESTIONS for doc, grade in grades.items())
    return "qrels.txt", "".join(lines).encode()


def gated(session: Session, study: Study, *files: tuple[str, bytes], **request: Any) -> GateReport:
    return gate.gate(session, study, gate.read(study, files, Choices()), GateRequest(**request))


def of(report: GateReport, figure: str) -> GateFigure:
    return next(row for row in report.figures if row.figure == figure)


def difference(report: GateReport, figure: str) -> GateDifference:
    result = of(report, figure).difference
    assert result is not None
    return result


def stored(session: Session, study: Study, *files: tuple[str, bytes]) -> str:
    read = results.read_files("results", files)
    run_id = stored_results.store(session, study, read, NOW).runs[0].id
    session.flush()
    return run_id


@pytest.fixture(name="baseline")
def _baseline(session: Session, study: Study) -> str:
    """A run whose every first result is relevant; the results of ``BAD`` are judged too."""
    run_id = stored(session, study, beir(GOOD, "base"), qrels(yes=1, no=0, none=0))
    switches = replace(studies.switches(study), measures=("P@2", "nDCG@2", "RR"))
    studies.set_switches(session, study, switches, NOW)
    session.flush()
    return run_id


def test_a_run_that_is_worse_fails_by_the_test_of_the_comparison(
    session: Session, study: Study, baseline: str
) -> None:
    """Each of 7 questions loses 0.5: 2 of 128 signs, three times that by Holm."""
    report = gated(session, study, beir(BAD), baseline=baseline)

    assert (report.outcome, report.exit_code) == (Outcome.FAILED, 1)
    result = difference(report, "P@2")
    assert (result.n, result.mean, result.losses, result.outcome) == (7, -0.5, 7, Outcome.FAILED)
    assert result.p == 2 / 128
    assert result.p_holm == pytest.approx(6 / 128)
    run_id = stored(session, study, beir(BAD))
    rule = reports.rule_of(session, study)
    compared = comparisons.report(session, study, [run_id, baseline], rule).comparison
    for expected in compared.differences:
        result = difference(report, expected.figure)
        assert (result.p, result.n) == (expected.p, expected.n)
        assert (result.mean, result.interval) == (expected.mean, expected.interval)


def test_the_same_lists_pass_with_every_judgment_used_again(
    session: Session, study: Study, baseline: str
) -> None:
    """Another run of the same results is judged already, and nothing of it differs."""
    floors = {"P@2": 0.5, "nDCG@2": 1.0}
    report = gated(session, study, beir(GOOD), baseline=baseline, floors=floors)

    assert (report.outcome, report.exit_code, report.unjudged) == (Outcome.PASSED, 0, ())
    assert of(report, "P@2").floor_outcome == of(report, "nDCG@2").floor_outcome == "passed"
    assert (of(report, "nDCG@2").judged, difference(report, "nDCG@2").n_apart) == (1.0, 0)


def test_a_run_against_itself_passes_whatever_is_judged(session: Session, study: Study) -> None:
    """By its own file, and as the same lists under another name: what both list tells nothing."""
    baseline = stored(session, study, beir(GOOD, "base"))

    itself = gated(session, study, beir(GOOD, "base"), baseline=baseline)
    same = gated(session, study, beir(GOOD, "other"), baseline=baseline, tolerance=0.01)

    assert (itself.run, same.run) == (baseline, None)
    assert itself.exit_code == same.exit_code == 0
    assert len(same.unjudged) == 14
    assert all(figure.difference and figure.difference.judged is None for figure in same.figures)


@pytest.mark.parametrize(
    ("figure", "floor", "outcome"),
    [
        # P@2 is between 0 and 1/2 once all is judged.
        ("P@2", 0.5 + 1e-12, Outcome.OPEN),  # as floats add up
        ("P@2", 0.6, Outcome.FAILED),
        ("recall@2", 0.5, Outcome.OPEN),  # without bounds, half judged
    ],
)
def test_a_floor_is_missed_only_where_no_judgment_can_reach_it(
    session: Session, study: Study, baseline: str, figure: str, floor: float, outcome: Outcome
) -> None:
    """What is open counts as bounds, never as 0."""
    report = gated(session, study, beir(NEW), baseline=baseline, floors={figure: floor})

    assert of(report, figure).floor_outcome == outcome


def test_a_strict_floor_is_held_against_the_lower_end_of_the_interval(
    session: Session, study: Study, baseline: str
) -> None:
    """Five of seven first results are relevant: the mean reaches 0.6, its interval does not."""
    lists = {question: ["yes" if question > 2 else "none", "no"] for question in QUESTIONS}
    request: dict[str, Any] = {"baseline": baseline, "floors": {"P@1": 0.6}}

    plain = gated(session, study, beir(lists), **request)
    strict = gated(session, study, beir(lists), **request, strict=True)

    lower = of(plain, "P@1").interval.lower
    assert lower is not None
    assert lower < 0.6 < 5 / 7 == of(plain, "P@1").value
    assert (plain.exit_code, strict.exit_code) == (0, 1)
    request["floors"] = {"P@1": lower}
    assert gated(session, study, beir(lists), **request, strict=True).exit_code == 0


def test_a_run_is_not_called_worse_for_what_nobody_judged(
    session: Session, study: Study, baseline: str
) -> None:
    """P@2 is 0 so far and its test below 0.05, but each first result may still be relevant."""
    report = gated(session, study, beir(NEW), baseline=baseline)

    result = difference(report, "P@2")
    assert result.p_holm is not None
    assert result.p_holm < 0.05
    assert (result.outcome, result.judged, result.baseline_judged) == (Outcome.OPEN, 0.5, 1.0)
    assert (report.outcome, report.exit_code) == (Outcome.OPEN, 3)
    assert report.unjudged[0] == Unjudged(1, "q1", 1, "1-unknown", "")
    assert len(report.unjudged) == 7


def test_a_share_that_is_judged_can_be_enough(
    session: Session, study: Study, baseline: str
) -> None:
    """Three of five results are judged in the one list that differs, of all lists 15 of 17."""
    lists = GOOD | {7: ["yes", "no", "none", "new", "newer"]}
    request: dict[str, Any] = {"baseline": baseline, "figures": ("P@5", "nDCG@5")}

    result = {
        share: gated(session, study, beir(lists), **request, min_judged=share).exit_code
        for share in (1.0, 0.61, 0.6)
    }

    assert result == {1.0: 3, 0.61: 3, 0.6: 0}
    report = gated(session, study, beir(lists), **request)
    assert difference(report, "nDCG@5").judged == 0.6
    assert of(report, "nDCG@5").judged == pytest.approx(15 / 17)


@pytest.mark.usefixtures("baseline")
def test_too_little_judged_of_the_baseline_is_open_too(session: Session, study: Study) -> None:
    """A run that is judged to the end is not held against lists that nobody looked at."""
    unjudged = stored(session, study, beir(NEW, "other"))

    report = gated(session, study, beir(GOOD), baseline=unjudged, figures=("P@2",))

    result = difference(report, "P@2")
    assert (result.judged, result.baseline_judged, report.exit_code) == (1.0, 0.5, 3)


def test_what_can_no_longer_change_needs_no_judgment(
    session: Session, study: Study, baseline: str
) -> None:
    """Below the first relevant result nothing moves the reciprocal rank."""
    lists = {question: ["yes", "new"] for question in QUESTIONS}

    report = gated(session, study, beir(lists), baseline=baseline, figures=("RR", "P@2"))

    assert (difference(report, "RR").judged, difference(report, "P@2").judged) == (1.0, 0.5)
    assert difference(report, "RR").outcome == Outcome.PASSED


def test_with_a_tolerance_a_larger_loss_has_to_be_ruled_out(
    session: Session, study: Study, baseline: str
) -> None:
    """One of seven lists loses: no test shows it, and no interval is near enough to 0."""
    lists = GOOD | {7: ["none", "no"]}
    request: dict[str, Any] = {"baseline": baseline, "figures": ("P@2",)}

    plain = gated(session, study, beir(lists), **request)
    lower = difference(plain, "P@2").interval.lower
    assert lower is not None
    assert lower < 0

    codes = [
        gated(session, study, beir(lists), **request, tolerance=loss).exit_code
        for loss in (-lower - 0.01, -lower, -lower + 0.01)
    ]
    assert (plain.exit_code, codes) == (0, [3, 3, 0])


def test_a_question_that_the_run_lacks_is_an_empty_list(
    session: Session, study: Study, baseline: str
) -> None:
    """Three lists of seven: 3 x 0.5 / 7 is below the floor, whatever they have. Left out, 0.5."""
    part = {question: docs for question, docs in GOOD.items() if question > 4}
    request: dict[str, Any] = {"baseline": baseline, "floors": {"P@2": 0.4}}

    report = gated(session, study, beir(part), **request)

    assert (report.exit_code, report.n_questions, report.missing) == (
        1,
        7,
        ("q1", "q2", "q3", "q4"),
    )
    assert of(report, "P@2").value == pytest.approx(1.5 / 7)
    assert (report.answers, report.baseline_answers) == (
        AnswerCounts(3, 0, 0, 0, 4),
        AnswerCounts(7, 0, 0, 0, 0),
    )
    partly = gated(session, study, beir(part), **request, allow_missing=True)
    assert (partly.exit_code, partly.n_questions, partly.missing) == (0, 3, report.missing)
    assert of(partly, "P@2").value == 0.5


def test_an_empty_list_is_0_in_every_figure(session: Session, study: Study, baseline: str) -> None:
    """Who answers one question of seven does not pass by its precision."""
    mostly_empty = GOOD | {question: [] for question in range(2, 8)}
    names = ("P@2", "nDCG@2", "RR", "success@2", "AP", "coverage")

    report = gated(
        session, study, beir(mostly_empty), baseline=baseline, figures=names, floors={"P@2": 0.4}
    )

    assert [of(report, name).value for name in names] == pytest.approx([0.5 / 7, *[1 / 7] * 5])
    assert (report.exit_code, report.answers) == (1, AnswerCounts(1, 6, 0, 0, 0))
    assert of(report, "P@2").floor_outcome == Outcome.FAILED


@pytest.mark.usefixtures("baseline")
def test_a_correct_empty_list_is_a_success_and_in_no_other_figure(
    session: Session, study: Study
) -> None:
    """The outcome is the question's: it holds for a list that is empty and for one that lacks."""
    lists = GOOD | {7: []}
    same_empty = stored(session, study, beir(lists, "other"))
    [grader] = [rater for rater in studies.raters(session, study) if rater.name == "qrels"]
    outcome = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    judgments.rate(session, grader, same_empty, 7, outcome, click("e1"))
    session.flush()
    names = ("P@2", "RR", "success@2")
    request: dict[str, Any] = {"baseline": same_empty, "figures": names}

    for run in (lists, {question: docs for question, docs in GOOD.items() if question < 7}):
        report = gated(session, study, beir(run), **request)
        assert [(of(report, name).value, of(report, name).n) for name in names] == [
            (0.5, 6),
            (1.0, 6),
            (1.0, 7),
        ]
    assert gated(session, study, beir(GOOD | {7: ["none"]}), **request).exit_code == 0


def test_figures_that_look_deeper_than_the_pool_do_not_decide(
    session: Session, study: Study, baseline: str
) -> None:
    """Unless they are named, or the study shows no other."""
    measures = ("nDCG@2", "P@1", "RR", "Judged@1")
    switches = replace(studies.switches(study), measures=measures, pool_depth=1)
    studies.set_switches(session, study, switches, NOW)

    report = gated(session, study, beir(GOOD), baseline=baseline)
    assert [figure.figure for figure in report.figures] == ["P@1"]
    by_name = gated(session, study, beir(GOOD), baseline=baseline, figures=("nDCG@2",))
    assert [figure.figure for figure in by_name.figures] == ["nDCG@2"]

    studies.set_switches(session, study, replace(switches, measures=("nDCG@2",)), NOW)
    alone = gated(session, study, beir(NEW), baseline=baseline)
    assert ([figure.figure for figure in alone.figures], alone.exit_code) == (["nDCG@2"], 3)
    studies.set_switches(session, study, replace(switches, measures=("Judged@1",)), NOW)
    usual = gated(session, study, beir(NEW), baseline=baseline)
    assert [figure.figure for figure in usual.figures] == ["P@5", "RR@10", "success@10"]


def test_what_is_below_the_depth_of_the_pool_is_counted_and_put_to_nobody(
    session: Session, study: Study, baseline: str
) -> None:
    """Only what raters are asked is listed."""
    switches = replace(studies.switches(study), pool_depth=1, measures=("P@1",))
    studies.set_switches(session, study, switches, NOW)

    turned = {question: ["none", "unknown"] for question in QUESTIONS}
    report = gated(session, study, beir(turned), baseline=baseline)

    assert (report.unjudged, report.n_below_pool) == ((), 7)


def test_lists_that_differ_only_in_ids_below_the_items_differ(
    session: Session, study: Study
) -> None:
    """Of lists that go on as ids a figure of the whole list looks at those as well."""
    lists = {question: ["yes", "no", "none"] for question in QUESTIONS}
    read = results.read_files("results", (beir(lists, "base"),), Choices(depth=2))
    baseline = stored_results.store(session, study, read, NOW).runs[0].id
    session.flush()
    request = GateRequest(baseline=baseline, figures=("AP", "P@2"))

    def apart(last: str) -> list[int]:
        changed = lists | {7: ["yes", "no", last]}
        run = gate.read(study, [beir(changed)], Choices(depth=2))
        report = gate.gate(session, study, run, request)
        return [difference(report, figure).n_apart for figure in ("AP", "P@2")]

    assert (apart("none"), apart("other")) == ([0, 0], [1, 0])


def test_the_smallest_p_of_few_questions_is_reported(
    session: Session, study: Study, baseline: str
) -> None:
    """Of four signs the rarest two have p = 1/8; with seven questions a loss can show."""
    few = {question: docs for question, docs in BAD.items() if question < 5}
    request: dict[str, Any] = {"baseline": baseline, "figures": ("P@2",), "allow_missing": True}

    report = gated(session, study, beir(few), **request)

    assert (difference(report, "P@2").smallest_p, report.exit_code) == (1 / 8, 0)
    seven = gated(session, study, beir(BAD), **request)
    assert (difference(seven, "P@2").smallest_p, seven.exit_code) == (1 / 64, 1)


def test_the_smallest_loss_that_would_show_is_reported(
    session: Session, study: Study, baseline: str
) -> None:
    """Six losses of seven are significant; at 0.88 so many come in 79.9 %, at 0.89 in 82.5 %.

    Where no question differs, those that lose are taken to lose all.
    """
    lists = {question: ["yes", "none"] for question in QUESTIONS}

    report = gated(session, study, beir(lists), baseline=baseline, figures=("P@2",))

    result = difference(report, "P@2")
    assert (result.n_apart, result.wins, result.losses, result.smallest_loss) == (7, 0, 0, 0.89)


def test_grades_in_the_files_do_not_count(session: Session, study: Study, baseline: str) -> None:
    """A run does not judge itself, whatever scale its file has."""
    report = gated(session, study, beir(NEW), qrels(unknown=4), baseline=baseline)

    assert report.n_grades == 7
    assert (report.outcome, len(report.unjudged)) == (Outcome.OPEN, 7)
    assert Scale.stored(study.scale).top == 1


def test_questions_of_the_run_alone_are_counted_and_in_no_figure(
    session: Session, study: Study, baseline: str
) -> None:
    """The figures are over the questions of the baseline."""
    report = gated(session, study, beir(GOOD | {8: ["none"]}), baseline=baseline)

    assert (report.n_questions, report.n_added, of(report, "RR").value) == (7, 1, 1.0)


def rows(database: Database) -> dict[str, list[Any]]:
    with database.reading() as session:
        return {
            name: sorted(map(repr, session.execute(select(table))))
            for name, table in Base.metadata.tables.items()
        }


def test_a_gate_only_reads_and_waits_for_no_writer(database: Database) -> None:
    """It answers while somebody else writes, and every table stays as it was."""
    with open_study(database) as (session, study):
        baseline = stored(session, study, beir(GOOD, "base"))
    before = rows(database)

    with database.writing() as writer, database.reading() as session:
        studies.open_or_make(writer, NOW).name = "being renamed"
        writer.flush()
        current = studies.current(session)
        assert current is not None
        report = gated(session, current, beir(NEW), baseline=baseline, method="m", llm="l")
        session.commit()
        writer.rollback()

    assert (report.run, report.name.split(" ")[0], len(report.unjudged)) == (None, "m", 14)
    assert rows(database) == before


def test_a_stored_run_waits_for_raters(database: Database) -> None:
    """What is open in it is what the gate lists, and its labels are those of the request."""
    with open_study(database) as (session, study):
        baseline = stored(session, study, beir(GOOD, "base"))
    request = GateRequest(baseline=baseline, method="m", llm="l")

    with open_study(database) as (session, study):
        run = gate.read(study, [beir(NEW), qrels(unknown=1)], Choices())
        turns_blind = gate.keep_run(session, study, run, request, NOW)
    with database.reading() as session:
        current = studies.current(session)
        assert current is not None
        report = gate.gate(session, current, run, request, turns_blind=turns_blind)
        stored_run = runs.find(session, current, report.run or "")
        in_run = Query.run_id == stored_run.id
        state = reports.state(session, current, in_run, reports.rule_of(session, current))
    assert report.turns_blind
    assert (stored_run.search_method, stored_run.llm) == ("m", "l")
    assert state.cards == len(report.unjudged) == 14


def chatbot_run(method: str, *lists: str | None) -> tuple[str, bytes]:
    """Return a chatbot's run file in which each list names properties by letters.

    A failed call has no list, the second question depends on the first.
    """
    answers = [
        {
            "query_id": number,
            "question": f"Question {number}",
            "category": "context_dependent" if number == 2 else "location",
            "success": names is not None,
            "response": "\n".join(
                f"{rank}. **[{name}](https://listing.example/properti/{name.lower()})**"
                for rank, name in enumerate(names or "", 1)
            ),
        }
        for number, names in enumerate(lists, 1)
    ]
    return f"{method}.json", json.dumps({"search_method": method, "results": answers}).encode()


def chatbot_baseline(session: Session, study: Study, *lists: str) -> str:
    name, data = chatbot_run("api", *lists)
    run_id = store(session, study, imports.read(name, data).read).id
    session.flush()
    return run_id


def test_a_chatbot_s_run_of_properties_is_gated_by_its_own_figures(
    session: Session, study: Study, rater: Rater
) -> None:
    """Verdicts serve all runs but for a question that depends on its conversation."""
    baseline = chatbot_baseline(session, study, *["AB"] * 6)
    judge(session, rater, baseline, *["10"] * 6)

    report = gated(
        session,
        study,
        chatbot_run("hybrid", "BA", "AB", *["BA"] * 3, "BC"),
        baseline=baseline,
        floors={"mrr": 0.45},
    )

    names = ["mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate"]
    assert [figure.figure for figure in report.figures] == names
    assert of(report, "mrr").value == pytest.approx(4 * 0.5 / 6)
    assert of(report, "mrr").upper == pytest.approx((4 * 0.5 + 1 + 0.5) / 6)
    assert of(report, "mrr").floor_outcome == Outcome.OPEN
    assert [(figure.position, figure.rank, figure.title) for figure in report.unjudged] == [
        (2, 1, "A"),
        (2, 2, "B"),
        (6, 2, "C"),
    ]


def test_the_same_list_in_another_conversation_is_no_difference(
    session: Session, study: Study, rater: Rater
) -> None:
    """Its items are to be judged anew, which a floor needs and a difference does not."""
    name, data = chatbot_run("api", *["AB"] * 3)
    again = name, data.replace(b'"search_method"', b'"timestamp": "2026-05-01", "search_method"')
    read = imports.read(name, again[1].replace(b"-05-", b"-04-")).read
    baseline = store(session, study, read).id
    session.flush()
    judge(session, rater, baseline, *["10"] * 3)
    request = GateRequest(baseline=baseline, floors={"mrr": 1.0})
    run = gate.read(study, [again], Choices())

    fresh = gate.gate(session, study, run, request)
    gate.keep_run(session, study, run, request, NOW)
    session.flush()
    stored_report = gate.gate(session, study, run, request)

    for report in (fresh, stored_report):
        assert {difference(report, figure.figure).n_apart for figure in report.figures} == {0}
        assert {difference(report, figure.figure).n for figure in report.figures} == {3}
        assert of(report, "mrr").floor_outcome == Outcome.OPEN
        assert [figure.position for figure in report.unjudged] == [2, 2]
    assert (fresh.run, stored_report.run is None) == (None, False)


def test_failed_calls_count_as_empty_lists(session: Session, study: Study, rater: Rater) -> None:
    """A chatbot that fails five questions of six is no better for the one it answers."""
    baseline = chatbot_baseline(session, study, *["AB"] * 6)
    judge(session, rater, baseline, *["10"] * 6)

    report = gated(
        session,
        study,
        chatbot_run("hybrid", "A", *[None] * 5),
        baseline=baseline,
        floors={"mean_precision_at_5": 0.5},
    )

    assert report.answers == AnswerCounts(1, 0, 5, 0, 0)
    assert of(report, "mean_precision_at_5").value == pytest.approx(1 / 6)
    assert of(report, "mean_precision_at_5").floor_outcome == Outcome.FAILED


def test_a_run_of_which_nothing_can_be_compared_does_not_pass(
    session: Session, study: Study
) -> None:
    """No question has a judged relevant item, so that nDCG has no value in either run."""
    baseline = stored(session, study, beir(GOOD, "base"), qrels(yes=0, no=0, none=0))

    report = gated(session, study, beir(BAD), baseline=baseline, figures=("nDCG@2",))

    assert (difference(report, "nDCG@2").n, report.exit_code) == (0, 3)


def test_what_a_gate_cannot_take_is_refused(session: Session, study: Study, baseline: str) -> None:
    """One run of the study's kind of items and questions, against a run that there is."""
    with pytest.raises(UnknownRun):
        gated(session, study, beir(GOOD), baseline="none")
    with pytest.raises(NotOneRun, match=r"one\.jsonl, other\.jsonl.* 2"):
        gated(session, study, beir(GOOD, "one"), beir(BAD, "other"), baseline=baseline)
    with pytest.raises(NotOneRun):
        gated(session, study, qrels(yes=1), baseline=baseline)
    with pytest.raises(ImportRefused):
        gated(session, study, ("empty.json", b""), baseline=baseline)
    ratings = b'{"format": "relevansi offline ratings"}'
    with pytest.raises(NotOneRun):
        gated(session, study, ("ratings.json", ratings), baseline=baseline)
    with pytest.raises(OtherKind):
        gated(session, study, chatbot_run("hybrid", "A"), baseline=baseline)
    with pytest.raises(DifferentQuestions):
        gated(session, study, beir({9: ["yes"]}), baseline=baseline)


def test_a_chatbot_s_run_of_other_questions_is_refused(session: Session, study: Study) -> None:
    """Neither is a part of the other, in order."""
    baseline = chatbot_baseline(session, study, "A", "B", "C")
    name, data = chatbot_run("hybrid", "A", "B")

    with pytest.raises(DifferentQuestions):
        gated(session, study, (name, data.replace(b"Question 2", b"Another")), baseline=baseline)


@pytest.mark.parametrize("text", ["nDCG@10", "=0.5", "P@5=high", "P@5=nan", "P@5=1_0", "nDCG=0.5"])
def test_a_floor_that_is_no_figure_with_a_number_is_refused(text: str) -> None:
    """Anything else is refused with how it is written."""
    with pytest.raises(ValueError if "nDCG=" not in text else studies.UnknownHeadline):
        gate.floors_in([text])
    assert gate.floors_in(["ndcg@10 = .6", "P@5=0"]) == {"nDCG@10": 0.6, "P@5": 0.0}


def test_a_second_floor_of_a_figure_is_refused() -> None:
    """A second one is refused, whichever way its figure is spelt: none is passed over."""
    with pytest.raises(gate.UnfitFloor):
        gate.floors_in(["nDCG@10=0.6", "ndcg@10=0.4"])


@pytest.mark.parametrize("figure", ["composite", "mean_response_quality", "Judged@10"])
def test_figures_that_cannot_decide_are_refused(figure: str) -> None:
    """A mixture, what is rated for each run anew, and how much is judged."""
    with pytest.raises(gate.UnfitFigure):
        gate.floors_in([f"{figure}=0.5"])
    with pytest.raises(gate.UnfitFigure):
        gate.figures_in(f"P@5,{figure}")


@pytest.mark.parametrize(
    "limits", [{"min_judged": 1.01}, {"min_judged": float("nan")}, {"tolerance": -0.1},
               {"tolerance": float("nan")}, {"tolerance": float("inf")}],
)  # fmt: skip
def test_a_limit_out_of_its_range_is_refused(limits: dict[str, Any]) -> None:
    """A share from 0 to 1, and a loss that is not below 0."""
    with pytest.raises(UnfitLimit):
        GateRequest(baseline="b", **limits)
