"""A new run held against floors and against an earlier run, by the judgments there are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.comparisons.stored_runs import judge
from tests.stored_studies import open_study
from webapp.db.engine import Database
from webapp.db.tables.base import Base
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.results.formats import Choices
from webapp.importers.runs.problems import ImportRefused
from webapp.records import Scale
from webapp.services.comparisons import comparisons, gate
from webapp.services.comparisons.gate import (
    GateReport,
    GateWanted,
    NotOneRun,
    Outcome,
    Unjudged,
)
from webapp.services.runs import imports, reports, results, runs, stored_results, stored_runs
from webapp.services.runs.runs import UnknownRun
from webapp.services.runs.stored_runs import Labels, OtherKind
from webapp.services.study import studies

QUESTIONS = range(1, 8)
Lists = Mapping[int, Sequence[str]]
GOOD: Lists = {question: ["yes", "no"] for question in QUESTIONS}
BAD: Lists = {question: ["no", "none"] for question in QUESTIONS}
NEW: Lists = {question: ["unknown", "none"] for question in QUESTIONS}


def trec(lists: Lists, tag: str = "new") -> tuple[str, bytes]:
    lines = (
        f"q{question} Q0 {question}-{doc} {rank} {10 - rank} {tag}\n"
        for question, docs in lists.items()
        for rank, doc in enumerate(docs, 1)
    )
    return f"{tag}.run", "".join(lines).encode()


def qrels(**grades: int) -> tuple[str, bytes]:
    lines = (f"q{q} 0 {q}-{doc} {grade}\n" for q in QUESTIONS for doc, grade in grades.items())
    return "qrels.txt", "".join(lines).encode()


def gated(session: Session, study: Study, *files: tuple[str, bytes], **wanted: Any) -> GateReport:
    read = gate.read(study, files, Choices())
    return gate.gate(session, study, read, GateWanted(**wanted), NOW)


def of(report: GateReport, figure: str) -> gate.GateFigure:
    return next(one for one in report.figures if one.figure == figure)


@pytest.fixture(name="baseline")
def _baseline(session: Session, study: Study) -> str:
    """A run whose every first result is relevant; the results of ``BAD`` are judged too."""
    files = (trec(GOOD, "base"), qrels(yes=1, no=0, none=0))
    read = results.read_files("results", files)
    done = stored_results.store(session, study, read, NOW)
    switches = replace(studies.switches(study), measures=("P@2", "nDCG@2", "RR"))
    studies.set_switches(session, study, switches, NOW)
    session.flush()
    return done.runs[0].id


def test_a_run_that_is_worse_fails_by_the_test_of_the_comparison(
    session: Session, study: Study, baseline: str
) -> None:
    """Each of 7 questions loses 0.5: 2 of 128 signs, three times that by Holm."""
    report = gated(session, study, trec(BAD), baseline=baseline, ask=True)

    assert (report.outcome, report.exit_code) == (Outcome.FAILED, 1)
    test = of(report, "P@2").test
    assert test is not None
    assert (test.n, test.mean, test.losses, test.outcome) == (7, -0.5, 7, Outcome.FAILED)
    assert (test.p, round(test.p_holm, 6)) == (2 / 128, round(6 / 128, 6))
    assert report.run is not None
    rule = reports.rule_of(session, study)
    compared = comparisons.report(session, study, [report.run, baseline], rule).comparison
    theirs = {one.figure: (one.p, one.n, one.mean) for one in compared.differences}
    ours = {
        one.figure: (one.test.p, one.test.n, one.test.mean) for one in report.figures if one.test
    }
    assert ours == theirs


def test_the_same_lists_pass_with_every_judgment_used_again(
    session: Session, study: Study, baseline: str
) -> None:
    """Another run of the same results is judged already, and no worse."""
    wanted = {"P@2": 0.5, "nDCG@2": 1.0}
    report = gated(session, study, trec(GOOD), baseline=baseline, floors=wanted)

    assert (report.outcome, report.exit_code, report.unjudged) == (Outcome.PASSED, 0, ())
    assert of(report, "P@2").floor_outcome == of(report, "nDCG@2").floor_outcome == "passed"
    assert of(report, "nDCG@2").judged == 1.0
    assert report.run is None  # it was not to stay


@pytest.mark.parametrize(
    ("figure", "floor", "outcome"),
    [
        ("P@2", 0.5, Outcome.OPEN),  # between 0 and 1/2 once all is judged
        ("P@2", 0.5 + 1e-12, Outcome.OPEN),  # as floats add up
        ("P@2", 0.6, Outcome.FAILED),
        ("P@2", 0.0, Outcome.PASSED),
        ("recall@2", 0.5, Outcome.OPEN),  # without bounds, half judged
        ("Judged@2", 0.9, Outcome.FAILED),
    ],
)
def test_a_floor_is_missed_only_where_no_judgment_can_reach_it(
    session: Session, study: Study, baseline: str, figure: str, floor: float, outcome: Outcome
) -> None:
    """What is open counts as bounds, never as 0."""
    report = gated(session, study, trec(NEW), baseline=baseline, floors={figure: floor})

    assert of(report, figure).floor_outcome == outcome


def test_a_run_is_not_called_worse_for_what_nobody_judged(
    session: Session, study: Study, baseline: str
) -> None:
    """P@2 is 0 so far and its test below 0.05, but each first result may still be relevant."""
    report = gated(session, study, trec(NEW), baseline=baseline)

    test = of(report, "P@2").test
    assert test is not None
    assert test.p_holm < gate.ALPHA
    assert test.outcome == Outcome.OPEN
    assert (report.outcome, report.exit_code) == (Outcome.OPEN, 3)
    assert report.unjudged[0] == Unjudged(1, "q1", 1, "1-unknown", "")
    assert len(report.unjudged) == 7


def test_what_is_below_the_depth_of_the_pool_is_counted_and_put_to_nobody(
    session: Session, study: Study, baseline: str
) -> None:
    """Only what raters are asked is listed."""
    switches = replace(studies.switches(study), pool_depth=1)
    studies.set_switches(session, study, switches, NOW)

    turned = {question: ["none", "unknown"] for question in QUESTIONS}
    report = gated(session, study, trec(turned), baseline=baseline)

    assert (report.unjudged, report.n_below_pool) == ((), 7)


def test_questions_that_the_run_lacks_are_named(
    session: Session, study: Study, baseline: str
) -> None:
    """Lists that are absent are in no mean, which must not go by unseen."""
    part = {question: docs for question, docs in GOOD.items() if question > 2}
    report = gated(session, study, trec(part), baseline=baseline)

    assert (report.missing, report.n_questions) == (("q1", "q2"), 5)


def test_grades_in_the_files_do_not_count(session: Session, study: Study, baseline: str) -> None:
    """A run does not judge itself, whatever scale its file has."""
    report = gated(session, study, trec(NEW), qrels(unknown=4), baseline=baseline)

    assert report.n_grades_ignored == 7
    assert (report.outcome, len(report.unjudged)) == (Outcome.OPEN, 7)
    assert Scale.stored(study.scale).top == 1


def test_a_file_that_was_imported_before_is_that_run(
    session: Session, study: Study, baseline: str
) -> None:
    """The baseline's own file meets its floors and is compared with nothing."""
    report = gated(session, study, trec(GOOD, "base"), baseline=baseline, floors={"P@2": 0.5})

    assert (report.run, report.already_imported) == (baseline, True)
    assert [one.test for one in report.figures] == [None] * 3
    assert report.outcome == Outcome.PASSED


