"""The study of a database, its raters and the owner's settings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import false, func, select, true, update
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.config import resource
from relevansi.db.engine import one_at_a_time, token_id
from relevansi.db.tables.judging import Event
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Study
from relevansi.failures import Conflict, Refused
from relevansi.i18n import SOURCE_LANGUAGE, gettext, language, mark, texts_of
from relevansi.kinds import KINDS
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.graded import (
    FORMS,
    UnknownFigure,
    headline_of,
    ranking_figure,
    usual_headline,
)
from relevansi.metrics.judging.registry import RANKING
from relevansi.records import BINARY, CannotTell, Scale
from relevansi.services.judging import changes, stored_summaries
from relevansi.services.judging.verdicts import Scope

STUDY_NAME = mark("My study")
Merging = Literal["median", "majority"]


def current(session: Session) -> Study | None:
    """Return the study that is open, and speak of its items; ``None`` in a new database."""
    study = session.scalars(select(Study).order_by(Study.id).limit(1)).first()
    if study is not None:
        labels.use_words_of(study.kind, Scale.stored(study.scale), study.merging)
    return study


def shown_name(study: Study) -> str:
    """Return the study's name; one that nobody chose is in the reader's language."""
    return labels.translated_default(study.name, STUDY_NAME)


def open_or_make(session: Session, now: datetime) -> Study:
    """Return the open study, in a new database one that is made with its owner."""
    study = current(session)
    if study is None:
        one_at_a_time(session)  # two processes may find the same database new
        study = current(session)
    if study is None:
        study = Study(name=gettext(STUDY_NAME), starter_guidelines=True, created_at=now)
        session.add(study)
        session.flush()
        add_rater(session, study, gettext(labels.OWNER_NAME), now, is_owner=True)
    return study


def add_rater(
    session: Session, study: Study, name: str, now: datetime, *, is_owner: bool = False
) -> Rater:
    """Return a new rater, who finds every run of the study unrated."""
    rater = Rater(study=study, name=name, is_owner=is_owner, created_at=now)
    session.add(rater)
    session.flush()
    stored_summaries.refresh(session, [rater.id], _in_study(study.id))
    return rater


def _in_study(study_id: int) -> Scope:
    return Query.run_id.in_(select(Run.id).where(Run.study_id == study_id))


def raters(session: Session, study: Study) -> list[Rater]:
    """Return the people who rate the study, never a machine: what merges raters starts here."""
    return [rater for rater in people_and_machines(session, study) if not rater.is_machine]


def present(session: Session, study: Study) -> list[Rater]:
    """Return the people who can still judge."""
    return [rater for rater in raters(session, study) if rater.removed_at is None]


def people_and_machines(session: Session, study: Study) -> list[Rater]:
    """Return the study's raters and machines, in the order in which they were added."""
    statement = select(Rater).where(Rater.study_id == study.id).order_by(Rater.id)
    return list(session.scalars(statement))


def rater_name(rater: Rater) -> str:
    """Return the name that readers see, with the remark that a machine is one."""
    if not rater.is_machine:
        return rater.name
    return gettext("%(name)s (machine)", name=rater.name)


def is_blind(session: Session, study: Study) -> bool:
    """Whether raters see neither run nor method: the owner's word, else once two runs compete."""
    if study.blind is not None:
        return study.blind
    runs_per_set = (
        select(func.count())
        .where(Run.study_id == study.id)
        .group_by(Run.question_set_id)
        .order_by(func.count().desc())
    )
    return (session.scalar(runs_per_set.limit(1)) or 0) > 1


