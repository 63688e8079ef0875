"""The findings of phase 3: its participants, their progress, and the figures of all of them.

Only phase 3 is read here, by way of ``participants``; phases 1 and 2 and this one share no data
(docs/decisions/0011).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from webapp import failures
from webapp.db.tables.judging import Event
from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import CommentTheme, OwnQuestion, Participant
from webapp.db.tables.runs import Query, Result
from webapp.db.tables.study import Question, Study
from webapp.failures import Missing, Refused
from webapp.i18n import mark
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.judging.figures import QueryRow
from webapp.metrics.phase_3.user_study import (
    Comment,
    OwnAnswer,
    ParticipantCard,
    Person,
    UserStudyReport,
    by_category,
    by_theme,
    clustered_figures,
    usability_of,
)
from webapp.records import COMMENTS, Card
from webapp.services.judging import judged_things
from webapp.services.phase_3 import links, own_questions, participants, user_studies
from webapp.services.phase_3.participants import Questionnaire
from webapp.services.runs import reports
from webapp.services.study import assignments, studies

NOTE = "note"

Themes = Mapping[tuple[int, str], tuple[str, ...]]
"""The themes of a comment, by participant and the comment's name."""


def report(
    session: Session, study: Study, now: datetime, *, settings: Resampling | None = None
) -> UserStudyReport:
    """Return phase 3 of a study; raises ``user_studies.NotSetUp`` where there is none."""
    phase = user_studies.find(session, study)
    if phase is None:
        raise user_studies.NotSetUp
    resampling = settings or Resampling()
    people = everybody(session, study, now)
    return UserStudyReport(
        study=study.name,
        search_method=phase.search_method,
        llm=phase.llm,
        most_questions=phase.most_questions,
        people=people,
        declined=phase.declined,
        withdrawn=phase.withdrawn,
        judged_until=_judged_until(session, study),
        settings=resampling,
        version=version("relevansi"),
        figures=clustered_figures([person.totals for person in people], resampling),
        categories=by_category(people, resampling),
        themes=by_theme(people),
        usability=usability_of(people),
        suggested=tuple(time.since for time in assignments.suggested(session, study)),
        cannot_tell=study.cannot_tell,
    )


def everybody(session: Session, study: Study, now: datetime) -> tuple[Person, ...]:
    """Return every participant with all they gave, in the order they came."""
    found = participants.everybody(session, study)
    rater_ids = [one.rater_id for one in found if one.rater_id is not None]
    said = participants.of_raters(session, rater_ids)
    themes = _themes(session, study)
    return tuple(_person(session, one, said, themes, now) for one in found)


def person(session: Session, participant: Participant, now: datetime) -> Person:
    """Return one participant with all they gave."""
    rater_ids = [participant.rater_id] if participant.rater_id is not None else []
    said = participants.of_raters(session, rater_ids)
    return _person(session, participant, said, _themes(session, participant.study), now)


def _person(
    session: Session,
    participant: Participant,
    said: Mapping[int, Questionnaire],
    themes: Themes,
    now: datetime,
) -> Person:
    closing = said.get(participant.rater_id or 0, Questionnaire((None,) * 10, "", ""))
    answers = tuple(_answers(session, participant, now))
    comments = (*_notes(answers), *_texts(closing))
    return Person(
        id=participant.id,
        number=participant.number,
        pseudonym=participant.pseudonym,
        consent=participant.consent.number if participant.consent else None,
        agreed_at=participant.agreed_at,
        finished_at=participant.finished_at,
        questions_left=_left(session, participant),
        answers=answers,
        usability=closing.usability,
        usability_score=closing.score,
        comments=tuple(
            Comment(name, text, themes.get((participant.id, name), ()), question)
            for name, text, question in comments
            if text
        ),
    )


def _left(session: Session, participant: Participant) -> int:
    if participant.rater is None or participant.finished_at is not None:
        return 0
    return own_questions.allowance(session, participant).left


def _answers(session: Session, participant: Participant, now: datetime) -> Iterator[OwnAnswer]:
    """Yield a participant's questions in the order they were asked."""
    if participant.rater is None:
        return
    rows = _rows(session, participant, participant.rater)
    shown = _shown(session, participant.run_id)
    for line in own_questions.lines(session, participant, now):
        row = rows.get(line.position)
        response, cards = shown.get(line.position, ("", ()))
        verdicts = row.verdicts if row else ()
        yield OwnAnswer(
            number=line.position,
            question=line.text,
            category=line.category,
            conversation=line.conversation,
            state=str(line.state),
            asked_at=line.put_at,
            answered_at=line.answered_at,
            response=response,
            row=row,
            cards=tuple(
                ParticipantCard(rank, card, verdict)
                for (rank, card), verdict in zip(cards, verdicts, strict=True)
            ),
        )


def _rows(session: Session, participant: Participant, rater: Rater) -> dict[int, QueryRow]:
    if participant.run_id is None:
        return {}
    rule = reports.of_rater(rater)
    found = reports.report(session, rater.study, participant.run_id, rule)
    return {row.query_id: row for row in found.rows}