def rows(database: Database) -> dict[str, list[Any]]:
    with database.reading() as session:
        return {
            name: sorted(map(repr, session.execute(select(table))))
            for name, table in Base.metadata.tables.items()
        }


def test_nothing_is_left_unless_the_run_is_to_stay(database: Database) -> None:
    """A transaction that is rolled back leaves every table as it was; kept, the run is open."""
    with open_study(database) as (session, study):
        read = results.read_files("results", (trec(GOOD, "base"),))
        baseline = stored_results.store(session, study, read, NOW).runs[0].id
    before = rows(database)

    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        gated(session, study, trec(NEW), baseline=baseline, method="m", llm="l")
    assert rows(database) == before

    with open_study(database) as (session, study):
        labels = {"method": "m", "llm": "l"}
        report = gated(session, study, trec(NEW), baseline=baseline, ask=True, **labels)
    with database.reading() as session:
        kept = studies.current(session)
        assert kept is not None
        assert report.turns_blind
        run = runs.find(session, kept, report.run or "")
        assert (run.search_method, run.llm) == ("m", "l")
        standing = reports.standing(session, kept, run.id, reports.rule_of(session, kept))
        assert standing.open_judgments == len(report.unjudged) == 14


def chatbot_run(method: str, *lists: str) -> tuple[str, bytes]:
    """Return a chatbot's run file in which each list names properties by letters."""
    answers = [
        {
            "query_id": number,
            "question": f"Question {number}",
            "category": "location",
            "success": True,
            "response": "\n".join(
                f"{rank}. **[{name}](https://listing.example/properti/{name.lower()})**"
                for rank, name in enumerate(names, 1)
            ),
        }
        for number, names in enumerate(lists, 1)
    ]
    return f"{method}.json", json.dumps({"search_method": method, "results": answers}).encode()


