"""Raters' reasons for "not relevant" in compared runs, beside the gold constraints on the cards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.metrics.comparisons.reasons import (
    Contradiction,
    ReasonComparison,
    ReasonCounts,
    time_spent,
)
from relevansi.metrics.gold.constraint_rules import Outcome
from relevansi.metrics.judging.pace import seconds_after
from relevansi.services.gold.constraints import CheckedRun, check_cards
from relevansi.services.judging import reasons, verdicts
from relevansi.services.runs import reports
from relevansi.services.runs.reasons import Rejection, rejections
from relevansi.services.runs.reports import Rule
from relevansi.services.study.question_sets import is_put_to_raters

CONSTRAINTS_BY_REASON: Mapping[str, tuple[str, ...]] = {
    "location": ("location",),
    "price": ("price",),
    "type": ("property_type", "listing_type"),
    "specification": ("bedrooms", "floors"),
}
"""The gold constraints that a reason could be about."""


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    names: Mapping[str, str],
    rule: Rule,
    checked_runs: Sequence[CheckedRun],
) -> ReasonComparison | None:
    """Return the reasons on items that `runs` list, ``None`` where no rater gave one.

    They are those of the rater of `rule`, else of all people: each verdict of each rater counts
    once for every run that lists its item, whatever the merged label is.
    """
    ids = [run.id for run in runs]
    scope = Query.run_id.in_(ids) & is_put_to_raters(Query.question_id)
    rater_ids = [rater.id for rater in reports.raters_of(session, study, rule)]
    rejected = rejections(session, study, verdicts.judged_items(scope), rater_ids)
    reasoned = [each for each in rejected if each.reason is not None]
    if not reasoned:
        return None
    listed = select(Query.run_id, Result.judged_item_id, Question.category).distinct()
    listed = listed.join_from(Result, Query, Query.id == Result.query_key)
    listed = listed.join(Question, Question.id == Query.question_id).where(scope)
    categories: dict[str, dict[int, str]] = defaultdict(dict)
    for run_id, item_id, category in session.execute(listed):
        categories[run_id][item_id or 0] = category
    counts = Counter(reasons.key_of(each.reason or "") for each in reasoned)
    ordered = [key for key in reasons.offered(study.kind, study.reasons) if key in counts]
    seconds = seconds_after(reports.timed_clicks(session, scope, rater_ids))
    seconds_with: list[float] = []
    seconds_without: list[float] = []
    for each in rejected:
        gap = seconds.get((each.rater_id, each.item_id))
        if gap is not None:
            (seconds_with if each.reason else seconds_without).append(gap)
    # Behind the reasons that the study offers come others, which it offered before.
    others = [key for key, _ in counts.most_common() if key not in ordered]
    return ReasonComparison(
        reasons=(*ordered, *others),
        contenders=tuple(
            _counts(run.id, names[run.id], rejected, categories[run.id]) for run in runs
        ),
        raters=len({each.rater_id for each in reasoned}),
        seconds_with=time_spent(seconds_with),
        seconds_without=time_spent(seconds_without),
        contradictions=(
            tuple(_contradictions(checked_runs, names, reasoned)) if checked_runs else None
        ),
    )


def _counts(
    run_id: str, name: str, rejected: Sequence[Rejection], category_of: Mapping[int, str]
) -> ReasonCounts:
    listed = [each for each in rejected if each.item_id in category_of]
    by_category: dict[str, Counter[str]] = defaultdict(Counter)
    for _, item_id, reason in listed:
        if reason is not None:
            by_category[category_of[item_id]][reasons.key_of(reason)] += 1
    counts: Counter[str] = sum(by_category.values(), Counter())
    return ReasonCounts(run_id, name, counts, len(listed) - counts.total(), by_category)


def _contradictions(
    checked_runs: Sequence[CheckedRun], names: Mapping[str, str], reasoned: Sequence[Rejection]
) -> Iterator[Contradiction]:
    """Yield the reasons that the gold constraints contradict."""
    reasons_by_item: dict[int, Counter[str]] = defaultdict(Counter)
    for _, item_id, reason in reasoned:
        if reason is not None and reason in CONSTRAINTS_BY_REASON:
            reasons_by_item[item_id][reason] += 1
    for checked in checked_runs:
        assert checked.report is not None
        for line in checked.report.queries:
            query = checked.queries.get(line.question.query_id)
            if query is None:
                continue
            for card in check_cards(line.cards, query, ()):
                item_id = (card.result.judged_item_id if card.result else None) or 0
                for reason, n_raters in reasons_by_item.get(item_id, {}).items():
                    constraint_names = CONSTRAINTS_BY_REASON[reason]
                    checks = (c for c in card.relevant_checks if c.constraint in constraint_names)
                    if {check.outcome for check in checks} == {Outcome.PASS}:
                        run, place = checked.run.id, line.question.query_id
                        yield Contradiction(run, names[run], place, card.title, reason, n_raters)