def _shown(
    session: Session, run_id: str | None
) -> dict[int, tuple[str, tuple[tuple[int, Card], ...]]]:
    """Return the chatbot's words and the cards in rank order, by the question's number."""
    cards: dict[int, list[tuple[int, Card]]] = defaultdict(list)
    wanted = select(Query.query_id, Result.rank, Result.card).join_from(Result, Query)
    for number, rank, card in session.execute(
        wanted.where(Query.run_id == run_id).order_by(Query.id, Result.rank)
    ):
        cards[number].append((rank, judged_things.from_row(card)))
    words = session.execute(select(Query.query_id, Query.response).where(Query.run_id == run_id))
    return {number: (response, tuple(cards[number])) for number, response in words}


def _notes(answers: Sequence[OwnAnswer]) -> Iterator[tuple[str, str, str]]:
    for answer in answers:
        if answer.row is not None:
            yield f"{NOTE} {answer.number}", answer.row.notes, answer.question


def _texts(closing: Questionnaire) -> Iterator[tuple[str, str, str]]:
    for name, text in zip(COMMENTS, (closing.helped, closing.missing), strict=True):
        yield name, text, ""


def _themes(session: Session, study: Study) -> Themes:
    found: dict[tuple[int, str], tuple[str, ...]] = defaultdict(tuple)
    rows = session.scalars(
        select(CommentTheme)
        .join(Participant, Participant.id == CommentTheme.participant_id)
        .where(Participant.study_id == study.id)
        .order_by(CommentTheme.theme)
    )
    for row in rows:
        found[row.participant_id, row.comment] += (row.theme,)
    return found


def _judged_until(session: Session, study: Study) -> datetime | None:
    raters = select(Participant.rater_id).where(
        Participant.study_id == study.id, Participant.rater_id.is_not(None)
    )
    return session.scalar(select(func.max(Event.received_at)).where(Event.rater_id.in_(raters)))


LONGEST = 60
"""Characters of a category or a theme."""


class UnfitTheme(Refused, ValueError):
    """A category or theme has at most 60 characters, a theme at least one."""

    message = mark("This is not a category or a theme")
    remedy = mark("Nothing was changed. A theme has 1 to 60 letters, a category at most 60.")


class UnknownComment(Missing):
    """The participant asked or wrote no such thing."""

    message = mark("This participant asked or wrote no such thing")
    remedy = failures.RELOAD


def set_category(
    session: Session, participant: Participant, number: int, category: str, now: datetime
) -> None:
    """Set the category of a participant's question; "" for none yet. Logged.

    Raises ``UnknownComment`` and ``UnfitTheme``.
    """
    question = session.scalar(
        select(Question)
        .join(OwnQuestion)
        .where(OwnQuestion.participant_id == participant.id, Question.position == number)
    )
    if question is None:
        raise UnknownComment(number)
    wanted = _tidy(category)
    if question.category != wanted:
        about = f"{links.subject(participant)}, question {number}"
        old, question.category = question.category, wanted
        studies.log(session, participant.study, "phase 3 category", about, old, wanted, now)


def add(
    session: Session, participant: Participant, comment: str, theme: str, now: datetime
) -> None:
    """Put a comment under a theme, logged; a theme that it has already changes nothing.

    Raises ``UnknownComment`` and ``UnfitTheme``.
    """
    _need_known(comment)
    wanted = _tidy(theme)
    if not wanted:
        raise UnfitTheme(theme)
    known = session.scalars(_of(participant, comment)).all()
    if wanted.casefold() in {row.theme.casefold() for row in known}:
        return
    session.add(
        CommentTheme(participant_id=participant.id, comment=comment, theme=wanted, created_at=now)
    )
    _log(session, participant, comment, None, wanted, now)
    session.flush()


def remove(
    session: Session, participant: Participant, comment: str, theme: str, now: datetime
) -> None:
    """Take a comment from under a theme, logged; nothing where it is not under it."""
    _need_known(comment)
    under = _of(participant, comment).where(CommentTheme.theme == theme)
    found = session.scalar(under)
    if found is not None:
        session.execute(delete(CommentTheme).where(CommentTheme.id == found.id))
        _log(session, participant, comment, theme, None, now)


def _of(participant: Participant, comment: str) -> Select[CommentTheme]:
    return select(CommentTheme).where(
        CommentTheme.participant_id == participant.id, CommentTheme.comment == comment
    )


def _log(
    session: Session,
    participant: Participant,
    comment: str,
    old: str | None,
    new: str | None,
    now: datetime,
) -> None:
    about = f"{links.subject(participant)}, {comment}"
    studies.log(session, participant.study, "phase 3 theme", about, old, new, now)


def _need_known(comment: str) -> None:
    kind, _, number = comment.partition(" ")
    if comment not in COMMENTS and not (kind == NOTE and number.isdecimal() and len(number) < 10):
        raise UnknownComment(comment)


def _tidy(text: str) -> str:
    """Return `text` on one line without needless blanks.

    >>> _tidy("  slow   answer ")
    'slow answer'
    """
    found = " ".join(text.replace("\x00", "").split())
    if len(found) > LONGEST:
        raise UnfitTheme(text)
    return found
