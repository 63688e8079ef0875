from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import NO, YES, card, click, query
from webapp.db.tables.people import Rater
from webapp.db.tables.planning import SampledQuestion
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.exporters.planning import samples as sample_words
from webapp.i18n import speaking
from webapp.services.judging import events
from webapp.services.planning import samples
from webapp.services.planning.samples import (
    ChosenTooLate,
    NoRule,
    RuleKind,
    RuleOutcome,
    SampleIsFixed,
    SampleTooSmall,
    SampleWish,
)
from webapp.services.study.question_sets import unasked

LATER = NOW + timedelta(hours=1)
SIZE = 12


@pytest.fixture(name="runs")
def _runs(session: Session, study: Study) -> Mapping[str, str]:
    """Two runs of 12 questions with a card each; every third question is of category "b"."""
    found = {}
    for method in ("api", "hybrid"):
        queries = [
            query(
                n, card(f"{method}{n}"), text=f"Question {n}", category="b" if n % 3 == 0 else "a"
            )
            for n in range(1, SIZE + 1)
        ]
        found[method] = stored(session, study, method, *queries)
    return found


@pytest.fixture(name="whole")
def _whole(session: Session, study: Study, runs: Mapping[str, str]) -> QuestionSet:
    assert runs
    (one,) = samples.question_sets(session, study)
    return one


def judge(session: Session, rater: Rater, runs: Mapping[str, str], position: int) -> None:
    for method, verdict in (("api", YES), ("hybrid", NO)):
        name = click(f"{method}{position}")
        events.judge(session, rater, runs[method], position, 1, verdict, name)


def positions(session: Session, rule_id: int) -> list[int]:
    rows = select(Question.position).join(
        SampledQuestion, SampledQuestion.question_id == Question.id
    )
    drawn = rows.where(SampledQuestion.rule_id == rule_id)
    return list(session.scalars(drawn.order_by(SampledQuestion.position)))


def test_a_fixed_sample_has_its_figures_when_all_of_it_is_rated(
    session: Session, study: Study, rater: Rater, whole: QuestionSet, runs: Mapping[str, str]
) -> None:
    rule = samples.draw(session, rater, whole, SampleWish(4, seed=7), NOW)
    drawn = positions(session, rule.id)
    judge(session, rater, runs, drawn[0])
    found = samples.of_set(session, study, whole)
    assert found is not None
    assert (found.rated, found.drawn, found.figures) == (1, 4, ())

    for position in drawn[1:]:
        judge(session, rater, runs, position)

    found = samples.of_set(session, study, whole)
    assert found is not None
    assert found.rated == found.drawn
    (apart,) = (
        one.found
        for one in found.figures
        if one.figure == "mean_precision_at_5" and len(one.runs) == 2
    )
    assert (apart.value, apart.values, apart.drawn, apart.of) == (1.0, 4, 4, SIZE)
    assert (found.rule.seed, found.rule.beforehand) == (7, True)


def test_strata_get_their_shares_and_a_category_is_added_before_the_first_verdict(
    session: Session, rater: Rater, whole: QuestionSet, runs: Mapping[str, str]
) -> None:
    rule = samples.draw(session, rater, whole, SampleWish(3, stratified=True, seed=7), NOW)
    assert sum(position % 3 == 0 for position in positions(session, rule.id)) == 1  # 3 x 4 / 12

    samples.extend(session, whole, 2, "b")

    drawn = positions(session, rule.id)
    assert (len(drawn), sum(position % 3 == 0 for position in drawn)) == (5, 3)
    assert rule.settings["size"] == 5

    judge(session, rater, runs, drawn[0])
    with pytest.raises(SampleIsFixed):
        samples.extend(session, whole, 1)


def test_a_sample_that_grew_keeps_what_it_drew_and_shows_values_without_intervals(
    session: Session, study: Study, rater: Rater, whole: QuestionSet, runs: Mapping[str, str]
) -> None:
    wish = SampleWish(4, RuleKind.SEQUENCE, seed=7)
    rule = samples.draw(session, rater, whole, wish, NOW)
    drawn = positions(session, rule.id)
    for position in (*drawn[:2], drawn[3]):  # not the third: what was rated had no gaps
        judge(session, rater, runs, position)
    samples.end(session, whole.id, LATER, RuleOutcome.RETIRED)

    found = samples.of_set(session, study, whole)

    assert found is not None
    assert len(unasked(session, study.id)) == SIZE - 4
    assert (found.rated, found.drawn, found.settings) == (3, 4, None)
    (apart,) = (one.found for one in found.figures if one.figure == "mrr" and len(one.runs) == 2)
    assert (apart.value, apart.interval.lower, apart.values, apart.of) == (1.0, None, 2, SIZE)
    with speaking("en"):
        section = sample_words.section(found)
    assert len(section.sentences) == 3  # why there is no interval
    assert section.tables[0].rows
    assert sample_words.part_json(found)["interval"] is None


def test_a_closed_sample_leaves_the_rest_unasked_and_one_stopped_early_does_not(
    session: Session, study: Study, rater: Rater, whole: QuestionSet, runs: Mapping[str, str]
) -> None:
    samples.draw(session, rater, whole, SampleWish(2), NOW)
    samples.finish(session, study, whole, LATER)
    assert unasked(session, study.id) == frozenset()
    assert samples.of_set(session, study, whole) is None

    rule = samples.draw(session, rater, whole, SampleWish(2, seed=7), NOW)
    for position in positions(session, rule.id):
        judge(session, rater, runs, position)
    samples.finish(session, study, whole, LATER)

    assert (rule.outcome, rule.verdicts_at_end) == ("reached", 4)
    assert len(unasked(session, study.id)) == SIZE - 2
    assert samples.of_set(session, study, whole) is not None


def test_impossible_samples_are_refused(
    session: Session, study: Study, rater: Rater, whole: QuestionSet, runs: Mapping[str, str]
) -> None:
    for size in (1, SIZE + 1):
        with pytest.raises(SampleTooSmall):
            samples.draw(session, rater, whole, SampleWish(size), NOW)
    with pytest.raises(NoRule):
        samples.extend(session, whole, 1)
    judge(session, rater, runs, 1)
    with pytest.raises(ChosenTooLate):
        samples.draw(session, rater, whole, SampleWish(4), NOW)
    samples.draw(session, rater, whole, SampleWish(4, RuleKind.MACHINE_HELP), NOW)
    assert unasked(session, study.id) == frozenset()  # drawn after a verdict
