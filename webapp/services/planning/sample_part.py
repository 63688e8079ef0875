"""The sample of the questions beside the runs of a comparison, where only a sample is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.metrics.comparisons.comparisons import ComparisonPart
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning.samples import PART, QuestionSample
from webapp.services.planning import samples
from webapp.services.runs.reports import Rule

VALUE = QuestionSample
"""The type of the part's value, for reading a comparison that was kept."""


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    _names: Mapping[str, str],
    *,
    rule: Rule,
    settings: Resampling | None = None,
) -> ComparisonPart | None:
    """Return the figures of `runs` over all questions; ``None`` where all are asked."""
    drawn = {one.question_set_id: one for one in samples.sampling(session, study.id)}
    sampling = drawn.get(runs[0].question_set_id)
    if sampling is None:
        return None
    return ComparisonPart(PART, samples.of_runs(session, study, sampling, runs, rule, settings))
