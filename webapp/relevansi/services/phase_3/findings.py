"""The findings of phase 3: its participants, their progress, and the figures of all of them.

Only phase 3 is read here, by way of ``participants``; phases 1 and 2 and this one share no data
(docs/decisions/0011).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version

from sqlalchemy import func, select
from sqlalchemy.orm import Session, selectinload

from relevansi import failures
from relevansi.db.tables.judging import Event
from relevansi.db.tables.phase_3 import CommentTheme, OwnQuestion, Participant
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, Study
from relevansi.exporters.frame.json_files import fields
from relevansi.failures import Missing, Refused
from relevansi.i18n import mark
from relevansi.kinds.property import Card
from relevansi.metrics.phase_3.user_study import (
    Comment,
    OwnAnswer,
    Person,
    UserStudyReport,
    by_category,
    by_theme,
    clustered_figures,
    usability_summary,
)
from relevansi.records import COMMENTS
from relevansi.services.phase_3 import own_questions, participants, questionnaires, user_studies
from relevansi.services.phase_3.questionnaires import Questionnaire
from relevansi.services.runs import reports
from relevansi.services.study import assignments, studies


def report(session: Session, study: Study, now: datetime) -> UserStudyReport:
    """Return phase 3 of a study; raises ``user_studies.NotSetUp`` where there is none."""
    phase = user_studies.find(session, study)
    if phase is None:
        raise user_studies.NotSetUp
    people = _people(session, study, participants.everybody(session, study), now)
    clicks = select(func.max(Event.received_at)).join(
        Participant, Participant.rater_id == Event.rater_id
    )
    scores = [person.usability_score for person in people]
    suggested = assignments.exposure(session, study).suggested
    return UserStudyReport(
        study=studies.shown_name(study),
        **fields(phase, "search_method", "llm", "most_questions", "withdrawn"),
        people=people,
        judged_until=session.scalar(clicks.where(Participant.study_id == study.id)),
        version=version("relevansi"),
        figures=clustered_figures([person.totals for person in people]),
        categories=by_category(people),
        themes=by_theme(people),
        usability=usability_summary([score for score in scores if score is not None]),
        suggested=tuple(time.since for time in suggested),
        cannot_tell=study.cannot_tell,
    )


def person(session: Session, participant: Participant, now: datetime) -> Person:
    """Return one participant with all their answers."""
    return _people(session, participant.study, [participant], now)[0]


def _people(
    session: Session, study: Study, members: Sequence[Participant], now: datetime
) -> tuple[Person, ...]:
    rater_ids = [member.rater_id for member in members if member.rater_id is not None]
    closings, themes = questionnaires.of_raters(session, rater_ids), _themes(session, study)
    people = []
    for participant in members:
        closing = closings.get(participant.rater_id or 0, Questionnaire((None,) * 10, "", ""))
        answers = tuple(_answers(session, participant, now))
        texts = [(f"note {a.number}", a.row.notes, a.question) for a in answers if a.row]
        texts += [("helped", closing.helped, ""), ("missing", closing.missing, "")]
        comments = [
            Comment(name, text, themes.get((participant.id, name), ()), question)
            for name, text, question in texts
            if text
        ]
        people.append(
            Person(
                **fields(participant, "id", "number", "pseudonym", "agreed_at", "finished_at"),
                consent=participant.consent.number if participant.consent else None,
                answers=answers,
                usability=closing.usability,
                comments=tuple(comments),
            )
        )
    return tuple(people)


def _answers(session: Session, participant: Participant, now: datetime) -> Iterator[OwnAnswer]:
    if participant.rater is None:
        return
    run_id, rows = participant.run_id, {}
    if run_id is not None:
        rule = reports.of_rater(participant.rater)
        report = reports.report(session, participant.rater.study, run_id, rule)
        rows = {row.query_id: row for row in report.rows}
    of_run = select(Query).where(Query.run_id == run_id).options(selectinload(Query.results))
    queries = {query.query_id: query for query in session.scalars(of_run)}
    for line in own_questions.lines(session, participant, now):
        question, stored = line.question, line.row
        query, row = queries.get(question.position), rows.get(question.position)
        results = zip(query.results, row.verdicts, strict=True) if query and row else ()
        yield OwnAnswer(
            number=question.position,
            question=question.text,
            category=question.category,
            conversation=stored.conversation,
            state=str(line.state),
            asked_at=stored.put_at,
            answered_at=stored.answered_at,
            response=query.response if query else "",
            row=row,
            cards=tuple((result.rank, Card(**result.card), verdict) for result, verdict in results),
        )


def _themes(session: Session, study: Study) -> Mapping[tuple[int, str], tuple[str, ...]]:
    """Return the themes of comments, by participant and the comment's name."""
    themes: dict[tuple[int, str], tuple[str, ...]] = defaultdict(tuple)
    rows = select(CommentTheme).join(Participant).where(Participant.study_id == study.id)
    for row in session.scalars(rows.order_by(CommentTheme.theme)):
        themes[row.participant_id, row.comment] += (row.theme,)
    return themes


