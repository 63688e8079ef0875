"""A rater looks in the catalogue for what an answer missed, and pins what fits as evidence.

What is pinned is judged relevant and joins the pool of its question: every other rater of the
question is asked about it as about any card. It is no result of any run, so no figure of a list
counts it, but it is among the relevant items that recall divides by.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.catalogue import CatalogueItem, Search
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, Repeat, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Missing, Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row
from relevansi.kinds.document import content_words
from relevansi.kinds.property import Card
from relevansi.records import Click, EmptyOutcome, Item, QueryState, Scale
from relevansi.services.catalogue import search as catalogue
from relevansi.services.catalogue.filters import Filters, of_constraints, of_question
from relevansi.services.catalogue.search import Matches
from relevansi.services.gold import gold
from relevansi.services.judging import events, undoing
from relevansi.services.judging.changes import revise
from relevansi.services.judging.events import EVIDENCE, Target
from relevansi.services.judging.judged_items import Pool
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.rating import task_judgments, tasks
from relevansi.services.rating.pool import REPEAT
from relevansi.services.study import studies

PAGE_SIZE = 20
LONGEST_WORDS = catalogue.MAX_WORDS
LAST_START = 1_000
"""From further down nothing is shown: whoever has not seen it by then searches more narrowly."""
TYPING = timedelta(seconds=30)
FEW_LETTERS = 8
"""A search that differs from the last one by so few letters, so soon, is the same, being typed."""
MOST_TRIES = 8
"""Words of a question, and of its place, that are tried before its search opens."""
SEARCHES_A_MINUTE = 60
"""The most new searches of one rater; letters that are typed make no new one."""


class LookupOff(Refused):
    message = mark("Nothing is looked up here")
    remedy = mark("The owner of the study switches it on under Study, Settings.")


class TooManySearches(Refused):
    message = mark("These are too many searches in a minute")
    remedy = mark("Wait a little, then search again.")
    status = 429


class NotPinned(Missing):
    message = mark("This is no evidence of yours any more")
    remedy = mark("Reload the page to see what is.")


class Place(NamedTuple):
    """Where a rater looks something up: the answer of a run, or a blind task.

    ``run_id`` is that of the answer where it depends on its conversation; ``emptiness_id`` is the
    judged item of an empty answer, if there is one.
    """

    question: Question
    run_id: str | None
    query_key: int | None
    task_id: str | None
    emptiness_id: int | None
    is_repeat: bool = False

    def target(self, field: str, item_id: int) -> Target:
        """Return the target of a verdict or of evidence on an item, given at this place."""
        in_repeat = self.is_repeat and field != EVIDENCE
        place = self.query_key, self.task_id
        return Target.in_task(field, item_id, *place, in_repeat=in_repeat)


def of_answer(
    session: Session, rater: Rater, run_id: str, query_id: int, *, is_allowed: bool | None = None
) -> Place:
    """Return the place of a run's answer; raises ``UnknownQuery`` and ``LookupOff``.

    `is_allowed` decides for participants of phase 3: their study has no setting of its own.
    """
    in_run = Query.run_id == run_id, Query.query_id == query_id, Run.study_id == rater.study_id
    query = session.scalar(select(Query).join(Run).where(*in_run))
    if query is None:
        raise UnknownQuery(run_id, query_id)
    is_empty = query.state == QueryState.EMPTY
    if is_allowed is None:
        is_allowed = is_empty or rater.study.looks_up
    if not is_allowed:
        raise LookupOff
    question = session.get_one(Question, query.question_id)
    scope = run_id if question.context_dependent else None
    emptiness_id = query.emptiness_id if is_empty else None
    return Place(question, scope, query.id, None, emptiness_id)


def of_task(session: Session, rater: Rater, task_id: str) -> Place:
    """Return the place of a blind task; raises ``UnknownTask`` and ``LookupOff``."""
    task = tasks.find(session, rater, task_id)
    emptiness_id = task_judgments.emptiness_of(tasks.items_of(session, task))
    if emptiness_id is None and not rater.study.looks_up:
        raise LookupOff
    is_repeat = task.kind == REPEAT
    return Place(task.question, task.run_id, None, task.id, emptiness_id, is_repeat)


class LookupPage(Struct, frozen=True):
    """What a rater sees of the catalogue: the search, and a page of what fits from ``start``.

    ``absent`` are the words of the question's place that nothing in the catalogue has.
    """

    words: str
    filters: Filters
    start: int
    matches: Matches
    absent: str = ""

    @property
    def more(self) -> int | None:
        """Where the next page begins, if there is one."""
        start = self.start + PAGE_SIZE
        return start if start < min(self.matches.count, LAST_START) else None


def search(
    session: Session,
    rater: Rater,
    place: Place,
    words: str,
    filters: Filters,
    now: datetime,
    *,
    start: int = 0,
) -> LookupPage:
    """Return a page of the catalogue that fits, and store the search, further pages not again.

    Letters typed one after the other are one search, of the time when it began. Raises
    ``LongSearch`` and ``TooManySearches``.
    """
    start = min(start, LAST_START)
    matches = _matches(session, rater, words, filters, start)
    if start == 0:
        _store(session, rater, place, words, filters, matches.count, now)
    return LookupPage(words, filters, start, matches)


def opening_page(session: Session, rater: Rater, place: Place) -> LookupPage:
    """Return the page that the search opens with; it is not stored as a search of the rater.

    It is their latest search of the question, else what the question itself says: filters, those of
    the gold question before its own where the owner shows these, and the first of its other content
    words, without the last ones where nothing has them all. A word that nothing in the catalogue
    has ("find me") is left out; ``absent`` says which words of a place are.
    """
    last = _latest(session, rater, place)
    if last is not None:
        filters = Filters(**last.filters)
        matches = _matches(session, rater, last.words, filters, 0)
        return LookupPage(last.words, filters, 0, matches)
    text = place.question.text
    is_of_listings = rater.study.kind == Card.kind
    filters, words = of_question(text) if is_of_listings else (Filters(), content_words(text))
    near, absent = _in_catalogue(session, rater, filters.place or "")
    filters = replace(filters, place=near or None)
    constraints = _constraints(session, rater, place)
    filters = replace(filters, **{n: getattr(constraints, n) for n in constraints.names()})
    words, _ = _in_catalogue(session, rater, words)
    matches = _matches(session, rater, words, filters, 0)
    while not matches.count and words:
        words = words.rpartition(" ")[0]
        matches = _matches(session, rater, words, filters, 0)
    return LookupPage(words, filters, 0, matches, absent)


def _in_catalogue(session: Session, rater: Rater, words: str) -> tuple[str, str]:
    """Return the words that something in the catalogue has, and those that nothing has."""
    tried = words[:LONGEST_WORDS].split()[:MOST_TRIES]
    counts = {word: catalogue.search(session, rater.study, word, most=0).count for word in tried}
    present = " ".join(word for word in tried if counts[word])
    return present, " ".join(word for word in tried if not counts[word])


def _matches(session: Session, rater: Rater, words: str, filters: Filters, start: int) -> Matches:
    return catalogue.search(session, rater.study, words, filters, start=start, most=PAGE_SIZE)


def _latest(session: Session, rater: Rater, place: Place) -> Search | None:
    of_place = Search.rater_id == rater.id, Search.question_id == place.question.id
    searches = select(Search).where(*of_place)
    if place.task_id is not None:  # an earlier task's search would reveal that this is a repeat
        searches = searches.where(Search.task_id == place.task_id)
    return session.scalar(searches.order_by(Search.id.desc()).limit(1))


def _store(
    session: Session,
    rater: Rater,
    place: Place,
    words: str,
    filters: Filters,
    item_count: int,
    now: datetime,
) -> None:
    stored_filters = {name: value for name, value in asdict(filters).items() if value is not None}
    last = _latest(session, rater, place)
    if last is not None and (last.query_key, last.filters) == (place.query_key, stored_filters):
        if last.words == words:
            return
        shorter, longer = sorted((last.words, words), key=len)
        is_typing = longer.startswith(shorter) and len(longer) - len(shorter) <= FEW_LETTERS
        if is_typing and now - last.at <= TYPING:
            last.words, last.item_count = words, item_count
            return
    recent = Search.rater_id == rater.id, Search.at > now - timedelta(minutes=1)
    if (session.scalar(select(func.count()).where(*recent)) or 0) >= SEARCHES_A_MINUTE:
        raise TooManySearches
    session.add(
        Search(
            rater_id=rater.id,
            question_id=place.question.id,
            query_key=place.query_key,
            task_id=place.task_id,
            words=words,
            filters=stored_filters,
            item_count=item_count,
            at=now,
        )
    )
    session.flush()


def _constraints(session: Session, rater: Rater, place: Place) -> Filters:
    """Return the gold question's constraints as filters, where the rater may see them."""
    study, question = rater.study, place.question
    is_blind = place.task_id is not None or studies.is_blind(session, study)
    if is_blind and not study.looks_up_constraints:
        return Filters()
    file = gold.read_questions(session, {question.question_set_id}, {question.position})
    return of_constraints(file.questions[0].constraints) if file is not None else Filters()