class Switches(Struct, frozen=True):
    """The owner's settings of a study; see ``db.tables.study.Study``. Every change is logged."""

    name: str
    allow_bulk: bool = False
    show_pictures: bool = False
    blind: bool | None = None
    shuffle_questions: bool = False
    pool_depth: int | None = None
    overlap: int | None = None
    figures: str = "progress"
    badges_while_blind: bool = False
    show_record: bool = False
    suggest_quality: bool | None = None
    cannot_tell: CannotTell = "not_relevant"
    repeat_percent: int = 5
    scale: Scale = BINARY
    merging: Merging | None = None
    measures: tuple[str, ...] | None = None
    asks_quality: bool = True
    marks_words: bool = True
    reason_required: bool = False
    reasons: tuple[str, ...] | None = None
    looks_up: bool = True
    looks_up_in_phase_3: bool = False
    looks_up_constraints: bool = False
    guidelines: str = ""
    starter_guidelines: bool = False


class UnknownHeadline(UnknownFigure):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.placeholders["forms"] = ", ".join((*FORMS, *HEADLINES))


class UnfitThreshold(Refused, ValueError):
    message = mark("An item cannot be relevant from grade %(name)s")
    remedy = mark("On this scale it can be relevant from a grade of 1 to %(top)s.")


class UnfitWords(Refused, ValueError):
    message = mark("The words are %(name)s, but the grades are 0 to %(top)s")
    remedy = mark("Give one word for each grade, from 0 up, with commas between them.")


class ScaleInUse(Conflict):
    message = mark("The scale of this study cannot change any more")
    remedy = mark(
        "Verdicts were given on it, and those on two scales do not compare. Words and guidance of "
        "the grades can still change; another scale needs another study."
    )


def scale_of(
    top: int, relevant_from: int, words: Iterable[str] = (), guidance: Iterable[str] = ()
) -> Scale:
    """Return a scale with its words and guidance, which are none where all are empty.

    Raises ``UnfitThreshold`` and ``UnfitWords``.
    """
    if not 1 <= relevant_from <= top:
        raise UnfitThreshold(relevant_from, top=top)
    text_lists = [list(each) for each in (words, guidance)]
    for texts in text_lists:
        if any(texts) and len(texts) != top + 1:
            raise UnfitWords(len(texts), top=top)
    return Scale(top, relevant_from, *(tuple(texts) if any(texts) else () for texts in text_lists))


_OF_ANSWERS = {"mean_response_quality", "composite"}


def offered_figures(study: Study) -> tuple[str, ...]:
    """Return the headline of the study, then what else may be chosen: one of each family."""
    of_kind = KINDS[study.kind].headlines
    of_method = (name for name in HEADLINES if not (of_kind and name in _OF_ANSWERS))
    of_rankings = (measure.label.replace("@k", "@10") for measure in RANKING.values())
    return tuple(dict.fromkeys((*headline_of(study), *of_method, *of_rankings)))


def named_figures(names: Iterable[str]) -> tuple[str, ...]:
    """Return figures in their usual spelling, each once; raises ``UnknownHeadline``."""
    return tuple(dict.fromkeys(map(_figure_name, names)))


def figures_in(text: str) -> tuple[str, ...]:
    """Return the figures that a text names, with commas between; raises ``UnknownHeadline``."""
    return named_figures(filter(str.strip, text.split(",")))


def _figure_name(name: str) -> str:
    if name.strip().casefold() in HEADLINES:
        return name.strip().casefold()
    try:
        return ranking_figure(name).name
    except UnknownFigure:
        raise UnknownHeadline(name.strip()) from None


def has_verdicts(session: Session, study: Study) -> bool:
    """Whether anybody ever gave a verdict in the study: then its scale stays as it is."""
    statement = select(Event.id).join(Rater, Rater.id == Event.rater_id)
    statement = statement.where(Rater.study_id == study.id, Event.field == "verdict")
    return session.scalar(statement.limit(1)) is not None


def switches(study: Study) -> Switches:
    """Return the settings of a study as they are stored."""
    stored = {name: getattr(study, name) for name in Switches.__struct_fields__}
    lists = {
        name: tuple(stored[name]) if stored[name] else None for name in ("measures", "reasons")
    }
    return Switches(**stored | lists | {"scale": Scale.stored(study.scale)})


