"""Under one rule, the page, the report and every export say the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.metrics.judging.figures import figures, totals
from relevansi.services.agreement import adjudications
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.judging.stored_summaries import RunProgress
from relevansi.services.runs import reports, votes
from relevansi.services.runs.reports import Rule, UnknownRater, UnknownRule
from relevansi.services.runs.votes import Provenance, margin
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study
from tests.services.runs.runs import NO, YES, card, click, query, run, store


def test_the_report_is_what_the_live_sums_say(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    report = reports.report(session, study, rated_run, reports.of_rater(rater))
    categories = stored_summaries.by_category(session, rater.id, rated_run)
    live = RunProgress.together(categories.values()).totals

    expected = figures(totals(report))
    for name, figure in figures(live).items():
        assert figure.value == pytest.approx(expected[name].value, abs=1e-12), name
        assert figure.lower == pytest.approx(expected[name].lower, abs=1e-12), name
        assert figure.upper == pytest.approx(expected[name].upper, abs=1e-12), name
        assert figure.n == expected[name].n


def test_figures_of_a_rated_run_worked_by_hand(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    report = reports.report(session, study, rated_run, reports.of_rater(rater))
    mean = figures(totals(report))["mean_precision_at_5"]
    # "Cannot tell" is in a new study's denominators: 1/3 and 2/2; with question 4 open
    # from (1/3 + 1 + 0) / 3 to (1/3 + 1 + 1) / 3.
    assert report.cannot_tell == "not_relevant"
    assert (mean.value, mean.lower, mean.upper) == pytest.approx((2 / 3, 4 / 9, 7 / 9))
    set_study(session, study, cannot_tell="left_out")
    result = figures(totals(reports.report(session, study, rated_run, reports.of_rater(rater))))

    # P@5: 1/2 (cannot tell left out) and 2/2; RR: 1/2 and 1; false negative 0 beside them.
    assert result["mean_precision_at_5"].value == pytest.approx(0.75)
    assert result["mrr"].value == pytest.approx(0.75)
    assert result["mrr_answerable"].value == pytest.approx(0.5)
    assert result["success_rate"].value == pytest.approx(2 / 3)
    assert result["coverage"].value == pytest.approx(0.75)
    assert result["mean_response_quality"].value == 3
    # With question 4 open: (0.5 + 1 + 0) / 3 and (0.5 + 1 + 1) / 3.
    assert result["mean_precision_at_5"].lower == pytest.approx(0.5)
    assert result["mean_precision_at_5"].upper == pytest.approx(2.5 / 3)


def test_majority_takes_the_median_quality_and_names_the_notes(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    judgments.rate(
        session, second_rater, rated_run, 1, AnswerRating(quality=4, notes="fine"), click("b1")
    )
    judgments.judge(session, second_rater, rated_run, 2, 1, NO, click("b2"))

    row, second, *_ = reports.report(session, study, rated_run, Rule("majority")).rows
    assert row.summary.quality == 3.5
    assert row.notes == f"{rater.name}: =1+1 | Budi: fine"
    assert not second.summary.complete  # one relevant, one not: a tie


def test_unnamed_the_only_rater_counts_then_the_majority(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    assert reports.rule_of(session, study).name == f"rater {rater.name}"
    judgments.judge(session, second_rater, rated_run, 2, 1, NO, click("b2"))

    assert reports.rule_of(session, study).name == "majority"
    assert reports.rule_of(session, study, "rater Budi").rater is second_rater
    with pytest.raises(UnknownRater):
        reports.rule_of(session, study, "rater Nobody")
    with pytest.raises(UnknownRule):
        reports.rule_of(session, study, "best of three")


def test_how_far_a_run_is_rated_follows_the_rule(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    """The first rater left the card of question 4 open, which the second one's vote decides."""
    in_run = Query.run_id == rated_run
    of_rater = reports.state(session, study, in_run, reports.of_rater(rater))
    together = RunProgress.together(
        stored_summaries.by_category(session, rater.id, rated_run).values()
    )
    assert of_rater.cards + of_rater.lists == together.open_judgments
    assert of_rater.answers == together.totals.n_unrated

    second = studies.add_rater(session, study, "Second", NOW)
    judgments.judge(session, second, rated_run, 4, 1, YES, click("second"))
    merged = reports.state(session, study, in_run, Rule("majority"))

    assert (of_rater.complete, of_rater.cards, of_rater.stage) == (3, 1, "rating")
    assert (merged.complete, merged.cards, merged.lists) == (4, 0, 0)
    assert merged.stage == "waiting"
    assert "Second" in merged.behind


def test_a_run_is_complete_only_once_ties_are_decided_and_answers_graded(
    session: Session, study: Study, rater: Rater
) -> None:
    """Two raters contradict each other on the only card; then it is decided, then graded."""
    run_id = store(session, study, run(query(1, card("a")))).id
    second = studies.add_rater(session, study, "Second", NOW)
    in_run = Query.run_id == run_id

    def stages() -> tuple[str, str, int]:
        merged, decided = (
            reports.state(session, study, in_run, Rule(name))
            for name in ("majority", "adjudicated")
        )
        return merged.stage, decided.stage, decided.ties

    assert stages() == ("rating", "rating", 0)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("a"))
    assert stages() == ("waiting", "waiting", 0)
    judgments.judge(session, second, run_id, 1, 1, NO, click("b"))
    for name, given_by in (("c", rater), ("d", second)):
        judgments.rate(session, given_by, run_id, 1, AnswerRating(quality=4), click(name))
    assert stages() == ("ties", "ties", 1)
    (dispute,) = adjudications.docket(session, study).ties
    adjudications.adjudicate(session, rater, dispute.item_id, "1", "a reason", NOW)
    assert stages() == ("rule", "complete", 0)  # a majority leaves open what was decided


def test_an_owner_who_only_organises_holds_nothing_up(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = store(session, study, run(query(1, card("a")))).id
    in_run = Query.run_id == run_id
    second = studies.add_rater(session, study, "Second", NOW)
    rule = reports.final_rule(session, study)
    assert {*reports.state(session, study, in_run, rule).behind} == {rater.name, "Second"}

    judgments.judge(session, second, run_id, 1, 1, YES, click("a"))
    judgments.rate(session, second, run_id, 1, AnswerRating(quality=4), click("b"))

    assert reports.state(session, study, in_run, rule).is_complete


@pytest.mark.parametrize(
    ("cast", "provenance"),
    [
        (["1"], Provenance.UNANIMOUS),
        (["1", "unsure"], Provenance.UNANIMOUS),  # "cannot tell" does not vote
        (["unsure", "unsure"], Provenance.UNANIMOUS),
        (["0", "1", "0"], Provenance.MAJORITY),
        (["0", "1"], Provenance.OPEN),
        (["0", "1", "unsure"], Provenance.OPEN),
        ([], Provenance.OPEN),
    ],
)
def test_votes_say_where_a_label_comes_from(cast: list[str], provenance: Provenance) -> None:
    assert votes.provenance(cast) is provenance
    assert votes.provenance(cast, adjudicated=True) is Provenance.ADJUDICATED


@pytest.mark.parametrize(
    ("cast", "lead"),
    [
        ([], Fraction(0)),
        (["unsure"], Fraction(0)),
        (["1"], Fraction(1)),
        (["1", "0", "1", "0"], Fraction(0)),
        (["1", "1", "1", "0", "unsure"], Fraction(1, 2)),  # (3 - 1) / 4
    ],
)
def test_the_margin_is_a_share_of_the_decided_votes(cast: list[str], lead: Fraction) -> None:
    assert margin(cast) == lead