LONGEST = 60
"""Characters of a category or a theme."""


class UnfitTheme(Refused, ValueError):
    message = mark("This is not a category or a theme")
    remedy = mark("Nothing was changed. A theme has 1 to 60 letters, a category at most 60.")


class UnknownComment(Missing):
    message = mark("This participant asked or wrote no such thing")
    remedy = failures.RELOAD


def set_category(
    session: Session, participant: Participant, number: int, category: str, now: datetime
) -> None:
    """Set the category of a participant's question; "" for none yet. Logged."""
    question = session.scalar(
        select(Question)
        .join(OwnQuestion)
        .where(OwnQuestion.participant_id == participant.id, Question.position == number)
    )
    if question is None:
        raise UnknownComment(number)
    new = _tidy(category)
    if question.category != new:
        about = f"{participants.subject(participant)}, question {number}"
        old, question.category = question.category, new
        studies.log(session, participant.study, "phase 3 category", about, old, new, now)


def add(
    session: Session, participant: Participant, comment: str, theme: str, now: datetime
) -> None:
    """Put a comment under a theme, logged; a theme that it has already changes nothing."""
    new, present = _tidy(theme), _themes_of(session, participant, comment)
    if not new:
        raise UnfitTheme(theme)
    if new.casefold() in map(str.casefold, present):
        return
    where = {"participant_id": participant.id, "comment": comment}
    session.add(CommentTheme(**where, theme=new, created_at=now))
    about = f"{participants.subject(participant)}, {comment}"
    studies.log(session, participant.study, "phase 3 theme", about, None, new, now)
    session.flush()


def remove(
    session: Session, participant: Participant, comment: str, theme: str, now: datetime
) -> None:
    """Take a comment from under a theme, logged; nothing where it is not under it."""
    present = _themes_of(session, participant, comment)
    if theme in present:
        session.delete(present[theme])
        about = f"{participants.subject(participant)}, {comment}"
        studies.log(session, participant.study, "phase 3 theme", about, theme, None, now)
        session.flush()


def _themes_of(session: Session, participant: Participant, comment: str) -> dict[str, CommentTheme]:
    """Return the rows of the themes of one comment, by theme; raises ``UnknownComment``."""
    if comment not in COMMENTS and not re.fullmatch("note [0-9]{1,9}", comment):
        raise UnknownComment(comment)
    is_on = (CommentTheme.participant_id == participant.id) & (CommentTheme.comment == comment)
    return {row.theme: row for row in session.scalars(select(CommentTheme).where(is_on))}


def _tidy(text: str) -> str:
    """Return a category or theme without needless blanks; raises ``UnfitTheme``."""
    tidied = " ".join(text.replace("\x00", "").split())
    if len(tidied) > LONGEST:
        raise UnfitTheme(text)
    return tidied
