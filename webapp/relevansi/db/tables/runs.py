"""Runs of a chatbot: questions asked, answers, cards: tables."""

from __future__ import annotations

import zlib
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, LargeBinary, String, Text, UniqueConstraint, true
from sqlalchemy.orm import Mapped, mapped_column, relationship

from relevansi.db.tables.base import Base, reference

if TYPE_CHECKING:
    from relevansi.db.tables.judging import JudgedItem
    from relevansi.db.tables.study import Question, QuestionSet


class Run(Base):
    """One system's answers to a question set in one sequential chat session.

    The id is short, random and without meaning. ``stated_*`` keep the labels of the file where
    the owner has relabelled the run; two files of one session share their ``session_key``.
    ``position`` is its place among the study's runs, where the owner gave them an order;
    ``sequence`` is that in which they came in, which is the order of their file.
    """

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    study_id: Mapped[int] = reference("studies.id", index=True)
    question_set_id: Mapped[int] = reference("question_sets.id", index=True)
    search_method: Mapped[str | None] = mapped_column(Text)
    llm: Mapped[str | None] = mapped_column(Text)
    stated_search_method: Mapped[str | None] = mapped_column(Text)
    stated_llm: Mapped[str | None] = mapped_column(Text)
    timestamp: Mapped[str | None] = mapped_column(Text)
    session_key: Mapped[str] = mapped_column(String(64), index=True)
    position: Mapped[int | None]
    sequence: Mapped[int] = mapped_column(server_default="0")
    total_questions: Mapped[int | None] = mapped_column(BigInteger)
    extra: Mapped[dict[str, Any]]
    imported_at: Mapped[datetime]

    question_set: Mapped[QuestionSet] = relationship()
    files: Mapped[list[RunFile]] = relationship(order_by="RunFile.id")
    queries: Mapped[list[Query]] = relationship(back_populates="run", order_by="Query.id")


class RunFile(Base):
    """A file that a run came from, by the SHA-256 of its bytes, with the import's report."""

    __tablename__ = "run_files"
    __table_args__ = (UniqueConstraint("run_id", "sha256"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[str] = reference("runs.id", "CASCADE")
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    name: Mapped[str] = mapped_column(Text)
    file_format: Mapped[str] = mapped_column(String(8))
    problems: Mapped[list[dict[str, Any]]]
    imported_at: Mapped[datetime]


class Query(Base):
    """One question as asked in one run; an empty list is classified as its ``emptiness_id``.

    ``asks_quality``: its answer is graded as a whole.
    """

    __tablename__ = "queries"
    __table_args__ = (UniqueConstraint("run_id", "query_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[str] = reference("runs.id", "CASCADE")
    question_id: Mapped[int] = reference("questions.id", index=True)
    query_id: Mapped[int] = mapped_column(BigInteger)
    response: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    claimed_count: Mapped[int | None] = mapped_column(BigInteger)
    error: Mapped[str | None] = mapped_column(Text)
    extra: Mapped[dict[str, Any]]
    emptiness_id: Mapped[int | None] = reference("judged_items.id", index=True)
    asks_quality: Mapped[bool] = mapped_column(default=True, server_default=true())

    run: Mapped[Run] = relationship(back_populates="queries")
    question: Mapped[Question] = relationship()
    results: Mapped[list[Result]] = relationship(
        back_populates="query",
        order_by="Result.rank",
        primaryjoin="and_(Result.query_key == Query.id, Result.judged_item_id.is_not(None))",
    )


class Result(Base):
    """(query, rank, item): one card as shown, ranks 1-based; without an item it is a hole.

    A hole is a place of the list whose result could not be read.
    """

    __tablename__ = "results"
    __table_args__ = (UniqueConstraint("query_key", "rank"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    query_key: Mapped[int] = reference("queries.id", "CASCADE")
    rank: Mapped[int]
    judged_item_id: Mapped[int | None] = reference("judged_items.id", index=True)
    card: Mapped[dict[str, Any]]

    query: Mapped[Query] = relationship(back_populates="results")
    judged_item: Mapped[JudgedItem] = relationship()


class Upload(Base):
    """A file dropped on the page, waiting for its owner's word after the import report.

    A file to import has its ``format`` and about how many ``questions`` it has. Once it is read,
    ``report`` is what the page shows of it, and ``content`` the answers that are stored of it.
    ``data`` is the content compressed, since whoever judges waits while it is written.
    """

    __tablename__ = "uploads"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    study_id: Mapped[int] = reference("studies.id", index=True)
    name: Mapped[str] = mapped_column(Text)
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    created_at: Mapped[datetime]
    format: Mapped[str | None] = mapped_column(String(16))
    questions: Mapped[int] = mapped_column(default=0, server_default="0")
    report: Mapped[bytes | None] = mapped_column(LargeBinary)

    @property
    def content(self) -> bytes:
        try:
            return zlib.decompress(self.data) if self.data else b""
        except zlib.error:  # kept by a version that compressed nothing
            return self.data


class LongWork(Base):
    """Work that takes long: how far it is, then its result or why there is none.

    ``kind`` names what is done, ``wanted`` of what. ``state``: "waiting", "asking" (somebody
    does it), "done" (``data`` is the file that was made, or ``result`` says what was stored) or
    "failed" (``failure`` and ``remedy`` are message ids, ``about`` the name in them).
    ``steps_done`` of ``steps`` are done; 0 steps are not counted yet. ``study_state`` names the
    study as it was when the work began. ``token_id`` is of the program's token that asked for it.
    """

    __tablename__ = "long_works"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    study_id: Mapped[int] = reference("studies.id", index=True)
    kind: Mapped[str] = mapped_column(String(32))
    wanted: Mapped[dict[str, Any]]
    token_id: Mapped[int | None]
    study_state: Mapped[str | None] = mapped_column(Text)
    put_down_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    state: Mapped[str] = mapped_column(String(8))
    attempt: Mapped[int] = mapped_column(default=0)
    alive_until: Mapped[datetime | None]
    steps_done: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str | None] = mapped_column(Text)
    remedy: Mapped[str | None] = mapped_column(Text)
    about: Mapped[str] = mapped_column(Text, default="")
    file_name: Mapped[str | None] = mapped_column(Text)
    media_type: Mapped[str | None] = mapped_column(Text)
    result: Mapped[dict[str, Any] | None]
    data: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)

    @property
    def is_open(self) -> bool:
        return self.state in {"waiting", "asking"}
