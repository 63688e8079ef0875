"""Runs of one question set compared under one rule: by what, and how stable."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.exporters.comparisons import reasons as reason_words
from relevansi.exporters.comparisons.document import Part
from relevansi.exporters.frame import charts
from relevansi.exporters.gold import constraint_reports
from relevansi.exporters.planning import machine_help as help_words
from relevansi.exporters.planning import samples as sample_words
from relevansi.exporters.planning import settled as settled_words
from relevansi.metrics.agreement.report import ItemKind
from relevansi.metrics.comparisons.comparisons import PARTS, Comparison, ComparisonReport, compare
from relevansi.metrics.comparisons.stability import stability
from relevansi.metrics.judging.empty_answers import EmptyAnswer
from relevansi.metrics.judging.graded import headline_of, ranking_names
from relevansi.records import OnProgress, Scale, no_progress
from relevansi.services.agreement import agreement
from relevansi.services.comparisons import reasons
from relevansi.services.comparisons.chosen_runs import comparable, names_of, phase_of
from relevansi.services.gold import constraints
from relevansi.services.judging.judged_runs import RunsUnderRules
from relevansi.services.planning import machine_help, samples, settled
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import assignments, studies
from relevansi.services.study.question_sets import is_put_to_raters


def report(
    session: Session,
    study: Study,
    run_ids: Sequence[str],
    rule: Rule,
    *,
    on_progress: OnProgress = no_progress,
    figures: Sequence[str] = (),
    with_agreement: bool = False,
) -> ComparisonReport:
    """Return the comparison of `run_ids` under `rule`, with the phase whose runs they could be.

    `figures` replace the headline of the study. `with_agreement` adds how far the raters of the
    cards agree. Raises what ``comparable`` raises.
    """
    chosen = comparable(session, study, run_ids)
    headline = tuple(figures) or headline_of(study)
    on_progress(0, 4)
    judged = RunsUnderRules(session, study, chosen, ranking_names(headline))
    on_progress(1, 4)
    comparison = _compare(study, judged, rule, headline)
    on_progress(2, 4)
    stable = stability(
        [contender.run for contender in comparison.contenders],
        without_rater=judged.without_each_rater(rule),
        other_rules=judged.under_other_rules(rule),
        headline=headline,
    )
    on_progress(3, 4)
    parts = _parts(session, study, chosen, rule)
    on_progress(4, 4)
    exposure = assignments.exposure(session, study)
    alpha = None
    if with_agreement and rule.rater is None and len(studies.raters(session, study)) > 1:
        (cards,) = agreement.report(session, study, kinds=[ItemKind.CARDS]).kinds
        alpha = cards.overall.alpha
    return ComparisonReport(
        study=studies.shown_name(study),
        phase=phase_of(chosen),
        comparison=comparison,
        stability=stable,
        raters=judged.verdicts_by_rater(rule),
        judged_until=judged.until(rule),
        blindness=reports.blindness(session, study, Query.run_id.in_(run_ids), rule),
        cannot_tell=study.cannot_tell,
        version=version("relevansi"),
        badged=tuple(time.since for time in exposure.badged),
        wordings_opened=assignments.wordings_opened(session, run_ids),
        record_shown=tuple(time.since for time in exposure.record_shown),
        suggested=tuple(time.since for time in exposure.suggested),
        state=reports.state(session, study, Query.run_id.in_(run_ids), rule),
        parts=parts,
        marks=marks(session, study, chosen),
        empty_answers=_empty_answers(session, study, chosen, rule),
        alpha=alpha,
    )


def comparison(session: Session, study: Study, run_ids: Sequence[str], rule: Rule) -> Comparison:
    """Return the runs compared in the study's headline, without the other parts of a report."""
    chosen, headline = comparable(session, study, run_ids), headline_of(study)
    judged = RunsUnderRules(session, study, chosen, ranking_names(headline))
    return _compare(study, judged, rule, headline)


def _compare(
    study: Study, judged: RunsUnderRules, rule: Rule, headline: Sequence[str]
) -> Comparison:
    scale, compared = Scale.stored(study.scale), judged.under(rule)
    return compare(compared, rule=rule.name, unasked=judged.unasked, headline=headline, scale=scale)


def _parts(session: Session, study: Study, runs: Sequence[Run], rule: Rule) -> dict[str, Part]:
    """Return the parts that other features add to a comparison, in the order of ``PARTS``."""
    names, set_id = names_of(runs), runs[0].question_set_id
    checked = constraints.checked_runs(session, study, runs)
    values = (
        (constraints.compare_runs(checked, names), constraint_reports),
        (settled.settled_orders(session, study, runs, rule), settled_words),
        (samples.sample_of_runs(session, study, set_id, runs, rule), sample_words),
        (machine_help.compared(session, study, runs, rule), help_words),
        (reasons.compared(session, study, runs, names, rule, checked), reason_words),
    )
    return {
        name: Part(name, value, writer.section, writer.part_json)
        for name, (value, writer) in zip(PARTS, values, strict=True)
        if value is not None
    }


def _empty_answers(
    session: Session, study: Study, runs: Sequence[Run], rule: Rule
) -> dict[str, dict[int, EmptyAnswer]]:
    """Return what raters' searches found for each run's empty answers, by question position."""
    scope = Query.run_id.in_([run.id for run in runs]) & is_put_to_raters(Query.question_id)
    answers = reports.empty_answers(session, study, scope, rule)
    places = select(Query.id, Query.run_id, Question.position).join(Question)
    by_run: dict[str, dict[int, EmptyAnswer]] = {run.id: {} for run in runs}
    for key, run_id, position in session.execute(places.where(Query.id.in_(answers))):
        by_run[run_id][position] = answers[key]
    return by_run


def marks(session: Session, study: Study, compared: Sequence[Run]) -> dict[str, int]:
    """Return the shape of each run: by search method in phase 1, by LLM in phase 2."""
    for label in ("search_method", "llm"):
        if len({getattr(run, label) for run in compared}) == len(compared):
            every = charts.marks(getattr(run, label) for run in runs.in_order(session, study))
            return {run.id: every[getattr(run, label) or ""] for run in compared}
    return {}