class Evidence(NamedTuple):
    """An item that the rater looked up and that fits; ``item_id`` is the judged item.

    ``catalogue_id`` is ``None`` once the catalogue has it no more.
    """

    item_id: int
    card: Item
    catalogue_id: int | None


def evidence(session: Session, rater: Rater, place: Place) -> list[Evidence]:
    """Return the rater's evidence at a place, the first pinned first.

    In a repeat it is what was pinned in it.
    """
    statement = (
        select(JudgedItem.id, JudgedItem.card, CatalogueItem.id)
        .join_from(Judgment, JudgedItem, JudgedItem.id == Judgment.judged_item_id)
        .join(StoredItem, StoredItem.id == JudgedItem.item_id)
        .outerjoin(CatalogueItem, CatalogueItem.identity == StoredItem.identity)
        .where(Judgment.rater_id == rater.id, Judgment.is_evidence)
        .where(Judgment.verdict.in_(sorted(Scale.stored(rater.study.scale).relevant)))
        .where(JudgedItem.question_id == place.question.id)
        .where(JudgedItem.run_id.is_not_distinct_from(place.run_id))
        .order_by(Judgment.changed_at, JudgedItem.id)
    )
    if place.is_repeat:
        in_task = Event.task_id == place.task_id, Event.field == EVIDENCE
        statement = statement.where(exists().where(Event.judged_item_id == JudgedItem.id, *in_task))
    rows = core(session).execute(statement)
    return [Evidence(key, from_row(card), listing) for key, card, listing in rows]


