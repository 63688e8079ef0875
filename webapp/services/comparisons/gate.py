"""A gate before a change of a system: its new run held against floors and against an earlier run.

The run of the files is stored in the caller's transaction, where it meets every judgment that there
is; the caller keeps it or rolls it back. What is decided of each figure, in ``_of_floor`` and
``_of_test``:

- A floor is missed where all that is open, judged as well as can be, leaves the figure below it.
- The run is worse than the baseline where the paired test of ``relevansi compare`` says so: its
  two-sided p, by Holm over the figures that are tested, is below ``ALPHA`` and the mean difference
  below 0. Tested are the figures of the study's headline and those with a floor.
- Too little is judged where a floor lies between the bounds, and where a figure without bounds,
  which has a floor or is tested, looks at results that are not judged. A run is not called worse
  either for results that a ranking figure counts as not relevant since nobody judged them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from math import isfinite

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Property
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.importers.runs.problems import ImportRefused
from webapp.kinds import KINDS, shown
from webapp.metrics.comparisons.comparisons import FigureEstimate, estimates
from webapp.metrics.comparisons.differences import Difference, differences
from webapp.metrics.comparisons.significance import Resampling, holm
from webapp.metrics.judging.figures import HEADLINES, Figure
from webapp.metrics.judging.graded import beside, with_judged
from webapp.records import Scale
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.runs import file_formats, reports, runs
from webapp.services.runs.file_formats import RESULTS, RUN, FileDecision, OpenedFile
from webapp.services.runs.reports import Rule
from webapp.services.runs.results import Choices
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
    """A floor that is not written as FIGURE=VALUE; it is the argument."""

    message = mark('"%(name)s" is not a floor')
    remedy = mark("Write the name of a figure, = and a number with a decimal point.")


class NotOneRun(Refused):
    """The files hold no run or several, whose names are the argument."""

    message = mark("A gate takes one run, and these files hold %(n)s: %(name)s")
    remedy = mark("Give it the results of one system, in one file or in several.")

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names) or "-", n=len(names))


class NotARun(Refused):
    """A file of ratings; its name is the argument."""

    message = mark("%(name)s holds ratings, and a gate takes the results of a system")
    remedy = mark("Import the ratings first: the gate counts every judgment of the study.")


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

    ``lower`` and ``upper`` bound the mean difference, ``p_holm`` is corrected over the figures.
    """

    test: str
    exact: bool
    n: int
    mean: float
    lower: float | None
    upper: float | None
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int
    outcome: Outcome


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
    interval: tuple[float | None, float | None]
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
    figures and in no test. ``n_below_pool`` results without a verdict are below the depth to which
    the study has lists judged. ``n_grades_ignored`` are grades in the files: a run does not judge
    itself. ``turns_blind``: since the run stays, raters rate blind from now on.
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
    n_questions: int
    figures: tuple[GateFigure, ...]
    unjudged: tuple[Unjudged, ...]
    n_below_pool: int = 0
    missing: tuple[str, ...] = ()
    n_grades_ignored: int = 0
    turns_blind: bool = False
    alpha: float = ALPHA
    settings: Resampling = field(default_factory=Resampling)


def floors_in(texts: Iterable[str]) -> dict[str, float]:
    """Return floors by figure from texts as ``nDCG@10=0.6``.

    Raises ``UnfitFloor`` and ``UnknownHeadline``.
    """
    found: dict[str, float] = {}
    for text in texts:
        figure, _, said = text.rpartition("=")
        try:
            value = float(said)
        except ValueError:
            raise UnfitFloor(text) from None
        if not figure.strip() or not isfinite(value):
            raise UnfitFloor(text)
        found[studies.named_figures([figure])[0]] = value
    return found


