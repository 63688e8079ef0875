"""A sample of a question set is drawn before anybody judges, followed, and ended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.planning import RuleKind, RuleOutcome, SampledQuestion
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.exporters.planning import samples as sample_words
from relevansi.i18n import speaking
from relevansi.metrics.planning.power import RatingPlanWish
from relevansi.metrics.planning.sampling import QuestionSample
from relevansi.services.judging import judgments
from relevansi.services.planning import samples
from relevansi.services.planning.samples import ChosenTooLate, NoRule, NotAPair, SampleTooSmall
from relevansi.services.study.question_sets import unasked
from tests.conftest import NOW
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import NO, YES, card, click, query

LATER = NOW + timedelta(hours=1)
SIZE = 12


@pytest.fixture(name="runs")
def _runs(session: Session, study: Study) -> Mapping[str, str]:
    """Two runs of 12 questions with a card each; every third question is of category "b"."""
    result = {}
    for method in ("api", "hybrid"):
        queries = [
            query(
                n, card(f"{method}{n}"), text=f"Question {n}", category="b" if n % 3 == 0 else "a"
            )
            for n in range(1, SIZE + 1)
        ]
        result[method] = stored(session, study, method, *queries)
    return result


@pytest.fixture(name="question_set")
def _question_set(session: Session, study: Study, runs: Mapping[str, str]) -> QuestionSet:
    assert runs
    (question_set,) = samples.question_sets(session, study)
    return question_set


def judge(session: Session, rater: Rater, runs: Mapping[str, str], position: int) -> None:
    for method, verdict in (("api", YES), ("hybrid", NO)):
        name = click(f"{method}{position}")
        judgments.judge(session, rater, runs[method], position, 1, verdict, name)


def current_sample(session: Session, study: Study, question_set: QuestionSet) -> QuestionSample:
    result = samples.sample_of_set(session, study, question_set)
    assert result is not None
    return result


def positions(session: Session, rule_id: int) -> list[int]:
    rows = select(Question.position).join(
        SampledQuestion, SampledQuestion.question_id == Question.id
    )
    drawn = rows.where(SampledQuestion.rule_id == rule_id)
    return list(session.scalars(drawn.order_by(SampledQuestion.position)))


def test_a_fixed_sample_has_its_figures_when_all_of_it_is_rated(
    session: Session, study: Study, rater: Rater, question_set: QuestionSet, runs: Mapping[str, str]
) -> None:
    rule = samples.draw_sample(session, rater, question_set, 4, NOW, seed=7)
    drawn = positions(session, rule.id)
    judge(session, rater, runs, drawn[0])
    result = current_sample(session, study, question_set)
    assert (result.rated, result.drawn, result.figures) == (1, 4, ())

    for position in drawn[1:]:
        judge(session, rater, runs, position)

    result = current_sample(session, study, question_set)
    assert result.rated == result.drawn
    (apart,) = (
        figure.mean
        for figure in result.figures
        if figure.figure == "mean_precision_at_5" and len(figure.runs) == 2
    )
    assert (apart.value, apart.values, apart.drawn, apart.of) == (1.0, 4, 4, SIZE)
    assert (result.rule.seed, result.rule.beforehand) == (7, True)


def test_a_sample_drawn_by_category_in_an_earlier_version_shows_values_without_intervals(
    session: Session, study: Study, rater: Rater, question_set: QuestionSet, runs: Mapping[str, str]
) -> None:
    rule = samples.draw_sample(session, rater, question_set, 3, NOW, seed=7)
    rule.settings = {"size": 3, "stratified": True}
    for position in positions(session, rule.id):
        judge(session, rater, runs, position)

    result = current_sample(session, study, question_set)
    assert result.figures
    assert {figure.mean.interval.lower for figure in result.figures} == {None}
    with speaking("en"):
        assert len(sample_words.section(result).sentences) == 3  # why there is no interval


def test_a_sample_that_grew_keeps_what_it_drew_and_shows_values_without_intervals(
    session: Session, study: Study, rater: Rater, question_set: QuestionSet, runs: Mapping[str, str]
) -> None:
    rule = samples.draw_sample(session, rater, question_set, 4, NOW, kind=RuleKind.SEQUENCE, seed=7)
    drawn = positions(session, rule.id)
    for position in (*drawn[:2], drawn[3]):  # not the third: what was rated had no gaps
        judge(session, rater, runs, position)
    samples.end_rule(session, study, question_set, LATER).outcome = RuleOutcome.RETIRED
    session.flush()

    result = current_sample(session, study, question_set)
    assert len(unasked(session, study.id)) == SIZE - 4
    assert (result.rated, result.drawn) == (3, 4)
    (apart,) = (
        figure.mean for figure in result.figures if figure.figure == "mrr" and len(figure.runs) == 2
    )
    assert (apart.value, apart.interval.lower, apart.values, apart.of) == (1.0, None, 2, SIZE)
    with speaking("en"):
        section = sample_words.section(result)
    assert len(section.sentences) == 3  # why there is no interval
    assert section.tables[0].rows


def test_a_closed_sample_leaves_the_rest_unasked_and_one_stopped_early_does_not(
    session: Session, study: Study, rater: Rater, question_set: QuestionSet, runs: Mapping[str, str]
) -> None:
    samples.draw_sample(session, rater, question_set, 2, NOW)
    samples.end_rule(session, study, question_set, LATER)
    assert unasked(session, study.id) == frozenset()
    assert samples.sample_of_set(session, study, question_set) is None

    rule = samples.draw_sample(session, rater, question_set, 2, NOW, seed=7)
    for position in positions(session, rule.id):
        judge(session, rater, runs, position)
    samples.end_rule(session, study, question_set, LATER)

    assert (rule.outcome, rule.verdicts_at_end) == ("reached", 4)
    assert len(unasked(session, study.id)) == SIZE - 2
    assert samples.sample_of_set(session, study, question_set) is not None


def test_impossible_samples_are_refused(
    session: Session, study: Study, rater: Rater, question_set: QuestionSet, runs: Mapping[str, str]
) -> None:
    for size in (1, SIZE + 1):
        with pytest.raises(SampleTooSmall):
            samples.draw_sample(session, rater, question_set, size, NOW)
    judge(session, rater, runs, 1)
    with pytest.raises(ChosenTooLate):
        samples.draw_sample(session, rater, question_set, 4, NOW)
    samples.draw_sample(session, rater, question_set, 4, NOW, kind=RuleKind.MACHINE_HELP)
    assert unasked(session, study.id) == frozenset()  # drawn after a verdict


def test_a_rule_is_chosen_replaced_and_ended_and_each_is_logged(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")), query(2, card("b")))
    (question_set,) = samples.question_sets(session, study)
    assert samples.in_force(session, question_set.id) is None

    samples.draw_sample(session, rater, question_set, 2, NOW, seed=7)
    chosen = samples.draw_sample(session, rater, question_set, 2, LATER, kind=RuleKind.MACHINE_HELP)

    first, second = samples.rules_of(session, question_set.id)
    assert (first.kind, first.settings, first.seed) == ("fixed", {"size": 2}, 7)
    assert (first.verdicts_before, first.chosen_at) == (0, NOW)
    assert (first.ended_at, first.outcome, first.verdicts_at_end) == (LATER, "replaced", 0)
    assert samples.in_force(session, question_set.id) is chosen
    assert first.seed != second.seed  # drawn

    judgments.judge(session, rater, run_id, 1, 1, YES, click("first"))
    ended = samples.end_rule(session, study, question_set, LATER)
    assert (ended.ended_at, ended.outcome, ended.verdicts_at_end) == (LATER, "stopped", 1)
    with pytest.raises(NoRule):
        samples.end_rule(session, study, question_set, LATER)
    logged = session.scalars(select(LogEntry).where(LogEntry.action == "set rating rule")).all()
    assert [(entry.old, entry.new) for entry in logged] == [
        (None, "fixed"),
        ("fixed", "machine_help"),
        ("machine_help", None),
    ]
    assert logged[0].subject.endswith("seed 7")


def test_after_a_verdict_of_people_on_its_set_only_a_machines_help_can_be_chosen(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")), query(2, card("b")))
    others = [query(n, card("a"), text=f"Something else {n}") for n in (1, 2)]
    other_run_id = stored(session, study, "hybrid", *others)
    machine = Rater(study=study, name="judge", is_machine=True, created_at=NOW)
    session.add(machine)
    session.flush()
    first, second = samples.question_sets(session, study)
    judgments.judge(session, machine, run_id, 1, 1, YES, click("machine"))
    judgments.judge(session, rater, other_run_id, 1, 1, YES, click("elsewhere"))
    assert samples.draw_sample(session, rater, first, 2, NOW).verdicts_before == 0

    with pytest.raises(ChosenTooLate):
        samples.draw_sample(session, rater, second, 2, LATER)
    late = samples.draw_sample(session, rater, second, 2, LATER, kind=RuleKind.MACHINE_HELP)
    assert late.verdicts_before == 1


def test_a_rule_follows_its_questions_into_a_larger_set(
    session: Session, study: Study, rater: Rater
) -> None:
    stored(session, study, "hybrid", query(1, card("a")))
    later = [query(n - 1, card(f"b{n}"), text=f"Question {n}") for n in (2, 3)]
    stored(session, study, "hybrid", *later)
    _, second = samples.question_sets(session, study)
    samples.draw_sample(session, rater, second, 2, NOW)

    stored(session, study, "api_only", *(query(n, card(f"b{n}")) for n in (1, 2, 3)))

    (larger,) = samples.question_sets(session, study)
    rule = samples.in_force(session, larger.id)
    assert rule is not None
    assert rule.kind == "fixed"


WISH = RatingPlanWish("mean_precision_at_5", 0.5)


@pytest.fixture(name="three")
def _three(session: Session, study: Study, rater: Rater) -> tuple[str, str, str]:
    verdicts_of_runs = {"api": (YES, NO, YES), "hybrid": (NO, NO, NO), "vector": (NO, YES, NO)}
    result = []
    for method, verdicts in verdicts_of_runs.items():
        queries = [query(n, card(f"{method}{n}"), text=f"Question {n}") for n in (1, 2, 3)]
        run_id = stored(session, study, method, *queries)
        for n, verdict in enumerate(verdicts, 1):
            judgments.judge(session, rater, run_id, n, 1, verdict, click(f"{method}{n}"))
        result.append(run_id)
    return result[0], result[1], result[2]


def test_the_pair_that_varies_most_or_a_named_one_gives_the_deviation(
    session: Session, study: Study, three: tuple[str, str, str]
) -> None:
    api, hybrid, _ = three
    (question_set,) = samples.question_sets(session, study)
    result = samples.rating_plan(session, study, question_set, WISH)
    of_pair = samples.rating_plan(session, study, question_set, WISH, pair=(hybrid, api))

    # api - vector: 1, -1, 1, from their mean 1/3: 2/3, -4/3, 2/3; sqrt(24/9 / 2).
    assert result.mixed is not None
    assert result.mixed.n == 3
    assert result.mixed.lost == pytest.approx(1 / 3)
    assert result.wish.demand.level == pytest.approx(0.05 / 3)  # of the phase's three pairs
    assert result.deviation == pytest.approx((4 / 3) ** 0.5)
    assert result.effort is not None
    assert (result.has, result.effort.judged_items, result.effort.answers) == (3, 3.0, 3.0)
    assert of_pair.mixed is not None
    assert (of_pair.mixed.lost, of_pair.mixed.sizes) == (0, (1.0, 1.0))  # 1, 0, 1
    for pair in ((api, api), (api, "none")):
        with pytest.raises(NotAPair):
            samples.rating_plan(session, study, question_set, WISH, pair=pair)


def test_the_work_counts_raters_overlap_and_pace(
    session: Session, study: Study, three: tuple[str, str, str]
) -> None:
    assert three
    (question_set,) = samples.question_sets(session, study)
    alone = samples.effort(session, study, question_set)
    assert (alone.raters, alone.times) == (1, 1)

    session.add(Rater(study=study, name="Budi", created_at=NOW + timedelta(hours=1)))
    session.add(Rater(study=study, name="Citra", created_at=NOW + timedelta(hours=1)))
    study.overlap = 2
    session.flush()

    shared = samples.effort(session, study, question_set)
    assert (shared.raters, shared.times) == (3, 2)
    assert shared.verdicts(10) == 60  # 10 x 3 things x 2
    assert samples.effort(session, study, question_set, raters=1).times == 1
