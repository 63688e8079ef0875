"""Ratings from a page without a server, stored as if every click had been made here.

Each change becomes an event of its rater with its own id, device, sequence and time, so the
same file twice changes nothing, and where another verdict was given here meanwhile the order
of the events decides, as between any two devices.

Anybody can write any name into a file. So a file with new changes for a rater whom the study has
already is stored only when the owner confirms that name, with the report of the changes at hand.
A new name makes a new rater: it changes no verdict of other raters, and the owner sees the name
among the raters and can remove it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Self

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from relevansi.db.tables.judging import Event, JudgedItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Study
from relevansi.importers.runs.problems import error, warning
from relevansi.importers.runs.ratings import OF_CARDS, OfflineRatings, RatedCard, RatingChange
from relevansi.kinds import listed_item
from relevansi.printable import name_line
from relevansi.records import Problem, QueryState, Scale
from relevansi.services.judging import events
from relevansi.services.judging.events import NewEvent, Target, TargetChange, current_event
from relevansi.services.judging.judged_items import blind_identity_of, identity_of
from relevansi.services.people import raters


class TargetedChange(Struct, frozen=True):
    """A change of the file with its target in this study, and the event that it becomes."""

    change: RatingChange
    target: Target
    title: str
    event: NewEvent


def with_targets(
    session: Session, run: Run, read: OfflineRatings, now: datetime, problems: list[Problem]
) -> Iterator[TargetedChange]:
    """Yield every change with its target, in order; those without one become `problems`."""
    items = selectinload(Query.results).joinedload(Result.judged_item)
    in_run = select(Query).where(Query.run_id == run.id)
    rows = session.scalars(in_run.options(items.joinedload(JudgedItem.item)))
    queries = {query.query_id: query for query in rows}
    scale = Scale.stored(session.get_one(Study, run.study_id).scale)
    reported: set[tuple[int, int | None, str]] = set()
    for change in read.changes:
        query = queries.get(change.query_id)
        if change.field == "relevance" and change.value and not scale.accepts(change.value):
            problems.append(error("ratings_grade_unknown", read.name, {"grade": change.value}))
            continue
        target, title, problem = _target(query, read, change)
        where = (change.query_id, change.rank, change.field)
        if problem is not None and where not in reported:
            problems.append(problem)
            reported.add(where)
        if target is not None:
            # A page that names no device is one for its run: sequences count within a device.
            device = read.device or read.identity[:64]
            order = device, change.sequence, change.made_at, now
            event = NewEvent(change.event_id, change.value, *order)
            yield TargetedChange(change, target, title, event)


def _target(
    query: Query | None, read: OfflineRatings, change: RatingChange
) -> tuple[Target | None, str, Problem | None]:
    is_outcome = change.field == "empty_outcome"
    if query is None or (is_outcome and query.state != QueryState.EMPTY):
        unknown = error("ratings_question_unknown", read.name, query_id=change.query_id)
        return None, "", unknown
    if change.field in OF_CARDS:
        return _card_target(query, read, change)
    if is_outcome:
        return Target("verdict", query.emptiness_id, query.id), "", None
    return Target(change.field, None, query.id), "", None


def _card_target(
    query: Query, read: OfflineRatings, change: RatingChange
) -> tuple[Target | None, str, Problem | None]:
    """Return the target, the title and any problem of a rated card, at whatever rank it is now."""
    assert change.rank is not None
    field = "verdict" if change.field == "relevance" else change.field
    rated = read.cards.get(change.query_id, {}).get(change.rank)
    at_rank = next((result for result in query.results if result.rank == change.rank), None)
    if at_rank and (rated is None or _is_same_item(at_rank, rated)):
        title = listed_item(at_rank.card, at_rank.judged_item.card).name
        return Target(field, at_rank.judged_item_id, query.id), title, None
    title = rated.title if rated else ""
    details: dict[str, str | int] = {"title": title, "rank": change.rank}
    same = [result for result in query.results if rated and _is_same_item(result, rated)]
    if len({result.judged_item_id for result in same}) != 1:
        return None, title, error("ratings_card_gone", read.name, details, query_id=query.query_id)
    details |= {"now": same[0].rank}
    moved = warning("ratings_card_moved", read.name, details, query_id=query.query_id)
    return Target(field, same[0].judged_item_id, query.id), title, moved


def _is_same_item(result: Result, rated: RatedCard) -> bool:
    # A page for blind raters has hashes in the place of identities.
    return rated.identity in {identity_of(result), blind_identity_of(result)}


class RatingCounts(Struct, frozen=True):
    """A number of judgments by kind: verdicts on cards (not reasons), outcomes, grades, notes."""

    verdicts: int = 0
    outcomes: int = 0
    qualities: int = 0
    notes: int = 0

    @classmethod
    def of(cls, fields: Iterable[str]) -> Self:
        """Return the counts of judgments that are given by their fields."""
        counts = Counter(fields)
        return cls(counts["relevance"], counts["empty_outcome"], counts["quality"], counts["notes"])


class FileValue(Struct, frozen=True):
    """A judgment of the rater as it is here and in a file; ``None`` where there is none."""

    query_id: int
    field: str
    here: str | None
    in_file: str | None


class FileEffect(FileValue, frozen=True):
    """A judgment of the rater in a file of changes, and as it is ``after`` the file is stored.

    ``title`` is the card's, empty for an answer as a whole. It ``contradicts`` what is here where
    a change that was not stored before has another value.
    """

    title: str
    after: str | None
    contradicts: bool

    @property
    def is_changed(self) -> bool:
        """Whether the file replaces or clears a judgment of the rater."""
        return self.here is not None and self.after != self.here


class FileOfRatings(Struct, frozen=True):
    """A file of a rater's judgments of one run, with how many it holds and its problems.

    ``run_id`` is ``None`` while its run is not known. ``refused``: the rater is a machine or
    removed.
    """

    name: str
    problems: tuple[Problem, ...] = ()
    run_id: str | None = None
    search_method: str | None = None
    llm: str | None = None
    rater: str = ""
    rater_is_new: bool = False
    refused: bool = False
    counts: RatingCounts = RatingCounts()

    @property
    def storable(self) -> bool:
        """Whether the run and the rater are known, so that judgments can be stored."""
        return self.run_id is not None and bool(self.rater) and not self.refused


def is_refused(rater: Rater | None) -> bool:
    """Whether no judgments are taken from files for a rater: a machine, or removed."""
    return rater is not None and (rater.is_machine or rater.removed_at is not None)


class RatingsReport(FileOfRatings, frozen=True):
    """The effect of importing a file of ratings, before or after it is stored.

    ``new`` counts the changes that were not stored before, ``stored_before`` the others. Of the
    rater's judgments that the file is about, ``added``, ``changed`` and ``same`` count those that
    are new, replaced and left as they are.
    """

    new: int = 0
    stored_before: int = 0
    added: RatingCounts = RatingCounts()
    changed: RatingCounts = RatingCounts()
    same: RatingCounts = RatingCounts()
    contradictions: tuple[FileEffect, ...] = ()
    stored: bool = False

    @property
    def already_imported(self) -> bool:
        """Whether everything in the file was stored before."""
        return self.storable and self.new == 0

    @property
    def brings_something(self) -> bool:
        """Whether storing the file changes anything."""
        return self.storable and self.new > 0

    @property
    def needs_confirmation(self) -> bool:
        """Whether it would add to the judgments of a rater whom the study has already."""
        return self.brings_something and not self.rater_is_new


def examine(
    session: Session, study: Study, read: OfflineRatings, now: datetime, rater: str | None = None
) -> RatingsReport:
    """Return the effect of importing the file that was read; `rater` replaces the name in it."""
    return _examine(session, study, read, now, rater)[0]


def store(
    session: Session,
    study: Study,
    read: OfflineRatings,
    now: datetime,
    rater: str | None = None,
    *,
    confirmed: bool = False,
    newcomers: Container[str] = (),
) -> RatingsReport:
    """Store the file if it can be; return its report, which states whether it is ``stored``.

    A rater of that name is made if there is none. For a rater who exists, the file is stored only
    if the owner ``confirmed`` the name, or it is among the `newcomers` whom earlier files made.
    Nothing stored before is lost.
    """
    report, stored_rater, changes = _examine(session, study, read, now, rater)
    is_confirmed = confirmed or report.rater in newcomers
    if not report.storable or (report.needs_confirmation and not is_confirmed):
        return report
    stored_rater = stored_rater or raters.add(session, study, report.rater, now)
    events.lock(session, stored_rater)
    _record(session, stored_rater, changes)
    return replace(report, stored=True)


def _examine(
    session: Session, study: Study, read: OfflineRatings, now: datetime, rater: str | None
) -> tuple[RatingsReport, Rater | None, Sequence[TargetedChange]]:
    """Return the report of a file, the rater if there is one here, and the changes to store."""
    problems = list(read.problems)
    name = name_line(rater or read.rater)[: raters.LONGEST_NAME]
    stored_rater = raters.find_named(session, study, name) if name else None
    name, refused = stored_rater.name if stored_rater else name, is_refused(stored_rater)
    if not name:
        problems.append(error("ratings_without_rater", read.name))
    elif refused:
        problems.append(error("ratings_of_no_rater", read.name, {"name": name}))
    run = _run(session, study, read, problems)
    if run is None:
        return RatingsReport(read.name, tuple(problems), rater=name), stored_rater, ()
    history: Sequence[Event] = ()
    if stored_rater is not None:
        history = session.scalars(select(Event).where(Event.rater_id == stored_rater.id)).all()
    stored = {(event.event_id, event.field): event for event in history}
    changes = []
    for targeted in with_targets(session, run, read, now, problems):
        event = stored.get((targeted.event.event_id, targeted.target.field))
        new = targeted.event.new, targeted.target.conflict_key
        if event is None or (event.new, Target.of(event).conflict_key) == new:
            changes.append(targeted)
        else:
            problems.append(
                error("ratings_change_edited", read.name, query_id=targeted.change.query_id)
            )
    fresh = [
        targeted
        for targeted in changes
        if (targeted.event.event_id, targeted.target.field) not in stored
    ]
    effects = list(_effects(history, changes, fresh))
    report = RatingsReport(
        name=read.name,
        problems=tuple(problems),
        run_id=run.id,
        search_method=run.search_method,
        llm=run.llm,
        rater=name,
        rater_is_new=stored_rater is None,
        refused=refused,
        new=len(fresh),
        stored_before=len(changes) - len(fresh),
        counts=RatingCounts.of(e.field for e in effects if e.in_file is not None),
        added=RatingCounts.of(e.field for e in effects if e.here is None and e.after is not None),
        changed=RatingCounts.of(e.field for e in effects if e.is_changed),
        same=RatingCounts.of(e.field for e in effects if e.here is not None and not e.is_changed),
        contradictions=tuple(effect for effect in effects if effect.contradicts),
    )
    return report, stored_rater, changes


def _effects(
    history: Iterable[Event], changes: Iterable[TargetedChange], fresh: Iterable[TargetedChange]
) -> Iterator[FileEffect]:
    """Yield each judgment that the changes are about; the `fresh` ones were not stored before."""
    stored: defaultdict[Target, list[Event | NewEvent]] = defaultdict(list)
    added: defaultdict[Target, list[Event | NewEvent]] = defaultdict(list)
    for event in history:
        stored[Target.of(event).conflict_key].append(event)
    for targeted in fresh:
        added[targeted.target.conflict_key].append(targeted.event)
    for about, last in {targeted.target.conflict_key: targeted for targeted in changes}.items():
        here, after = current_event(stored[about]), current_event([*stored[about], *added[about]])
        before = here.new if here else None
        yield FileEffect(
            query_id=last.change.query_id,
            field=last.change.field,
            title=last.title,
            here=before,
            in_file=last.event.new,
            after=after.new if after else None,
            contradicts=bool(added[about]) and before not in {None, last.event.new},
        )


def _run(
    session: Session, study: Study, read: OfflineRatings, problems: list[Problem]
) -> Run | None:
    same_answers = select(Run).where(Run.study_id == study.id, Run.session_key == read.identity)
    runs = session.scalars(same_answers.order_by(Run.sequence, Run.id)).all()
    if len(runs) == 1:
        return runs[0]
    if runs:
        listed = {"runs": ", ".join(run.id for run in runs)}
        problems.append(error("ratings_of_two_runs", read.name, listed))
    else:
        problems.append(error("ratings_without_run", read.name))
    return None


def _record(session: Session, rater: Rater, targeted_changes: Iterable[TargetedChange]) -> None:
    """Record the changes in their order: undos one by one, since each names an event stored."""
    targets: list[Target] = []
    for takes_back, group in groupby(
        targeted_changes, key=lambda targeted: targeted.change.undoes is not None
    ):
        alike = list(group)
        changes = [
            TargetChange(targeted.target, targeted.event.new, targeted.event.click)
            for targeted in alike
        ]
        if takes_back:
            for targeted, change in zip(alike, changes, strict=True):
                undone = _find_undone(session, rater, targeted.change.undoes)
                events.record(session, rater, *change, cause="undo", undoes=undone)
        else:
            events.record_all(session, rater, changes, cause="import")
        targets += [change.target for change in changes]
    events.refresh(session, rater, targets)


def _find_undone(session: Session, rater: Rater, event_id: str | None) -> Event | None:
    """Return the event that a change takes back; ``None`` where it is gone or was taken back."""
    undone = select(Event.undoes_id).where(Event.rater_id == rater.id, Event.undoes_id.is_not(None))
    same = (Event.rater_id == rater.id) & (Event.event_id == event_id)
    return session.scalar(select(Event).where(same, Event.id.not_in(undone)))
