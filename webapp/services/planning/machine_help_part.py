"""People with a machine's help beside the runs of a comparison, where a rule drew a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.metrics.comparisons.comparisons import ComparisonPart
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning.machine_help import PART, MachineHelp
from webapp.services.planning import chosen_rules, machine_help
from webapp.services.runs.reports import Rule

VALUE = MachineHelp
"""The type of the part's value, for reading a comparison that was kept."""


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    _names: Mapping[str, str],
    *,
    rule: Rule,
    settings: Resampling | None = None,  # noqa: ARG001 (nothing is drawn)
) -> ComparisonPart | None:
    """Return `runs` with the help of the machine that judged most of them.

    ``None`` without a sample, without a machine, or where the rule is the machine itself.
    """
    is_machine = rule.rater is not None and rule.rater.is_machine
    if is_machine or chosen_rules.sampling(session, runs[0].question_set_id) is None:
        return None
    machines = machine_help.machines(session, study, runs)
    if not machines:
        return None
    found = machine_help.of_runs(session, study, runs, rule, machines[0])
    return ComparisonPart(PART, found)