def set_switches(session: Session, study: Study, switches_after: Switches, now: datetime) -> None:
    """Set the study's name and switches, logging each change; new guidelines end the starter.

    Another scale, other figures, another depth of the pool, another way to count "cannot tell" or
    to ask for the quality rewrite all stored summaries in this transaction. Raises ``ScaleInUse``
    once there are verdicts, and ``UnknownHeadline``.
    """
    before = switches(study)
    if switches_after.guidelines != before.guidelines:
        switches_after = replace(switches_after, starter_guidelines=False)
    measures = named_figures(switches_after.measures or ())
    unusual = measures and measures != usual_headline(study)
    switches_after = replace(switches_after, measures=measures if unusual else None)
    old_scale, new_scale = before.scale, switches_after.scale
    # The words and guidance of the grades may change at any time.
    grades_before = old_scale.top, old_scale.relevant_from
    if grades_before != (new_scale.top, new_scale.relevant_from) and has_verdicts(session, study):
        raise ScaleInUse
    changed = set()
    for name in Switches.__struct_fields__:
        old, new = getattr(before, name), getattr(switches_after, name)
        if old != new and not (name == "name" and new == shown_name(study)):
            setattr(study, name, _to_store(new))
            log(session, study, f"set {name}", study.name, _logged(old), _logged(new), now)
            changed.add(name)
    if "asks_quality" in changed:
        has_text = func.trim(Query.response, " \t\r\n") != ""
        answered = true() if KINDS[study.kind].always_answered else has_text
        condition = answered if study.asks_quality else false()
        session.execute(update(Query).where(_in_study(study.id)).values(asks_quality=condition))
    if "cannot_tell" in changed:
        # The studies of participants (docs/decisions/0011) count as the one they belong to.
        session.execute(update(Study).values(cannot_tell=switches_after.cannot_tell))
        for study_id in session.scalars(select(Study.id)).all():
            _refresh(session, study_id)
    elif changed & {"scale", "measures", "asks_quality", "pool_depth"}:
        _refresh(session, study.id)


def _to_store(value: Any) -> Any:
    if isinstance(value, Scale):
        return value.to_store()
    return list(value) if isinstance(value, tuple) else value


def _logged(value: Any) -> str:
    stored = _to_store(value)
    return json.dumps(stored) if isinstance(stored, dict | list) else str(stored)


def _refresh(session: Session, study_id: int) -> None:
    people = session.scalars(select(Rater.id).where(Rater.study_id == study_id)).all()
    stored_summaries.refresh(session, people, _in_study(study_id))


def guidelines(study: Study, code: str = "") -> str:
    """Return the guidelines of raters; the starter's in the language `code`, else the reader's."""
    if not study.starter_guidelines:
        return study.guidelines
    texts = starters(study)
    return texts.get(code or language(), texts[SOURCE_LANGUAGE])


def starters(study: Study) -> dict[str, str]:
    """Return the starter guidelines for the kind of items of a study, by their language."""
    texts = texts_of(resource("templates") / "study", f"starter_{study.kind}")
    return {code: text.strip() for code, text in texts.items()}


def rename_rater(session: Session, rater: Rater, name: str, now: datetime) -> None:
    """Give a rater another name, logged; nothing for none or the same."""
    if name and name != rater.name:
        log(session, rater.study, "rename rater", rater_subject(rater), rater.name, name, now)
        rater.name = name


def rater_subject(rater: Rater) -> str:
    """Return the log's name of a rater: the number, so that the name can be forgotten."""
    return f"rater {rater.id}"


def log(
    session: Session,
    study: Study,
    action: str,
    subject: str,
    old: str | None,
    new: str | None,
    now: datetime,
) -> None:
    """Log what the owner changed, and give the study another revision: caches read it again."""
    entry = LogEntry(study_id=study.id, at=now, action=action, subject=subject, old=old, new=new)
    entry.token_id = token_id(session)
    session.add(entry)
    changes.revise(session, study.id)