def read(
    study: Study, files: Sequence[tuple[str, bytes]], choices: Choices
) -> tuple[OpenedFile, ...]:
    """Return the run files of a gate as they are read, which needs no transaction.

    Raises ``NotARun``, and an ``ImportRefused`` for files that hold no run.
    """
    found = []
    for form, name, data in file_formats.together(files, choices):
        if form not in (RUN, RESULTS):
            raise NotARun(name)
        file = file_formats.with_known_columns(study, file_formats.opened(form, name, data))
        if isinstance(file.read, ImportRefused):
            raise file.read
        is_empty = file.read.read is None if form is RUN else not file.read.runs
        if is_empty and file.read.problems:
            raise ImportRefused(*file.read.problems)
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
    rule, scale = reports.rule_of(session, study, wanted.rule), Scale.stored(study.scale)
    compared = [run]
    if run.id != baseline.id:
        compared = chosen_runs.comparable(session, study, [run.id, baseline.id])
    names = tuple(dict.fromkeys((*studies.headline(study), *wanted.floors)))
    judged = comparisons.judged_runs(session, study, compared, rule, names)
    settings = Resampling()
    found = estimates(judged, settings, with_judged(names))
    values = {
        one.run: {name: figure.figure.value for name, figure in of_run.items()}
        for one, of_run in zip(judged, found, strict=True)
    }
    tested: dict[str, Difference] = {}
    for difference in differences(judged, values, settings, names, scale):
        if difference.n:
            tested.setdefault(difference.figure, difference)
    corrected = holm([one.p for one in tested.values()])
    p_values = dict(zip(tested, corrected, strict=True))
    figures = tuple(
        _figure(name, found[0], found[-1], wanted.floors.get(name), tested.get(name), p_values)
        for name in names
    )
    said = [one.floor_outcome for one in figures]
    said += [one.test.outcome for one in figures if one.test]
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
        n_questions=len(judged[0].queries),
        figures=figures,
        unjudged=unjudged,
        n_below_pool=n_below_pool,
        missing=tuple(
            question.external_id or str(question.position)
            for question in baseline.question_set.questions
            if question.position in {query.position for query in judged[-1].queries} - asked
        ),
        n_grades_ignored=sum(len(one.read.judged) for one in files if one.format is RESULTS),
        turns_blind=wanted.ask and not was_blind and studies.is_blind(session, study),
        settings=settings,
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
            without = replace(file.read, judged=(), raters={}, highest_grade=-1)
            given = replace(file, read=without)
        report = file_formats.store(session, study, given, decision, (), now).report
        for one in report.runs if file.format is RESULTS else [report]:
            found.setdefault(one.id, one.already_imported or one.enriched)
    stored = [runs.find(session, study, run_id) for run_id in found]
    if len(stored) != 1:
        raise NotOneRun([*chosen_runs.names_of(stored).values()])
    run, is_known = stored[0], found[stored[0].id]
    if not is_known:
        run.search_method = wanted.method or run.search_method
        run.llm = wanted.llm or run.llm
    return run, is_known


def _figure(
    name: str,
    of_run: Mapping[str, FigureEstimate],
    of_baseline: Mapping[str, FigureEstimate],
    floor: float | None,
    difference: Difference | None,
    p_values: Mapping[str, float | None],
) -> GateFigure:
    by_its_side = beside((name,)).get(name)
    here, there = (
        found[by_its_side].figure.value if by_its_side else None for found in (of_run, of_baseline)
    )
    estimate = of_run[name]
    figure, interval = estimate.figure, estimate.interval
    test = None
    if difference is not None:
        assert difference.mean is not None  # as there is a pair of values
        assert difference.p is not None
        p_holm = p_values[name] or 0.0
        test = GateTest(
            test=difference.test,
            exact=difference.exact,
            n=difference.n,
            mean=difference.mean,
            lower=difference.interval.lower,
            upper=difference.interval.upper,
            p=difference.p,
            p_holm=p_holm,
            wins=difference.wins,
            ties=difference.ties,
            losses=difference.losses,
            outcome=_of_test(name, figure, difference.mean, p_holm, here, there),
        )
    return GateFigure(
        figure=name,
        value=figure.value,
        lower=figure.lower,
        upper=figure.upper,
        interval=(interval.lower, interval.upper),
        n=figure.n,
        judged=here,
        baseline=of_baseline[name].figure.value,
        baseline_judged=there,
        floor=floor,
        floor_outcome=None if floor is None else _of_floor(figure, floor, here),
        test=test,
    )


def _of_floor(figure: Figure, floor: float, judged: float | None) -> Outcome:
    """Say whether a figure reaches its floor: by its bounds, or by its value if all is judged."""
    lower, upper = figure.lower, figure.upper
    if lower is None or upper is None:
        if figure.value is None or _is_partial(judged):
            return Outcome.OPEN
        lower = upper = figure.value
    if round(upper, 9) < floor:
        return Outcome.FAILED
    return Outcome.OPEN if round(lower, 9) < floor else Outcome.PASSED


def _of_test(
    name: str,
    figure: Figure,
    mean: float,
    p_holm: float,
    judged: float | None,
    baseline_judged: float | None,
) -> Outcome:
    """Say whether the run is worse than the baseline in a figure.

    A figure of the method rests on questions that are judged to the end, a ranking figure counts
    what is open as not relevant.
    """
    is_worse = p_holm < ALPHA and mean < 0
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
