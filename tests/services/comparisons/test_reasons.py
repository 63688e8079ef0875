"""Why items are not relevant in a comparison: what is counted, by whom, and against gold."""

from __future__ import annotations

from datetime import date, timedelta

from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons import files
from relevansi.exporters.comparisons.reasons import section
from relevansi.i18n import speaking
from relevansi.metrics.comparisons.reasons import ReasonComparison, TimeSpent
from relevansi.records import Click
from relevansi.services.comparisons import comparisons
from relevansi.services.judging import judgments
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import NO, YES, card, click, query, run, store


def two_runs(session: Session, study: Study) -> list[str]:
    """Both list card a of question 1, the first twice; b and d are of one run each."""
    first = run(query(1, card("a"), card("b"), card("a")), query(2, card("c")))
    second = run(query(1, card("a"), card("d")), query(2, card("c")), method="api_only")
    return [store(session, study, read).id for read in (first, second)]


def judged(session: Session, study: Study, rater: Rater) -> list[str]:
    first, second = two_runs(session, study)
    ani = studies.add_rater(session, study, "Ani", NOW)
    reasons = (
        (rater, first, 1, NO, "price"),  # a
        (rater, first, 2, NO, None),  # b
        (rater, second, 2, YES, "price"),  # d, which counts for nothing
        (ani, first, 1, NO, "other: jauh"),  # a
        (ani, second, 2, NO, "price"),  # d
    )
    for number, (who, run_id, rank, verdict, reason) in enumerate(reasons):
        verdict_click = click(f"v{number}", minute=number)
        judgments.judge(session, who, run_id, 1, rank, verdict, verdict_click)
        judgments.give_reason(session, who, run_id, 1, rank, reason, verdict_click)
    return [first, second]


def of(session: Session, study: Study, runs: list[str], rule: Rule) -> ReasonComparison:
    part = comparisons.report(session, study, runs, rule).parts["reasons"]
    value: ReasonComparison = part.value
    return value


def test_each_rater_s_verdict_counts_once_for_every_run_that_lists_the_item(
    session: Session, study: Study, rater: Rater
) -> None:
    """The first run: price and other on a, b without one; the second: those on a, price on d."""
    runs = judged(session, study, rater)
    compared = of(session, study, runs, Rule(reports.MAJORITY))

    assert compared.reasons == ("price", "other")
    assert [dict(each.counts) for each in compared.contenders] == [
        {"price": 1, "other": 1},
        {"price": 2, "other": 1},
    ]
    assert [each.without for each in compared.contenders] == [1, 0]
    assert compared.raters == 2
    assert compared.contradictions is None  # no gold questions
    assert compared.seconds_with == TimeSpent(None, 0)  # clicks without a time of their own
    with speaking("en"):
        first, second, *_ = section(compared).sentences
    assert first.endswith("Price, Other (50%).")  # 1 of 2 each
    assert second.endswith("Price (66.67%).")  # 2 of 3


def test_a_rater_alone_is_counted_alone(session: Session, study: Study, rater: Rater) -> None:
    runs = judged(session, study, rater)
    compared = of(session, study, runs, reports.of_rater(rater))
    assert [dict(each.counts) for each in compared.contenders] == [{"price": 1}, {"price": 1}]


def test_reports_have_the_reasons_and_none_where_nobody_gave_one(
    session: Session, study: Study, rater: Rater
) -> None:
    runs = two_runs(session, study)
    judgments.judge(session, rater, runs[0], 1, 1, NO, click("v"))
    majority = Rule(reports.MAJORITY)
    assert "reasons" not in comparisons.report(session, study, runs, majority).parts
    judgments.give_reason(session, rater, runs[0], 1, 1, "price", click("r"))
    report = comparisons.report(session, study, runs, majority)

    written = files.comparison_json(report)["reasons"]
    assert [run["given"] for run in written["runs"]] == [{"price": 1}, {"price": 1}]
    for name in ("markdown", "html", "xlsx"):
        assert files.FORMATS[name].render(report, date(2026, 3, 1))


def test_the_time_a_reason_takes_is_measured_to_the_next_verdict(
    session: Session, study: Study, rater: Rater
) -> None:
    """Of thirteen verdicts every other has a reason, and takes 10 s instead of 4; the last none."""
    listed = [card(f"c{n}") for n in range(13)]
    methods = ("hybrid", "api_only")
    runs = [store(session, study, run(query(1, *listed), method=name)).id for name in methods]
    at = NOW
    for rank in range(1, 14):
        verdict_click = Click(f"v{rank}", at, at, "a", 2 * rank)
        judgments.judge(session, rater, runs[0], 1, rank, NO, verdict_click)
        if rank % 2:
            beside = Click(f"r{rank}", at, at, "a", 2 * rank + 1)
            judgments.give_reason(session, rater, runs[0], 1, rank, "price", beside)
        at += timedelta(seconds=10 if rank % 2 else 4)
    compared = of(session, study, runs, reports.of_rater(rater))

    assert compared.seconds_with == TimeSpent(10.0, 6)
    assert compared.seconds_without == TimeSpent(4.0, 6)