def test_a_chatbot_s_run_of_properties_is_gated_by_its_own_figures(
    session: Session, study: Study, rater: Rater
) -> None:
    """Figures of the method rest on questions that are judged to the end."""
    name, data = chatbot_run("api", *["AB"] * 6)
    read = imports.read(name, data).read
    baseline = stored_runs.store(session, study, read, Labels(), NOW).id
    judge(session, rater, baseline, *["10"] * 6)

    given = chatbot_run("hybrid", *["BA"] * 5, "BC")
    report = gated(session, study, given, baseline=baseline, floors={"mrr": 0.45})

    assert (of(report, "mrr").value, of(report, "mrr").n) == (0.5, 5)
    assert of(report, "mrr").floor_outcome == Outcome.OPEN  # the sixth may still be 0
    assert [(one.query_id, one.rank, one.title) for one in report.unjudged] == [(6, 2, "C")]


def test_a_run_of_which_nothing_can_be_compared_does_not_pass(
    session: Session, study: Study
) -> None:
    """No question is judged to the end, so that no figure of the method has a pair."""
    name, data = chatbot_run("api", "A", "B")
    read = imports.read(name, data).read
    baseline = stored_runs.store(session, study, read, Labels(), NOW).id

    report = gated(session, study, chatbot_run("hybrid", "C", "B"), baseline=baseline)

    assert [one.test for one in report.figures if one.test] == []
    assert report.outcome == Outcome.OPEN


def test_what_a_gate_cannot_take_is_refused(session: Session, study: Study, baseline: str) -> None:
    """One run of the study's kind of items and questions, against a run that there is."""
    with pytest.raises(UnknownRun):
        gated(session, study, trec(GOOD), baseline="none")
    with pytest.raises(NotOneRun, match=r"one\.run, other\.run.* 2"):
        gated(session, study, trec(GOOD, "one"), trec(BAD, "other"), baseline=baseline)
    with pytest.raises(NotOneRun):
        gated(session, study, qrels(yes=1), baseline=baseline)
    with pytest.raises(ImportRefused):
        gated(session, study, ("empty.json", b""), baseline=baseline)
    ratings = b'{"format": "relevansi offline ratings"}'
    with pytest.raises(NotOneRun):
        gated(session, study, ("ratings.json", ratings), baseline=baseline)
    with pytest.raises(OtherKind):
        gated(session, study, chatbot_run("hybrid", "A"), baseline=baseline)


@pytest.mark.parametrize("text", ["nDCG@10", "=0.5", "P@5=high", "P@5=nan", "P@5=1_0", "nDCG=0.5"])
def test_a_floor_is_a_known_figure_and_a_number(text: str) -> None:
    """Anything else is refused with how it is written."""
    with pytest.raises(ValueError if "nDCG=" not in text else studies.UnknownHeadline):
        gate.floors_in([text])
    assert gate.floors_in(["ndcg@10 = .6", "P@5=0"]) == {"nDCG@10": 0.6, "P@5": 0.0}


def test_a_figure_has_one_floor() -> None:
    """A second one is refused, whichever way its figure is spelt: none is passed over."""
    with pytest.raises(gate.UnfitFloor):
        gate.floors_in(["nDCG@10=0.6", "ndcg@10=0.4"])
