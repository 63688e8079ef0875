"""Phase 3: its set-up, participants, their questions and answers: tables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from relevansi.db.tables.base import Base, reference

if TYPE_CHECKING:
    from relevansi.db.tables.people import Rater
    from relevansi.db.tables.runs import Query, Run
    from relevansi.db.tables.study import Question, Study


class UserStudy(Base):
    """Phase 3 of a study: who may ask, how much, and which chatbot answers.

    ``api`` is "contract", "openai" (then ``model``) or "mapping" (then ``mapping``, a mapping
    file's text). Keys are never stored here: headers name environment variables. ``at_once`` calls
    run together, ``pause_seconds`` pass between two questions of one participant, and
    ``most_newcomers`` become participants by one link from one address within an hour.
    ``withdrawn`` counts the people who did so, and nothing else is kept of them; ``last_number`` is
    the latest participant's, never given again.
    """

    __tablename__ = "user_studies"

    study_id: Mapped[int] = reference("studies.id", primary_key=True)
    is_open: Mapped[bool] = mapped_column(default=False)
    most_questions: Mapped[int] = mapped_column(default=10)
    endpoint: Mapped[str] = mapped_column(Text, default="")
    search_method: Mapped[str] = mapped_column(Text, default="")
    llm: Mapped[str] = mapped_column(Text, default="")
    api: Mapped[str] = mapped_column(String(16), default="contract")
    model: Mapped[str] = mapped_column(Text, default="")
    mapping: Mapped[str] = mapped_column(Text, default="")
    answer_seconds: Mapped[int] = mapped_column(default=120)
    tries: Mapped[int] = mapped_column(default=2)
    at_once: Mapped[int] = mapped_column(default=2)
    pause_seconds: Mapped[int] = mapped_column(default=5)
    most_newcomers: Mapped[int] = mapped_column(default=40, server_default=text("40"))
    withdrawn: Mapped[int] = mapped_column(default=0)
    last_number: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]


class ConsentText(Base):
    """The text that participants agree to, in one language; every version ever shown is kept.

    A version (``number``, from 1) has one text in each language.
    """

    __tablename__ = "consent_texts"
    __table_args__ = (UniqueConstraint("study_id", "number", "language"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = reference("studies.id")
    number: Mapped[int]
    language: Mapped[str] = mapped_column(String(8))
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]


class Participant(Base):
    """A person who asks questions of their own: invited by a link, admitted by consent.

    A person who agreed has a rater in a study of their own (see docs/decisions/0011), which
    holds their questions, answers and judgments, apart from the runs of ``study``. Before
    that there is no rater. ``run_id`` is the run of the answers, from the first question on.
    """

    __tablename__ = "participants"
    __table_args__ = (UniqueConstraint("study_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = reference("studies.id")
    number: Mapped[int]
    pseudonym: Mapped[str] = mapped_column(Text)
    rater_id: Mapped[int | None] = reference("raters.id", unique=True)
    run_id: Mapped[str | None] = reference("runs.id", unique=True)
    consent_id: Mapped[int | None] = reference("consent_texts.id", index=True)
    created_at: Mapped[datetime]
    agreed_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    study: Mapped[Study] = relationship()
    rater: Mapped[Rater | None] = relationship()
    run: Mapped[Run | None] = relationship()
    consent: Mapped[ConsentText | None] = relationship()


class ParticipantLink(Base):
    """A link into phase 3; only its hash is kept.

    Without a participant the link is open: each person who agrees becomes a new participant.
    """

    __tablename__ = "participant_links"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = reference("studies.id", index=True)
    participant_id: Mapped[int | None] = reference("participants.id", "CASCADE", index=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    withdrawn_at: Mapped[datetime | None]

    participant: Mapped[Participant | None] = relationship()


class CommentTheme(Base):
    """A theme that the owner finds in something a participant wrote, one of any number.

    ``comment`` is "note 3" (on the participant's third question), "helped" or "missing" (of
    the closing questionnaire). It goes with the participant.
    """

    __tablename__ = "comment_themes"
    __table_args__ = (UniqueConstraint("participant_id", "comment", "theme"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = reference("participants.id", "CASCADE")
    comment: Mapped[str] = mapped_column(String(24))
    theme: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]


class OwnQuestion(Base):
    """A participant's question on its way to the chatbot and back.

    ``state``: "waiting" for its turn, "asking", "answered", "failed", "given up". A question that
    was given up has a query too, as a failed call. ``session_id`` names the conversation at the
    chatbot. A call that died is known by ``alive_until``. ``turn`` and ``origin`` are of 1.0.0 and
    no longer read. ``error``, ``error_code`` and ``excerpt`` are of the last attempt that failed. A
    question is closed once the participant is done with it: at most one is open.
    """

    __tablename__ = "own_questions"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = reference("participants.id", index=True)
    question_id: Mapped[int] = reference("questions.id", unique=True)
    query_key: Mapped[int | None] = reference("queries.id", unique=True)
    conversation: Mapped[int]
    session_id: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    attempt: Mapped[int] = mapped_column(default=1)
    origin: Mapped[str | None] = mapped_column(String(32))
    turn: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    put_at: Mapped[datetime]
    alive_until: Mapped[datetime | None]
    answered_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    error: Mapped[str | None] = mapped_column(Text)
    error_code: Mapped[str | None] = mapped_column(String(32))
    excerpt: Mapped[str | None] = mapped_column(Text)

    participant: Mapped[Participant] = relationship()
    question: Mapped[Question] = relationship()
    query: Mapped[Query | None] = relationship()


Index(
    "uq_own_questions_open",
    OwnQuestion.participant_id,
    unique=True,
    sqlite_where=OwnQuestion.closed_at.is_(None),
    postgresql_where=OwnQuestion.closed_at.is_(None),
)


class QuestionnaireAnswer(Base):
    """The answer of a participant's rater to one item of the closing questionnaire.

    ``item`` is "sus 1" to "sus 10" (with ``score`` 1 to 5), "helped" or "missing" (with
    ``text``). A null score and an empty text are an item without an answer.
    """

    __tablename__ = "questionnaire_answers"

    rater_id: Mapped[int] = reference("raters.id", primary_key=True)
    item: Mapped[str] = mapped_column(String(16), primary_key=True)
    score: Mapped[int | None]
    text: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime]
