"""The tables. Each class says what its rows mean; names follow the field's words.

A judgment belongs to a (rater, judged thing). A judged thing is a (question, property,
content), or the emptiness of a question's answer when it has no property; for a question
that depends on its conversation the run belongs to it as well.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    func,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from webapp.metrics.judging.summaries import COLUMNS

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Moment(TypeDecorator[datetime]):
    """An aware time, kept in UTC on every database (SQLite has no time zones)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return `value` in UTC; a naive time is a programming error (ValueError)."""
        return None if value is None else _in_utc(value)

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Return the function from an aware time to the stored one; SQLite stores a text."""
        return _as_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(
        self, dialect: Dialect, coltype: object
    ) -> Callable[[Any], datetime | None] | None:
        """Return the function from a stored time to an aware one in UTC; SQLite stores a text."""
        return _of_text if dialect.name == "sqlite" else super().result_processor(dialect, coltype)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the stored time as an aware one in UTC."""
        return None if value is None else value.astimezone(UTC)


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a stored time needs a time zone")
    return value.astimezone(UTC)


def _as_text(value: datetime | None) -> str | None:
    if value is None:
        return None
    return _in_utc(value).isoformat(" ", "microseconds").removesuffix("+00:00")


def _of_text(stored: str | None) -> datetime | None:
    return None if stored is None else datetime.fromisoformat(f"{stored}+00:00")


class Base(DeclarativeBase):
    """Every table; constraint names are the same on SQLite and PostgreSQL."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: Moment,
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
    }


def _index_of(first: str, *others: str) -> Index:
    """Return an index of the rows whose column `first` refers to something."""
    hangs = text(f"{first} IS NOT NULL")
    return Index(None, first, *others, sqlite_where=hangs, postgresql_where=hangs)


def _secret() -> str:
    """Return the secret of a new study; it is stored, so that every order can be made again."""
    return secrets.token_hex(32)


class Study(Base):
    """The runs, raters and switches that belong together.

    ``blind`` is the owner's choice; null means blind as soon as two runs share a question set.
    ``order_secret`` shuffles what blind raters see; no page and no export shows it.
    ``order_seed`` does so for tasks that were given before studies had a secret. ``pool_depth``
    limits the ranks that are pooled, ``overlap`` how many raters judge one question; null means
    all. ``figures`` says what invited raters see while rating: "progress" or "all".
    ``badges_while_blind`` shows them the outcome of the constraints on each card,
    ``show_record`` shows every rater the details that only a listing's record has.
    ``repeat_percent`` of a blind rater's questions are asked again, unannounced. ``password`` is
    the owner's, hashed.
    """

    __tablename__ = "studies"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    allow_bulk: Mapped[bool] = mapped_column(default=False)
    show_pictures: Mapped[bool] = mapped_column(default=False)
    blind: Mapped[bool | None]
    order_seed: Mapped[int] = mapped_column(BigInteger, default=0)
    order_secret: Mapped[str] = mapped_column(String(64), default=_secret, server_default="")
    shuffle_questions: Mapped[bool] = mapped_column(default=False)
    pool_depth: Mapped[int | None]
    overlap: Mapped[int | None]
    figures: Mapped[str] = mapped_column(String(16), default="progress")
    badges_while_blind: Mapped[bool] = mapped_column(default=False, server_default=false())
    show_record: Mapped[bool] = mapped_column(default=False, server_default=false())
    repeat_percent: Mapped[int] = mapped_column(default=5)
    guidelines: Mapped[str] = mapped_column(Text, default="")
    password: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime]


class Rater(Base):
    """A person or machine that judges. A local study has one without login, its owner.

    A removed rater cannot judge any more; the judgments stay unless they were deleted too. A
    machine has its model and prompt in ``machine_judges``; one cannot sign in as a machine, and
    its verdicts count in no figure of people.
    """

    __tablename__ = "raters"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    name: Mapped[str] = mapped_column(Text)
    is_owner: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    removed_at: Mapped[datetime | None]
    is_machine: Mapped[bool] = mapped_column(default=False, server_default=false())

    study: Mapped[Study] = relationship()


