"""A gate before a change of a system: its new run held against floors and against an earlier run.

The run of the files is stored in the caller's transaction, where it meets every judgment that there
is; the caller keeps it or rolls it back. What is decided of each figure, in ``_of_floor`` and
``_of_test``:

- A floor is missed where all that is open, judged as well as can be, leaves the figure below it.
- The run is worse than the baseline where the paired test of ``relevansi compare`` says so: its
  two-sided p, by Holm over the figures that are tested, is below ``ALPHA`` and the mean difference
  below 0. Tested are the figures of the study's headline and those with a floor.
- Too little is judged where a floor lies between the bounds, where a figure without bounds, which
  has a floor or is tested, looks at results that are not judged, and where no question can be
  compared. A run is not called worse either for results that a ranking figure counts as not
  relevant since nobody judged them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from math import isfinite

from msgspec import Struct, convert
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Property
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.importers.results.formats import Choices
from webapp.importers.runs.problems import ImportRefused
from webapp.kinds import KINDS, shown
from webapp.metrics.comparisons.comparisons import estimates
from webapp.metrics.comparisons.differences import ComparedRun, differences
from webapp.metrics.comparisons.significance import Interval, Resampling, holm
from webapp.metrics.judging.figures import HEADLINES, Figure
from webapp.metrics.judging.graded import beside, with_judged
from webapp.records import Scale
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.runs import file_formats, reports, runs
from webapp.services.runs.file_formats import RESULTS, RUN, FileDecision, OpenedFile
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

ALPHA = 0.05
"""A run is worse where the corrected p-value is below."""


class Outcome(StrEnum):
    """What a gate says, of one figure and of the run: the worst of its figures."""

    PASSED = "passed"
    OPEN = "too_little_judged"
    FAILED = "failed"


EXIT_CODES = {Outcome.PASSED: 0, Outcome.OPEN: 3, Outcome.FAILED: 1}


class UnfitFloor(Refused, ValueError):
    """A floor that is not written as FIGURE=VALUE, or a second one; it is the argument."""

    message = mark('"%(name)s" is not a floor')
    remedy = mark(
        "Write the name of a figure, = and a number with a decimal point, once for each figure."
    )


class NotOneRun(Refused):
    """The files, which are the argument, hold no run or several."""

    message = mark("A gate takes one run, and %(name)s holds %(n)s")
    remedy = mark("Give it the results of one system; import ratings and grades before.")


class GateWanted(Struct, frozen=True):
    """What a gate is asked: the run to compare with, the floors of figures by their usual names.

    ``ask``: the run is to stay, so that raters judge what is open. ``method`` and ``llm`` are
    labels of a new run. ``rule`` merges raters; ``None`` is the usual one.
    """

    baseline: str
    floors: Mapping[str, float] = {}
    ask: bool = False
    method: str = ""
    llm: str = ""
    rule: str | None = None


class GateTest(Struct, frozen=True):
    """The paired test of one figure, the run minus the baseline, over `n` questions.

    ``p_holm`` is corrected over the figures that are tested.
    """

    test: str
    exact: bool
    n: int
    mean: float
    interval: Interval
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int
    outcome: Outcome = Outcome.PASSED


class GateFigure(Struct, frozen=True):
    """One figure of the run: its value so far over `n` questions, and what is decided by it.

    ``lower`` and ``upper`` are its bounds once all is judged, ``None`` where none are claimed;
    ``interval`` is that of chance. ``judged`` is the share of what a figure without bounds looks
    at that is judged, ``baseline`` and ``baseline_judged`` are the same of the other run.
    """

    figure: str
    value: float | None
    lower: float | None
    upper: float | None
    interval: Interval
    n: int
    judged: float | None
    baseline: float | None
    baseline_judged: float | None
    floor: float | None = None
    floor_outcome: Outcome | None = None
    test: GateTest | None = None


class Unjudged(Struct, frozen=True):
    """A result without a verdict under the rule; without ``rank`` an empty list to be classified.

    ``query_id`` is the question's number in the run, ``external_id`` the one in its owner's files.
    """

    query_id: int
    external_id: str | None
    rank: int | None = None
    item: str = ""
    title: str = ""


class GateReport(Struct, frozen=True):
    """What a gate found. ``run`` is the id of the run, ``None`` where it was not to stay.

    ``missing`` names the questions of the baseline that the run lacks: they are in none of its
    figures and in no test. ``merging`` of several raters is by "majority" or "median".
    ``n_below_pool`` results without a verdict are below the depth to which the study has lists
    judged. ``n_grades_ignored`` are grades in the files: a run does not judge itself.
    ``turns_blind``: since the run stays, raters rate blind from now on.
    """

    outcome: Outcome
    exit_code: int
    study: str
    run: str | None
    name: str
    already_imported: bool
    baseline: str
    baseline_name: str
    rule: str
    merging: str
    n_questions: int
    figures: tuple[GateFigure, ...]
    unjudged: tuple[Unjudged, ...]
    n_below_pool: int = 0
    missing: tuple[str, ...] = ()
    n_grades_ignored: int = 0
    turns_blind: bool = False
    alpha: float = ALPHA


def floors_in(texts: Iterable[str]) -> dict[str, float]:
    """Return floors by figure from texts as ``nDCG@10=0.6``, one for each.

    Raises ``UnfitFloor`` and ``UnknownHeadline``.
    """
    found: dict[str, float] = {}
    for text in texts:
        figure, _, said = text.rpartition("=")
        try:
            value = float(said)
        except ValueError:
            raise UnfitFloor(text) from None
        if not figure.strip() or not isfinite(value) or "_" in said:
            raise UnfitFloor(text)
        name = studies.named_figures([figure])[0]
        if name in found:
            raise UnfitFloor(text)
        found[name] = value
    return found


def read(
    study: Study, files: Sequence[tuple[str, bytes]], choices: Choices
) -> tuple[OpenedFile, ...]:
    """Return the run files of a gate as they are read, which needs no transaction.

    Raises ``NotOneRun`` for ratings, and an ``ImportRefused``.
    """
    found = []
    for form, name, data in file_formats.together(files, choices):
        if form not in (RUN, RESULTS):
            raise NotOneRun(name, n=0)
        file = file_formats.with_known_columns(study, file_formats.opened(form, name, data))
        if problems := file_formats.why_refused(file):
            raise ImportRefused(*problems)
        found.append(file)
    return tuple(found)


def gate(
    session: Session, study: Study, files: Sequence[OpenedFile], wanted: GateWanted, now: datetime
) -> GateReport:
    """Store the run of the files and return what the gate says of it; the caller keeps it or not.

    A run that was imported before is that run. Raises ``UnknownRun``, what ``reports.rule_of``,
    ``file_formats.store`` and ``chosen_runs.comparable`` raise, and ``NotOneRun``.
    """
    baseline = runs.find(session, study, wanted.baseline)
    was_blind = studies.is_blind(session, study)
    run, is_known = _stored(session, study, files, wanted, now)
    rule = reports.rule_of(session, study, wanted.rule)
    compared = [run]
    if run.id != baseline.id:
        compared = chosen_runs.comparable(session, study, [run.id, baseline.id])
    names = tuple(dict.fromkeys((*studies.headline(study), *wanted.floors)))
    judged = comparisons.judged_runs(session, study, compared, rule, names)
    figures = tuple(_figures(judged, names, wanted.floors))
    said = [one.floor_outcome for one in figures]
    tested = [one.test.outcome for one in figures if one.test]
    said += tested if tested or run.id == baseline.id else [Outcome.OPEN]
    outcome = next((one for one in (Outcome.FAILED, Outcome.OPEN) if one in said), Outcome.PASSED)
    unjudged, n_below_pool = _unjudged(session, study, run, rule)
    called = chosen_runs.names_of(compared)
    asked = {query.position for query in judged[0].queries}
    return GateReport(
        outcome=outcome,
        exit_code=EXIT_CODES[outcome],
        study=studies.shown_name(study),
        run=run.id if wanted.ask or is_known else None,
        name=called[run.id],
        already_imported=is_known,
        baseline=baseline.id,
        baseline_name=called[baseline.id],
        rule=rule.name,
        merging=Scale.stored(study.scale).merging(study.merging),
        n_questions=len(judged[0].queries),
        figures=figures,
        unjudged=unjudged,
        n_below_pool=n_below_pool,
        missing=tuple(
            question.external_id or str(question.position)
            for question in baseline.question_set.questions
            if question.position in {query.position for query in judged[-1].queries} - asked
        ),
        n_grades_ignored=sum(len(one.read.group.judged) for one in files if one.format is RESULTS),
        turns_blind=wanted.ask and not was_blind and studies.is_blind(session, study),
    )


def _stored(
    session: Session, study: Study, files: Sequence[OpenedFile], wanted: GateWanted, now: datetime
) -> tuple[Run, bool]:
    """Store the run of the files without its grades; whether the study had it before."""
    decision = FileDecision(method=wanted.method, llm=wanted.llm)
    found: dict[str, bool] = {}
    for file in files:
        given = file
        if file.format is RESULTS:
            without = replace(file.read.group, judged=(), raters={}, highest_grade=-1)
            given = replace(file, read=replace(file.read, group=without))
        report = file_formats.store(session, study, given, decision, set(), now).report
        for one in report.runs if file.format is RESULTS else [report]:
            found.setdefault(one.id, one.already_imported or one.enriched)
    stored = [runs.find(session, study, run_id) for run_id in found]
    if len(stored) != 1:
        raise NotOneRun(*(file.read.name for file in files), n=len(stored))
    run, is_known = stored[0], found[stored[0].id]
    if not is_known:
        run.search_method = wanted.method or run.search_method
        run.llm = wanted.llm or run.llm
    return run, is_known


def _figures(
    runs: Sequence[ComparedRun], names: Sequence[str], floors: Mapping[str, float]
) -> Iterator[GateFigure]:
    """Yield the figures of the first of `runs`, tested against the last if that is another."""
    settings, shares = Resampling(), beside(tuple(names))
    found = estimates(runs, settings, with_judged(names))
    values = [{name: one.figure.value for name, one in of_run.items()} for of_run in found]
    by_run = {run.run: of_run for run, of_run in zip(runs, values, strict=True)}
    tests: dict[str, GateTest] = {}
    for one in differences(runs, by_run, settings, names):
        if one.n and one.figure not in tests:
            tests[one.figure] = convert(one, GateTest, from_attributes=True)
    p_values = dict(zip(tests, holm([one.p for one in tests.values()]), strict=True))
    for name in names:
        figure, floor, test = found[0][name].figure, floors.get(name), tests.get(name)
        judged, others = (one.get(shares.get(name, "")) for one in (values[0], values[-1]))
        if test is not None:
            test = replace(test, p_holm=p_values[name])
            test = replace(test, outcome=_of_test(name, figure, test, judged, others))
        yield GateFigure(
            figure=name,
            value=figure.value,
            lower=figure.lower,
            upper=figure.upper,
            interval=found[0][name].interval,
            n=figure.n,
            judged=judged,
            baseline=values[-1][name],
            baseline_judged=others,
            floor=floor,
            floor_outcome=None if floor is None else _of_floor(figure, floor, judged),
            test=test,
        )


def _of_floor(figure: Figure, floor: float, judged: float | None) -> Outcome:
    """Say whether a figure reaches its floor: by its bounds, or by its value if all is judged."""
    lower, upper = figure.lower, figure.upper
    if lower is None or upper is None:
        if figure.value is None or _is_partial(judged):
            return Outcome.OPEN
        lower = upper = figure.value
    if round(upper - floor, 9) < 0:
        return Outcome.FAILED
    return Outcome.OPEN if round(lower - floor, 9) < 0 else Outcome.PASSED


def _of_test(
    name: str, figure: Figure, test: GateTest, judged: float | None, baseline_judged: float | None
) -> Outcome:
    """Say whether the run is worse than the baseline in a figure.

    A figure of the method rests on questions that are judged to the end, a ranking figure counts
    what is open as not relevant.
    """
    is_worse = test.p_holm < ALPHA and test.mean < 0
    is_open = _is_partial(judged) or (name not in HEADLINES and figure.so_far)
    if is_worse and not is_open:
        return Outcome.FAILED
    undecided = is_worse or _is_partial(judged) or _is_partial(baseline_judged)
    return Outcome.OPEN if undecided else Outcome.PASSED


def _is_partial(judged: float | None) -> bool:
    return judged is not None and round(judged, 9) < 1


def _unjudged(
    session: Session, study: Study, run: Run, rule: Rule
) -> tuple[tuple[Unjudged, ...], int]:
    """Return what raters are still to judge of a run, and how much is below the pool's depth."""
    scope, depth = reports.asked_of(run.id), study.pool_depth
    known = reports.verdicts_under(session, study, scope, rule).by_thing
    thing = JudgedThing.id == func.coalesce(Result.judged_thing_id, Query.emptiness_id)
    listed = (
        select(Query.query_id, Question.external_id, Result.rank, Result.card, JudgedThing)
        .add_columns(Property.identity)
        .join_from(Query, Question)
        .outerjoin(Result)
        .join(JudgedThing, thing)
        .outerjoin(Property, Property.id == JudgedThing.property_id)
        .where(scope)
        .order_by(Query.id, Result.rank)
    )
    found: dict[tuple[int, int], Unjudged] = {}
    below = set()
    for query_id, external_id, rank, card, one, identity in session.execute(listed):
        at = query_id, one.id
        if one.id in known or at in found:
            continue
        if rank is None:
            found[at] = Unjudged(query_id, external_id)
        elif depth is not None and rank > depth:
            below.add(at)
        else:
            item = KINDS[study.kind].docno(identity, one.content)
            found[at] = Unjudged(query_id, external_id, rank, item, shown(card, one.card).title)
    return tuple(found.values()), len(below)
