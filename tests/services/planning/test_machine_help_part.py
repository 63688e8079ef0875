"""A comparison has people with a machine's help apart from people's figures, and names its rule."""

from __future__ import annotations

import json

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.planning.helped import drawn, judge, machine, study_of_two_runs
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.exporters.comparisons.files import FORMATS
from webapp.exporters.comparisons.json_file import comparison_json
from webapp.i18n import speaking
from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.metrics.comparisons.significance import Resampling
from webapp.services.comparisons import comparisons
from webapp.services.runs import reports

BY_MACHINE = {1: "11", 2: "10", 3: "00", 4: "11", 5: "10", 6: "11", 7: "00", 8: "01"}
BY_PEOPLE = {1: "11", 2: "10", 3: "01", 4: "11"}


def judged(session: Session, study: Study, owner: Rater, *, sample: bool) -> tuple[Run, Run]:
    runs = study_of_two_runs(session, study)
    if sample:
        drawn(session, owner, runs[0])
    mesin = machine(session, study)
    for run in runs:
        judge(session, mesin, run, BY_MACHINE)
        judge(session, owner, run, BY_PEOPLE)
    return runs


def report(session: Session, study: Study, runs: tuple[Run, ...]) -> ComparisonReport:
    rule = reports.rule_of(session, study)
    few = Resampling(resamples=100)
    return comparisons.report(session, study, [run.id for run in runs], rule, settings=few)


def test_the_report_has_the_help_with_rule_size_seed_and_day_in_every_format(
    session: Session, study: Study, rater: Rater
) -> None:
    found = report(session, study, judged(session, study, rater, sample=True))

    document = comparison_json(found)
    helped = document["machine_help"]
    assert {key: helped["rule"][key] for key in ("kind", "seed", "n", "of", "verdicts_before")} == {
        "kind": "machine_help",
        "seed": 1936,
        "n": 4,
        "of": 8,
        "verdicts_before": 0,
    }
    assert helped["rule"]["chosen_at"] == NOW.isoformat()
    # People's own figures are those of the four questions they judged, without the machine.
    own = document["runs"][0]["figures"]["mean_precision_at_5"]
    assert (own["value"], own["n"]) == (0.75, 4)
    assert helped["figures"][0]["value"] != own["value"]
    with speaking("en"):
        for name in ("markdown", "html", "latex"):
            text = FORMATS[name].render(found, NOW.date()).decode()
            assert "seed 1936." in text, name
            assert "It drew 4 of 8 questions at random." in text, name
            assert "chosen before the first verdict" in text, name
        assert json.loads(FORMATS["json"].render(found, NOW.date()))["machine_help"]["valid"]


def test_without_a_sample_a_comparison_leaves_the_machine_out(
    session: Session, study: Study, rater: Rater
) -> None:
    found = report(session, study, judged(session, study, rater, sample=False))

    assert comparison_json(found)["machine_help"] is None
    with speaking("en"):
        assert b"Mesin" not in FORMATS["markdown"].render(found, NOW.date())


@pytest.mark.parametrize("sample", [True, False])
def test_the_settled_orders_stand_beside_it_under_their_own_name(
    session: Session, study: Study, rater: Rater, sample: bool
) -> None:
    found = report(session, study, judged(session, study, rater, sample=sample))

    orders = comparison_json(found)["settled"]
    # Two cards of two runs in 8 questions, or in the 4 that were drawn.
    assert {one["of"] for one in orders} == {16 if sample else 32}
    assert {one["judged"] for one in orders} == {16}
    assert {one["rule"] for one in orders} == {None}