class Invitation(Base):
    """A link that signs a rater in, on any number of devices; only its hash is kept."""

    __tablename__ = "invitations"

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    withdrawn_at: Mapped[datetime | None]

    rater: Mapped[Rater] = relationship()


class Attempt(Base):
    """One try that is counted, to limit how many follow."""

    __tablename__ = "attempts"
    __table_args__ = (Index(None, "source", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(String(128))
    at: Mapped[datetime]


class SignedOut(Base):
    """A sign-in that was ended; its badges carry ``id``."""

    __tablename__ = "signed_out"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)


class QuestionSet(Base):
    """The ordered list of questions put to the chatbot in one or more runs."""

    __tablename__ = "question_sets"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    created_at: Mapped[datetime]

    questions: Mapped[list[Question]] = relationship(
        back_populates="question_set", order_by="Question.position"
    )


class Question(Base):
    """One question at one position (1-based) of its set; the same text may come twice.

    ``key`` is the text with blanks removed and case folded: equal keys make two runs share a set.
    ``note`` is the owner's note to raters; null shows the gold question's note instead.
    """

    __tablename__ = "questions"
    __table_args__ = (Index(None, "question_set_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    question_set_id: Mapped[int] = mapped_column(ForeignKey("question_sets.id"))
    position: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    category: Mapped[str] = mapped_column(Text)
    context_dependent: Mapped[bool]
    note: Mapped[str | None] = mapped_column(Text)

    question_set: Mapped[QuestionSet] = relationship(back_populates="questions")


class Run(Base):
    """One system's answers to a question set in one sequential chat session.

    The id is short, random and without meaning. ``stated_*`` keep the labels of the file where
    the owner has relabelled the run; two files of one session share their ``session_key``.
    ``position`` is its place among the study's runs, where the owner gave them an order.
    """

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    question_set_id: Mapped[int] = mapped_column(ForeignKey("question_sets.id"), index=True)
    search_method: Mapped[str | None] = mapped_column(Text)
    llm: Mapped[str | None] = mapped_column(Text)
    stated_search_method: Mapped[str | None] = mapped_column(Text)
    stated_llm: Mapped[str | None] = mapped_column(Text)
    timestamp: Mapped[str | None] = mapped_column(Text)
    session_key: Mapped[str] = mapped_column(String(64), index=True)
    position: Mapped[int | None]
    total_questions: Mapped[int | None] = mapped_column(BigInteger)
    extra: Mapped[dict[str, Any]]
    imported_at: Mapped[datetime]

    question_set: Mapped[QuestionSet] = relationship()
    files: Mapped[list[RunFile]] = relationship(
        back_populates="run", order_by="RunFile.id", cascade="all, delete-orphan"
    )
    queries: Mapped[list[Query]] = relationship(
        back_populates="run", order_by="Query.id", cascade="all, delete-orphan"
    )


class RunFile(Base):
    """A file that a run came from, by the SHA-256 of its bytes, with the import's report."""

    __tablename__ = "run_files"
    __table_args__ = (UniqueConstraint("run_id", "sha256"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    name: Mapped[str] = mapped_column(Text)
    file_format: Mapped[str] = mapped_column(String(8))
    problems: Mapped[list[dict[str, Any]]]
    imported_at: Mapped[datetime]

    run: Mapped[Run] = relationship(back_populates="files")


class Query(Base):
    """One question as asked in one run, with the answer; ``query_id`` is the file's own.

    ``emptiness_id`` is the judged thing to classify where the list came back empty.
    """

    __tablename__ = "queries"
    __table_args__ = (UniqueConstraint("run_id", "query_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id"), index=True)
    query_id: Mapped[int] = mapped_column(BigInteger)
    response: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    claimed_count: Mapped[int | None] = mapped_column(BigInteger)
    error: Mapped[str | None] = mapped_column(Text)
    extra: Mapped[dict[str, Any]]
    emptiness_id: Mapped[int | None] = mapped_column(ForeignKey("judged_things.id"), index=True)

    run: Mapped[Run] = relationship(back_populates="queries")
    question: Mapped[Question] = relationship()
    emptiness: Mapped[JudgedThing | None] = relationship()
    results: Mapped[list[Result]] = relationship(
        back_populates="query", order_by="Result.rank", cascade="all, delete-orphan"
    )


class Property(Base):
    """The property shown on a card, by any run."""

    __tablename__ = "properties"

    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str] = mapped_column(Text, unique=True)


class JudgedThing(Base):
    """The subject of one verdict: (question, property, content) or a question's emptiness.

    ``content`` numbers the versions of the property that differ in content, from 1. ``run_id``
    is set only where the answer depends on its own conversation. ``card`` is the fullest
    version seen; null for emptiness.
    """

    __tablename__ = "judged_things"

    id: Mapped[int] = mapped_column(primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id"))
    property_id: Mapped[int | None] = mapped_column(ForeignKey("properties.id"), index=True)
    content: Mapped[int] = mapped_column(default=1)
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"), index=True)
    card: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))

    property: Mapped[Property | None] = relationship()


Index(
    "uq_judged_things",
    JudgedThing.question_id,
    func.coalesce(JudgedThing.run_id, text("''")),
    func.coalesce(JudgedThing.property_id, text("0")),
    JudgedThing.content,
    unique=True,
)


class Result(Base):
    """(query, rank, property): one card as shown, ranks 1-based."""

    __tablename__ = "results"
    __table_args__ = (UniqueConstraint("query_key", "rank"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    query_key: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    rank: Mapped[int]
    judged_thing_id: Mapped[int] = mapped_column(ForeignKey("judged_things.id"), index=True)
    card: Mapped[dict[str, Any]]

    query: Mapped[Query] = relationship(back_populates="results")
    judged_thing: Mapped[JudgedThing] = relationship()


class Task(Base):
    """One question given to one blind rater: everything to judge about it, of all runs.

    The id is random and without meaning. ``run_id`` is set where the question depends on its
    conversation. A task of kind "repeat" asks the rater a question a second time.
    ``postponed_at`` is when its rater last put it off, to come back to it after the others.
    ``keeps_seed_order`` is true of tasks that were given before studies had a secret.
    """

    __tablename__ = "tasks"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id"), index=True)
    run_id: Mapped[str | None] = mapped_column(
        ForeignKey("runs.id", ondelete="CASCADE"), index=True
    )
    kind: Mapped[str] = mapped_column(String(8), default="pool")
    claimed_at: Mapped[datetime]
    postponed_at: Mapped[datetime | None]
    keeps_seed_order: Mapped[bool] = mapped_column(default=False, server_default=false())

    rater: Mapped[Rater] = relationship()
    question: Mapped[Question] = relationship()


Index(
    "uq_tasks",
    Task.rater_id,
    Task.question_id,
    func.coalesce(Task.run_id, text("''")),
    Task.kind,
    unique=True,
)


class Repeat(Base):
    """A rater's second verdict on a judged thing: for their consistency, never the verdict."""

    __tablename__ = "repeats"

    task_id: Mapped[str] = mapped_column(
        ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True
    )
    judged_thing_id: Mapped[int] = mapped_column(
        ForeignKey("judged_things.id"), primary_key=True, index=True
    )
    verdict: Mapped[str | None] = mapped_column(String(16))
    changed_at: Mapped[datetime | None]


class RepeatRating(Base):
    """A rater's second quality and notes for an answer: for their consistency alone."""

    __tablename__ = "repeat_ratings"

    task_id: Mapped[str] = mapped_column(
        ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True
    )
    query_key: Mapped[int] = mapped_column(
        ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    quality: Mapped[int | None]
    notes: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime | None]


class Assignment(Base):
    """A question that a rater gets in a blind study; a rater without any gets all."""

    __tablename__ = "assignments"

    rater_id: Mapped[int] = mapped_column(
        ForeignKey("raters.id", ondelete="CASCADE"), primary_key=True
    )
    question_id: Mapped[int] = mapped_column(
        ForeignKey("questions.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Adjudication(Base):
    """The verdict that settles a disputed judged thing, by whom and why."""

    __tablename__ = "adjudications"

    judged_thing_id: Mapped[int] = mapped_column(ForeignKey("judged_things.id"), primary_key=True)
    verdict: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    at: Mapped[datetime]


class Judgment(Base):
    """One rater's current verdict on one judged thing; null once it was cleared.

    The verdict is a ``records.Relevance``, or a ``records.EmptyOutcome`` for emptiness.
    """

    __tablename__ = "judgments"

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    judged_thing_id: Mapped[int] = mapped_column(
        ForeignKey("judged_things.id"), primary_key=True, index=True
    )
    verdict: Mapped[str | None] = mapped_column(String(16))
    changed_at: Mapped[datetime]


class QueryRating(Base):
    """One rater's response quality (0-5) and notes for one answer."""

    __tablename__ = "query_ratings"

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    query_key: Mapped[int] = mapped_column(
        ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    quality: Mapped[int | None]
    notes: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime]


class Event(Base):
    """One change a rater asked for, never altered: old, new, who, when, from where.

    ``field`` is "verdict" (of ``judged_thing_id``), "quality" or "notes" (of ``query_key``,
    which for a verdict names the place of the click; a blind rater's clicks name their
    ``task_id`` instead), or in a repeat "repeat", "repeat quality", "repeat notes". ``cause``
    is "click", "bulk", "machine" or "undo". An event that lost to a later one is here too.
    """

    __tablename__ = "events"
    __table_args__ = (
        UniqueConstraint("rater_id", "event_id", "field"),
        # The keys that the row depends on come first, so that deletions there find it too, and
        # rows without such keys are in no index: one index less is a page less for every click.
        Index(None, "judged_thing_id", "rater_id"),
        _index_of("query_key", "rater_id", "field"),
        _index_of("task_id", "rater_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"))
    event_id: Mapped[str] = mapped_column(String(80))
    field: Mapped[str] = mapped_column(String(16))
    judged_thing_id: Mapped[int | None] = mapped_column(
        ForeignKey("judged_things.id", ondelete="SET NULL")
    )
    query_key: Mapped[int | None] = mapped_column(ForeignKey("queries.id", ondelete="SET NULL"))
    task_id: Mapped[str | None] = mapped_column(ForeignKey("tasks.id", ondelete="SET NULL"))
    old: Mapped[str | None] = mapped_column(Text)
    new: Mapped[str | None] = mapped_column(Text)
    cause: Mapped[str] = mapped_column(String(16))
    undoes_id: Mapped[int | None] = mapped_column(ForeignKey("events.id"), unique=True)
    device: Mapped[str] = mapped_column(String(64))
    sequence: Mapped[int] = mapped_column(BigInteger)
    client_time: Mapped[datetime | None]
    received_at: Mapped[datetime]


class QuerySummary(Base):
    """The summary of one rater's judgments of one query, updated by every click.

    The counts and figures are those of ``metrics.summaries.QuerySummary``; each figure has
    its value and the two bounds that the finished rating can still reach. ``open_judgments``
    counts the verdicts still to give: a property listed twice asks for one.
    """

    __tablename__ = "query_summaries"
    __table_args__ = (Index(None, "rater_id", "run_id"),)

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    query_key: Mapped[int] = mapped_column(
        ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    state: Mapped[str] = mapped_column(String(16))
    results_count: Mapped[int]
    judged_count: Mapped[int]
    relevant_count: Mapped[int]
    not_relevant_count: Mapped[int]
    unsure_count: Mapped[int]
    first_relevant_rank: Mapped[int | None]
    open_judgments: Mapped[int]
    complete: Mapped[bool]
    empty_outcome: Mapped[str | None] = mapped_column(String(16))
    quality: Mapped[float | None]


for _column in COLUMNS:
    setattr(QuerySummary, _column, mapped_column(Double, nullable=True))


class Upload(Base):
    """A file dropped on the page, waiting for its owner's word after the import report."""

    __tablename__ = "uploads"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    name: Mapped[str] = mapped_column(Text)
    data: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime]


class LogEntry(Base):
    """A change that the owner made apart from ratings: labels, switches, deletions."""

    __tablename__ = "log_entries"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    at: Mapped[datetime]
    action: Mapped[str] = mapped_column(String(32))
    subject: Mapped[str] = mapped_column(Text)
    old: Mapped[str | None] = mapped_column(Text)
    new: Mapped[str | None] = mapped_column(Text)


class GoldVersion(Base):
    """One saved version of a question set's gold questions; the newest is in force.

    ``document`` is a whole gold file. ``name`` is the file it came from, or the editor's name
    for it. Versions are never altered, so that every figure can be shown with its version.
    """

    __tablename__ = "gold_versions"

    id: Mapped[int] = mapped_column(primary_key=True)
    question_set_id: Mapped[int] = mapped_column(ForeignKey("question_sets.id"), index=True)
    name: Mapped[str] = mapped_column(Text)
    document: Mapped[dict[str, Any]]
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    at: Mapped[datetime]

    rater: Mapped[Rater] = relationship()


class CardDecision(Base):
    """One decision of a person on a card of a query, never altered: the last one counts.

    ``card`` counts the listed properties from 0. ``subject`` is a constraint, whose outcome
    is overridden, or "card" for the whole card. A null ``outcome`` takes the earlier decision back.
    ``reason`` is the override's reason or the comment on the card. ``cause`` is "click",
    "pooled" (while rating blind, for every run that lists the card), "import" or "undo".
    """

    __tablename__ = "card_decisions"
    __table_args__ = (Index(None, "query_key", "card", "subject"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    query_key: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    card: Mapped[int]
    subject: Mapped[str] = mapped_column(String(16))
    outcome: Mapped[str | None] = mapped_column(String(8))
    reason: Mapped[str] = mapped_column(Text, default="")
    cause: Mapped[str] = mapped_column(String(8))
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    at: Mapped[datetime]

    query: Mapped[Query] = relationship()
    rater: Mapped[Rater] = relationship()


class UserStudy(Base):
    """Phase 3 of a study: who may ask, how much, and which chatbot answers.

    ``api`` is "contract", "openai" (then ``model``) or "mapping" (then ``mapping``, a mapping
    file's text). Keys are never stored here: headers name environment variables. ``at_once`` calls
    run together, ``pause_seconds`` pass between two questions of one participant, and
    ``most_newcomers`` become participants by one link from one address within an hour.
    ``declined`` and ``withdrawn`` count the people who did so, and nothing else is kept of them;
    ``last_number`` is the latest participant's, never given again.
    """

    __tablename__ = "user_studies"

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), primary_key=True)
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
    declined: Mapped[int] = mapped_column(default=0)
    withdrawn: Mapped[int] = mapped_column(default=0)
    last_number: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]

    study: Mapped[Study] = relationship()


class ConsentText(Base):
    """The text that participants agree to, in one language; every version ever shown is kept.

    A version (``number``, from 1) has one text in each language.
    """

    __tablename__ = "consent_texts"
    __table_args__ = (UniqueConstraint("study_id", "number", "language"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
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
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    number: Mapped[int]
    pseudonym: Mapped[str] = mapped_column(Text)
    rater_id: Mapped[int | None] = mapped_column(ForeignKey("raters.id"), unique=True)
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"), unique=True)
    consent_id: Mapped[int | None] = mapped_column(ForeignKey("consent_texts.id"), index=True)
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
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(
        ForeignKey("participants.id", ondelete="CASCADE"), index=True
    )
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
    participant_id: Mapped[int] = mapped_column(ForeignKey("participants.id", ondelete="CASCADE"))
    comment: Mapped[str] = mapped_column(String(24))
    theme: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]


class OwnQuestion(Base):
    """A participant's question on its way to the chatbot and back.

    ``state``: "waiting" for its turn, "asking", "answered", "failed", "given up". Its text
    and category are the question's, its answer the query's, which a question that was given
    up has too, as a failed call. ``conversation`` counts from 1, ``session_id`` is its name
    at the chatbot. ``attempt`` counts how often it was put; a call that died is known by
    ``alive_until``. Questions are put in the order of ``turn``: those of one ``origin`` (an
    address, made unreadable, and only until there is an outcome) have one after another.
    ``error``, ``error_code`` and ``excerpt`` (how an unusable answer began) are of the last
    attempt that failed. A question is closed once the participant is done with it: at most one
    is open.
    """

    __tablename__ = "own_questions"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participants.id"), index=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id"), unique=True)
    query_key: Mapped[int | None] = mapped_column(ForeignKey("queries.id"), unique=True)
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

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    item: Mapped[str] = mapped_column(String(16), primary_key=True)
    score: Mapped[int | None]
    text: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime]


class Evaluation(Base):
    """Files that were scored automatically, kept so that people can read and judge the items.

    ``kind`` is "answers", "chunks" or "json-v2". ``files`` are names with their SHA-256;
    ``sha256`` covers all of them and the settings. ``head`` is what the command line
    writes above the items, ``figures`` each figure with its n and why it has no value.
    ``for_raters`` is true when the owner lets raters judge the items.
    """

    __tablename__ = "evaluations"
    __table_args__ = (UniqueConstraint("study_id", "sha256"),)

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(Text)
    files: Mapped[list[dict[str, Any]]]
    sha256: Mapped[str] = mapped_column(String(64))
    settings: Mapped[dict[str, Any]]
    provenance: Mapped[dict[str, Any]]
    head: Mapped[dict[str, Any]]
    figures: Mapped[list[dict[str, Any]]]
    problems: Mapped[list[dict[str, Any]]]
    n_problems: Mapped[int]
    n_items: Mapped[int]
    created_at: Mapped[datetime]
    for_raters: Mapped[bool] = mapped_column(default=False, server_default=false())


class EvaluationItem(Base):
    """One scored row of an evaluation, at its position from 1; ``item_id`` is the file's own.

    ``row`` is the scored input, ``result`` the item as the command line writes it. ``parts``
    are the parts that a person may judge (sentences, chunks or fields), each with the
    machine's outcome. The list can be filtered by ``failed``.
    """

    __tablename__ = "evaluation_items"
    __table_args__ = (
        UniqueConstraint("evaluation_id", "position"),
        Index(None, "evaluation_id", "failed", "position"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    evaluation_id: Mapped[str] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"))
    position: Mapped[int]
    item_id: Mapped[str] = mapped_column(Text)
    row: Mapped[dict[str, Any]]
    result: Mapped[dict[str, Any]]
    parts: Mapped[list[dict[str, Any]]]
    failed: Mapped[bool]


class ItemJudgment(Base):
    """One rater's current verdict on one part of an item, or its grade; null once cleared.

    ``part`` is a sentence's or chunk's number from 0, a field's name, or "grade" (then
    ``value`` is 0 to 5, else 1 or 0). ``agrees`` says whether the machine's verdict is the
    same; it is null where the machine has none.
    """

    __tablename__ = "item_judgments"

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    item_key: Mapped[int] = mapped_column(
        ForeignKey("evaluation_items.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    part: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[int | None]
    agrees: Mapped[bool | None]
    changed_at: Mapped[datetime]


class ItemEvent(Base):
    """One change of an item's judgment that a rater asked for, never altered.

    It stays when its evaluation is deleted: ``evaluation_id`` and ``position`` still name its
    item. ``cause`` is "click" or "undo".
    """

    __tablename__ = "item_events"
    __table_args__ = (
        UniqueConstraint("rater_id", "event_id"),
        Index(None, "rater_id", "evaluation_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"))
    event_id: Mapped[str] = mapped_column(String(80))
    evaluation_id: Mapped[str] = mapped_column(String(16))
    position: Mapped[int]
    item_key: Mapped[int | None] = mapped_column(
        ForeignKey("evaluation_items.id", ondelete="SET NULL"), index=True
    )
    part: Mapped[str] = mapped_column(String(40))
    old: Mapped[int | None]
    new: Mapped[int | None]
    cause: Mapped[str] = mapped_column(String(16))
    undoes_id: Mapped[int | None] = mapped_column(ForeignKey("item_events.id"), unique=True)
    device: Mapped[str] = mapped_column(String(64))
    sequence: Mapped[int] = mapped_column(BigInteger)
    client_time: Mapped[datetime | None]
    received_at: Mapped[datetime]


class MachineJudge(Base):
    """A model with a prompt, which judges as the rater of its row; never altered once made.

    ``endpoint`` is the address without the parts that may be secret; the key is never stored.
    ``prompt`` has the places {question}, {earlier} and {card}, whose words are in
    ``language``. ``released_at`` is when the owner allowed its figures to be chosen.
    """

    __tablename__ = "machine_judges"

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    endpoint: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text)
    language: Mapped[str] = mapped_column(String(8))
    prompt: Mapped[str] = mapped_column(Text)
    prompt_sha256: Mapped[str] = mapped_column(String(64))
    temperature: Mapped[float] = mapped_column(Double, default=0.0)
    created_at: Mapped[datetime]
    released_at: Mapped[datetime | None]

    rater: Mapped[Rater] = relationship()


class MachineSession(Base):
    """One start of a machine judge: its estimated cost, its budget and its actual cost.

    ``state``: "running", "finished" (nothing is left), "stopped" (by the owner), "capped"
    (the budget is used up) or "failing" (too many calls failed in a row; ``why``). The
    estimate is for ``things``; prices are for a million tokens. ``calls`` counts every try,
    ``uncounted`` the answers that stated no tokens: theirs are estimated in the sums.
    """

    __tablename__ = "machine_sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), index=True)
    state: Mapped[str] = mapped_column(String(16), default="running")
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    things: Mapped[int]
    estimated_prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    estimated_completion_tokens: Mapped[int] = mapped_column(BigInteger)
    prompt_price: Mapped[float | None] = mapped_column(Double)
    completion_price: Mapped[float | None] = mapped_column(Double)
    currency: Mapped[str] = mapped_column(String(8), default="")
    most_calls: Mapped[int | None]
    most_tokens: Mapped[int | None] = mapped_column(BigInteger)
    at_once: Mapped[int] = mapped_column(default=2)
    calls: Mapped[int] = mapped_column(default=0)
    prompt_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    completion_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    uncounted: Mapped[int] = mapped_column(default=0)
    failed_in_a_row: Mapped[int] = mapped_column(default=0)
    why: Mapped[str | None] = mapped_column(Text)


Index(
    "uq_machine_sessions_open",
    MachineSession.rater_id,
    unique=True,
    sqlite_where=MachineSession.ended_at.is_(None),
    postgresql_where=MachineSession.ended_at.is_(None),
)


class MachineCall(Base):
    """A machine judge's last call about one judged thing, and its outcome.

    ``state``: "asking", "judged" (with ``verdict`` and ``reason``; the judgment itself is a
    ``Judgment`` with its event) or "failed" (with ``error``, its code and how the unusable
    answer began). A call that died is known by ``alive_until``; until then it reserves the part
    of the session's budget that ``reserved_*`` state. Tokens are null where none were stated.
    """

    __tablename__ = "machine_calls"

    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id"), primary_key=True)
    judged_thing_id: Mapped[int] = mapped_column(
        ForeignKey("judged_things.id"), primary_key=True, index=True
    )
    session_id: Mapped[int] = mapped_column(ForeignKey("machine_sessions.id"), index=True)
    state: Mapped[str] = mapped_column(String(8))
    attempt: Mapped[int] = mapped_column(default=1)
    verdict: Mapped[str | None] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text, default="")
    error_code: Mapped[str | None] = mapped_column(String(32))
    error: Mapped[str | None] = mapped_column(Text)
    excerpt: Mapped[str | None] = mapped_column(Text)
    prompt_characters: Mapped[int]
    prompt_tokens: Mapped[int | None] = mapped_column(BigInteger)
    completion_tokens: Mapped[int | None] = mapped_column(BigInteger)
    reserved_calls: Mapped[int] = mapped_column(default=0)
    reserved_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    alive_until: Mapped[datetime | None]
    at: Mapped[datetime]
