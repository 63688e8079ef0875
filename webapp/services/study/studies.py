"""The study a database opens with, its local rater and its switches."""

from __future__ import annotations

from datetime import datetime
from functools import cache

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from webapp import labels
from webapp.config import resource
from webapp.db.engine import one_at_a_time
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.i18n import (
    LANGUAGES,
    SOURCE_LANGUAGE,
    gettext,
    language,
    mark,
    speaking,
    texts_of,
)
from webapp.records import CannotTell, Scale
from webapp.services.judging import changes, live_metrics
from webapp.services.judging.verdicts import Scope

STUDY_NAME = mark("My study")
OWNER_NAME = mark("Owner")


def current(session: Session) -> Study | None:
    """Return the study that is open, and speak of its items; ``None`` in a new database."""
    study = session.scalars(select(Study).order_by(Study.id).limit(1)).first()
    if study is not None:
        labels.about(study.kind, Scale.stored(study.scale))
    return study


def shown_name(study: Study) -> str:
    """Return the study's name; in the reader's language while it is the one it was made with."""
    return gettext(STUDY_NAME) if study.name in _first_names(STUDY_NAME) else study.name


def shown_owner(name: str) -> str:
    return gettext(OWNER_NAME) if name in _first_names(OWNER_NAME) else name


@cache
def _first_names(default: str) -> frozenset[str]:
    names = set()
    for code in LANGUAGES:
        with speaking(code):
            names.add(gettext(default))
    return frozenset(names)


def open_or_make(session: Session, now: datetime) -> Study:
    """Return the open study, made with its local rater in a new database."""
    study = current(session)
    if study is None:
        one_at_a_time(session)  # two processes may find the same database new
        study = current(session)
    if study is None:
        study = Study(name=gettext(STUDY_NAME), starter_guidelines=True, created_at=now)
        session.add(study)
        session.flush()
        add_rater(session, study, gettext(OWNER_NAME), now, is_owner=True)
    return study


def add_rater(
    session: Session, study: Study, name: str, now: datetime, *, is_owner: bool = False
) -> Rater:
    """Return a new rater, who finds every run of the study unrated."""
    rater = Rater(study=study, name=name, is_owner=is_owner, created_at=now)
    session.add(rater)
    session.flush()
    live_metrics.refresh(session, [rater.id], _in_study(study.id))
    return rater


def _in_study(study_id: int) -> Scope:
    return Query.run_id.in_(select(Run.id).where(Run.study_id == study_id))


def raters(session: Session, study: Study) -> list[Rater]:
    """Return the people who rate the study, never a machine: what merges raters starts here."""
    return [rater for rater in people_and_machines(session, study) if not rater.is_machine]


def people_and_machines(session: Session, study: Study) -> list[Rater]:
    """Return the study's raters and machines, the local rater first."""
    found = select(Rater).where(Rater.study_id == study.id).order_by(Rater.id)
    return list(session.scalars(found))


def called(rater: Rater) -> str:
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
    guidelines: str = ""
    starter_guidelines: bool = False


def switches(study: Study) -> Switches:
    return Switches(**{name: getattr(study, name) for name in Switches.__struct_fields__})


def set_switches(session: Session, study: Study, wanted: Switches, now: datetime) -> None:
    """Set the study's name and switches, logging each change; new guidelines end the starter.

    Another way to count "cannot tell" makes all figures that are kept anew, in this transaction.
    """
    before = switches(study)
    if wanted.guidelines != before.guidelines:
        wanted = replace(wanted, starter_guidelines=False)
    for name in Switches.__struct_fields__:
        old, new = getattr(before, name), getattr(wanted, name)
        if old != new and not (name == "name" and new == shown_name(study)):
            setattr(study, name, new)
            log(session, study, f"set {name}", study.name, str(old), str(new), now)
    if wanted.cannot_tell != before.cannot_tell:
        # Participants' own studies count as the one they are of.
        session.execute(update(Study).values(cannot_tell=wanted.cannot_tell))
        for study_id in session.scalars(select(Study.id)).all():
            people = session.scalars(select(Rater.id).where(Rater.study_id == study_id)).all()
            live_metrics.refresh(session, people, _in_study(study_id))


def guidelines(study: Study, code: str = "") -> str:
    """Return what raters go by, the starter in a language (of the page) where it is shown."""
    if not study.starter_guidelines:
        return study.guidelines
    texts = starters()
    return texts.get(code or language(), texts[SOURCE_LANGUAGE])


def starters() -> dict[str, str]:
    found = texts_of(resource("templates") / "study", "starter")
    return {code: text.strip() for code, text in found.items()}


def rename_rater(session: Session, rater: Rater, name: str, now: datetime) -> None:
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
    """Note something the owner changed, and give the study another revision."""
    session.add(
        LogEntry(study_id=study.id, at=now, action=action, subject=subject, old=old, new=new)
    )
    changes.revise(session, study.id)