def pin(session: Session, rater: Rater, place: Place, catalogue_id: int, click: Click) -> None:
    """Store that an item of the catalogue fits the question: evidence, judged relevant.

    On a scale of grades it gets the lowest grade that counts as relevant: the rater said that it
    fits and no more, and where cards are pooled they can grade it higher there. An empty answer
    without an outcome becomes a false negative by it. The same click twice changes nothing.
    Raises ``NoCatalogueItem`` and ``EventIdTaken``.
    """
    events.lock(session, rater)
    # Two raters who pin one item at once share one judged item of it.
    session.execute(select(Study.id).where(Study.id == rater.study_id).with_for_update())
    match = catalogue.find(session, catalogue_id)
    pool = Pool(session, [place.question.id])
    item = pool.place(place.question.id, place.run_id, match.card, match.identity)
    pool.store()
    target = place.target(EVIDENCE, item.id)
    same = Event.rater_id == rater.id, Event.event_id == click.event_id, Event.field == EVIDENCE
    is_repeated = session.scalar(select(Event.id).where(*same)) is not None
    events.record(session, rater, target, "1", click)
    if is_repeated:
        return
    verdict = _verdict_target(session, place, item.id)
    scale = Scale.stored(rater.study.scale)
    grade = str(scale.relevant_from)
    in_force = events.current(session, rater, verdict)
    if in_force is not None and in_force.new in scale.relevant:
        grade = in_force.new
    events.record(session, rater, verdict, grade, click)
    targets = [verdict]
    if place.emptiness_id is not None:
        outcome = place.target("verdict", place.emptiness_id)
        chosen = events.current(session, rater, outcome)
        if chosen is None or chosen.new is None:
            part = undoing.outcome_click(click)
            events.record(session, rater, outcome, EmptyOutcome.FALSE_NEGATIVE, part)
            targets.append(outcome)
    revise(session, rater.study_id)
    events.refresh(session, rater, targets)


def unpin(session: Session, rater: Rater, place: Place, item_id: int, click: Click) -> None:
    """Take back that a judged item is evidence, with the verdict and the outcome that it brought.

    A verdict given since stays, as does an outcome that the rater chose or other evidence holds.
    Raises ``NotPinned``.
    """
    events.lock(session, rater)
    target = place.target(EVIDENCE, item_id)
    last = events.current(session, rater, target)
    if last is None or session.get_one(JudgedItem, item_id).question_id != place.question.id:
        raise NotPinned(item_id)
    if last.new is None:
        return
    events.record(session, rater, target, None, click)
    verdict = _verdict_target(session, place, item_id)
    in_force = events.current(session, rater, verdict)
    # A pin and its verdict are events of one id: another id is a verdict given since.
    if in_force is not None and in_force.event_id == last.event_id:
        before = select(Event.old).where(Event.id == in_force.id)
        events.record(session, rater, verdict, session.scalar(before), click)
    undoing.release_outcome(session, rater, item_id, click)
    revise(session, rater.study_id)
    events.refresh(session, rater, [verdict])


def judged_item(session: Session, place: Place, catalogue_id: int) -> int:
    """Return the judged item of the question that has the identity of an item of the catalogue.

    Of several versions the evidence comes first. Raises ``NotPinned`` where there is none.
    """
    versions = (
        select(JudgedItem.id)
        .join(StoredItem, StoredItem.id == JudgedItem.item_id)
        .join(CatalogueItem, CatalogueItem.identity == StoredItem.identity)
        .outerjoin(Judgment, Judgment.judged_item_id == JudgedItem.id)
        .where(CatalogueItem.id == catalogue_id, JudgedItem.question_id == place.question.id)
        .where(JudgedItem.run_id.is_not_distinct_from(place.run_id))
        .order_by(Judgment.is_evidence.desc(), JudgedItem.content.desc())
    )
    item_id = session.scalar(versions.limit(1))
    if item_id is None:
        raise NotPinned(catalogue_id)
    return item_id


def _verdict_target(session: Session, place: Place, item_id: int) -> Target:
    """Return the target of a verdict on an item that is pinned or unpinned.

    In a repeat only its own cards are judged again; a verdict on any other item is the first one.
    """
    if place.is_repeat:
        in_task = Repeat.task_id == place.task_id, Repeat.judged_item_id == item_id
        if session.scalar(select(Repeat.task_id).where(*in_task)) is None:
            return Target("verdict", item_id, None, place.task_id)
    return place.target("verdict", item_id)
