"""What a machine's verdicts add to the figures that people's verdicts give."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.planning import PlanningRule
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons.files import FORMATS, comparison_json
from relevansi.i18n import speaking
from relevansi.metrics.planning.assisted import HelpedFigure, MachineHelp, Unassisted, assisted_mean
from relevansi.services.comparisons import comparisons
from relevansi.services.planning import machine_help
from relevansi.services.runs import reports
from tests.conftest import NOW
from tests.services.planning.helped import (
    BY_MACHINE,
    BY_PEOPLE,
    SAMPLE,
    SEED,
    drawn,
    judge,
    machine,
    study_of_two_runs,
)
from tests.services.rating.blind_raters import set_study

TwoRuns: TypeAlias = tuple[Run, Run]


def help_of(
    session: Session, study: Study, runs: tuple[Run, ...], machine_rater: Rater
) -> MachineHelp:
    rule = reports.rule_of(session, study)
    return machine_help.of_runs(session, study, runs, rule, machine_rater)


def figure_of(help_: MachineHelp, name: str, second: str | None = None) -> HelpedFigure:
    first, *_ = (
        figure for figure in help_.figures if figure.figure == name and figure.second == second
    )
    return first


@pytest.fixture(name="runs")
def _runs(session: Session, study: Study) -> TwoRuns:
    return study_of_two_runs(session, study)


@pytest.fixture(name="mesin")
def _mesin(session: Session, study: Study) -> Rater:
    return machine(session, study)


@pytest.fixture(name="sample")
def _sample(session: Session, rater: Rater, runs: TwoRuns) -> PlanningRule:
    return drawn(session, rater, runs[0])


@pytest.mark.usefixtures("sample")
class TestSampleDrawnBeforehand:
    def test_values_are_those_of_people_and_machine_by_question(
        self, session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
    ) -> None:
        judge(session, mesin, runs[0], BY_MACHINE)
        judge(session, rater, runs[0], BY_PEOPLE)

        help_ = help_of(session, study, runs, mesin)

        # P@5 of two cards: people 1, 1/2, 1/2, 1; the machine 1, 1/2, 0, 1 and 1/2, 1, 0, 1/2.
        precision = figure_of(help_, "mean_precision_at_5").mean
        assert precision == assisted_mean([1, 0.5, 0.5, 1], [1, 0.5, 0, 1], [0.5, 1, 0, 0.5])
        # RR: people 1, 1, 1/2, 1; the machine 1, 1, 0, 1 and 1, 1, 0, 1/2.
        rank = figure_of(help_, "mrr").mean
        assert rank == assisted_mean([1, 1, 0.5, 1], [1, 1, 0, 1], [1, 1, 0, 0.5])
        # Success: people all 1; the machine 1, 1, 0, 1 and 1, 1, 0, 1.
        success = figure_of(help_, "success_rate").mean
        assert success == assisted_mean([1, 1, 1, 1], [1, 1, 0, 1], [1, 1, 0, 1])
        assert help_.is_valid
        assert help_.sampling is not None
        assert help_.sampling.sample == SAMPLE
        assert (help_.sampling.of, help_.sampling.seed) == (8, SEED)

    def test_a_difference_is_of_both_runs_question_by_question(
        self, session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
    ) -> None:
        first, second = runs
        by_machine = dict.fromkeys(range(1, 9), "10")
        by_people = {1: "10", 2: "11", 3: "00", 4: "10"}
        for run, by_mesin, by_rater in (
            (first, BY_MACHINE, BY_PEOPLE),
            (second, by_machine, by_people),
        ):
            judge(session, mesin, run, by_mesin)
            judge(session, rater, run, by_rater)

        help_ = help_of(session, study, runs, mesin)

        # People 1 - 1/2, 1/2 - 1, 1/2 - 0, 1 - 1/2; the machine's values less 1/2.
        difference = figure_of(help_, "mean_precision_at_5", second.id).mean
        assert difference == assisted_mean(
            [0.5, -0.5, 0.5, 0.5], [0.5, 0, -0.5, 0.5], [0, 0.5, -0.5, 0], is_difference=True
        )

    def test_people_beyond_the_sample_and_unfinished_questions_are_not_counted(
        self, session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
    ) -> None:
        judge(session, mesin, runs[0], BY_MACHINE)
        judge(session, rater, runs[0], {**BY_PEOPLE, 4: "1-", 8: "11"})

        help_ = help_of(session, study, runs, mesin)

        precision = figure_of(help_, "mean_precision_at_5")
        assert precision.mean == assisted_mean([1, 0.5, 0.5], [1, 0.5, 0], [0.5, 1, 0, 0.5])
        assert precision.waiting == 1

    def test_a_machine_with_cards_left_helps_nothing_yet(
        self, session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
    ) -> None:
        judge(session, mesin, runs[0], {**BY_MACHINE, 8: "0-"})
        judge(session, rater, runs[0], BY_PEOPLE)

        help_ = help_of(session, study, runs[:1], mesin)

        precision = figure_of(help_, "mean_precision_at_5").mean
        assert precision.why is Unassisted.MACHINE_OPEN
        assert precision.alone is not None
        assert (help_.machine_open, help_.questions) == (1, 8)

    def test_where_the_machine_cannot_tell_it_has_its_own_mean(
        self, session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
    ) -> None:
        set_study(session, study, cannot_tell="left_out")
        judge(session, mesin, runs[0], {**BY_MACHINE, 7: "??"})
        judge(session, rater, runs[0], BY_PEOPLE)

        precision = figure_of(help_of(session, study, runs, mesin), "mean_precision_at_5").mean

        # 1, 1/2, 0, 1, 1/2, 1 and 1/2 are 9/2 over seven questions.
        assert precision == assisted_mean([1, 0.5, 0.5, 1], [1, 0.5, 0, 1], [0.5, 1, 9 / 14, 0.5])


def test_without_a_sample_the_judged_questions_stand_for_one_and_are_not_valid(
    session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
) -> None:
    judge(session, mesin, runs[0], BY_MACHINE)
    judge(session, rater, runs[0], BY_PEOPLE)

    help_ = help_of(session, study, runs, mesin)

    precision = figure_of(help_, "mean_precision_at_5").mean
    assert precision == assisted_mean([1, 0.5, 0.5, 1], [1, 0.5, 0, 1], [0.5, 1, 0, 0.5])
    assert (help_.is_valid, help_.sampling) == (False, None)


def test_a_sample_drawn_after_verdicts_is_called_not_valid(
    session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
) -> None:
    judge(session, rater, runs[0], BY_PEOPLE)
    judge(session, mesin, runs[0], BY_MACHINE)
    drawn(session, rater, runs[0])

    help_ = help_of(session, study, runs, mesin)

    assert not help_.is_valid
    assert help_.sampling is not None
    assert help_.sampling.verdicts_before == 8


def test_an_empty_list_counts_for_success_and_the_machine_adds_nothing_there(
    session: Session, study: Study, rated_run: str, mesin: Rater
) -> None:
    run = session.get_one(Run, rated_run)
    judge(session, mesin, run, {1: "111", 2: "00", 4: "1"})

    success = figure_of(help_of(session, study, (run,), mesin), "success_rate").mean

    # People: 1, 1, 0 (false negative), question 4 open. Machine: 1, 0, its mean 2/3, and 1.
    assert success == assisted_mean([1, 1, 0], [1, 0, 2 / 3], [1])


def test_machines_are_listed_by_what_they_judged(
    session: Session, study: Study, runs: TwoRuns
) -> None:
    machine(session, study, "Idle")
    little, much = machine(session, study, "Little"), machine(session, study, "Much")
    judge(session, little, runs[0], {1: "1"})
    judge(session, much, runs[0], BY_MACHINE)

    assert machine_help.machines(session, study, runs) == [much, little]


def test_neither_enters_the_figures_of_the_other(
    session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater
) -> None:
    judge(session, rater, runs[0], BY_PEOPLE)
    rule = reports.rule_of(session, study)
    before = reports.report(session, study, runs[0].id, rule)

    judge(session, mesin, runs[0], BY_MACHINE)

    assert reports.report(session, study, runs[0].id, rule) == before


@pytest.mark.parametrize("sample", [True, False])
def test_a_comparison_has_the_help_apart_from_peoples_figures_where_a_sample_was_drawn(
    session: Session, study: Study, rater: Rater, runs: TwoRuns, mesin: Rater, sample: bool
) -> None:
    if sample:
        drawn(session, rater, runs[0])
    for run in runs:
        judge(session, mesin, run, BY_MACHINE)
        judge(session, rater, run, BY_PEOPLE)
    rule = reports.rule_of(session, study)

    report = comparisons.report(session, study, [run.id for run in runs], rule)

    document = comparison_json(report)
    # Two cards of two runs in 8 questions, or in the 4 that were drawn.
    assert {(order["of"], order["judged"]) for order in document["settled"]} == {
        (16 if sample else 32, 16)
    }
    with speaking("en"):
        text = FORMATS["markdown"].render(report, NOW.date()).decode()
    helped = document["machine_help"]
    assert (helped is not None, "Mesin" in text, "seed 1936." in text) == (sample, sample, sample)
    if helped:
        assert (helped["rule"]["seed"], helped["rule"]["n"], helped["rule"]["of"]) == (1936, 4, 8)
        # People's own figures are those of the four questions they judged, without the machine.
        of_people = document["runs"][0]["figures"]["mean_precision_at_5"]
        assert (of_people["value"], of_people["n"]) == (0.75, 4)
        assert helped["figures"][0]["value"] != of_people["value"]
