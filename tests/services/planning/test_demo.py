"""A machine helps on a sample of the demo's study."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.demo import study_of
from webapp.services.comparisons import chosen_runs
from webapp.services.planning import machine_help
from webapp.services.runs import reports, runs


def test_a_machine_helps_on_a_sample_that_was_drawn_before_people_judged(
    demo_session: Session,
) -> None:
    study = study_of(demo_session)
    ids = chosen_runs.of_phase(demo_session, study, 1)
    compared = [runs.find(demo_session, study, one) for one in ids]
    machine, *_ = machine_help.machines(demo_session, study, compared)
    rule = reports.rule_of(demo_session, study)

    found = machine_help.of_runs(demo_session, study, compared, rule, machine)

    assert found.is_valid
    assert (found.machine_open, found.waiting) == (0, 0)
    assert all(one.found.alone for one in found.figures)
    assert sum(one.found.assisted is not None for one in found.figures) > 20
