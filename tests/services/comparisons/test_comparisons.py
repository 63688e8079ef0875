"""Runs compared under each rule: one verdict serves them all, and every other rule is tried."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.comparisons.stored_runs import judge, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.comparisons.stability import VariedPart
from webapp.records import Relevance
from webapp.services.agreement import adjudications
from webapp.services.comparisons import comparisons
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
QUICK = Resampling(resamples=200)


@pytest.fixture(name="pair")
def _pair(session: Session, study: Study, rater: Rater) -> tuple[str, str]:
    """Two runs of two questions; "same" is in both lists of the first one."""
    first = stored(session, study, "api", query(1, card("same"), card("a")), query(2, card("b")))
    second = stored(session, study, "hybrid", query(1, card("c"), card("same")), query(2))
    judge(session, rater, first, "10", "1")
    judge(session, rater, second, "0")
    return first, second


def test_a_verdict_serves_every_run_that_showed_the_property(
    session: Session, study: Study, pair: tuple[str, str]
) -> None:
    report = comparisons.report(
        session, study, pair, reports.rule_of(session, study), settings=QUICK
    )

    found = report.comparison
    assert [contender.run.name for contender in found.contenders] == ["api", "Hybrid"]
    first, second = found.contenders
    assert first.estimates["mean_precision_at_5"].figure.value == 0.75  # (1/2 + 1/1) / 2
    assert second.estimates["mean_precision_at_5"].figure.value == 0.5  # "same" came along
    assert second.missing.incomplete == (2,)  # its empty list is not classified
    assert [judgments for _, judgments in report.raters] == [4]  # same, a, b, c
    assert report.judged_until == NOW


def test_each_rater_is_left_out_and_every_other_rule_tried(
    session: Session, study: Study, rater: Rater, pair: tuple[str, str]
) -> None:
    owner = reports.of_rater(rater)
    alone = comparisons.report(session, study, pair, Rule("majority"), settings=QUICK)
    assert VariedPart.RATER not in {line.change for line in alone.stability.lines}

    ani = studies.add_rater(session, study, "Ani", NOW)
    judge(session, ani, pair[0], "01", "0")
    judge(session, ani, pair[1], "1")
    merged = comparisons.report(session, study, pair, Rule("majority"), settings=QUICK)
    own = comparisons.report(session, study, pair, owner, settings=QUICK)

    left_out = [line for line in merged.stability.lines if line.change is VariedPart.RATER]
    assert {(line.figure, line.tried) for line in left_out} >= {("mrr", 2)}
    # MRR: the owner has api 1, hybrid 1/2; Ani api 1/4, hybrid 1. Merged, all is a tie.
    (rules,) = [
        line
        for line in own.stability.lines
        if line.change is VariedPart.RULE and line.figure == "mrr"
    ]
    assert [moved.what for moved in rules.moved] == ["rater Ani"]
    assert rules.tried == 1


def test_an_adjudicated_verdict_counts_in_every_run(
    session: Session, study: Study, rater: Rater, pair: tuple[str, str]
) -> None:
    ani = studies.add_rater(session, study, "Ani", NOW)
    judge(session, ani, pair[0], "01", "0")
    same = next(
        dispute
        for dispute in adjudications.docket(session, study).open
        if dispute.card is not None and dispute.card.slug == "same"
    )
    adjudications.adjudicate(session, rater, same.thing_id, YES, "It is.", NOW)

    merged = comparisons.report(session, study, pair, Rule("adjudicated"), settings=QUICK)

    verdicts = [c.run.queries[0].verdicts for c in merged.comparison.contenders]
    assert verdicts == [(YES, None), (NO, YES)]
