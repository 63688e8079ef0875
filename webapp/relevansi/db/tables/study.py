"""The study, its questions and who is assigned to them: tables."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, String, Text, false, true
from sqlalchemy.orm import Mapped, mapped_column, relationship

from relevansi.db.tables.base import Base, new_secret, reference
from relevansi.records import CannotTell


class Study(Base):
    """The runs, raters and switches that belong together.

    ``blind`` is the owner's choice; null means blind as soon as two runs share a question set.
    ``order_secret`` shuffles what blind raters see; no page and no export shows it. ``pool_depth``
    limits the ranks that are pooled, ``overlap`` the raters of one question; null means all.
    ``figures`` says what invited raters see while rating: "progress" or "all".
    ``badges_while_blind`` shows them the outcome of the constraints on each card, ``show_record``
    shows every rater the details that only a listing's record has. ``suggest_quality`` offers
    raters a grade that follows from their verdicts: everywhere, nowhere, or (null) on open pages
    only, neither blind nor in phase 3. ``cannot_tell`` is what such a card is in the precisions of
    the study. ``repeat_percent`` of a blind rater's questions are asked again, unannounced.
    ``starter_guidelines`` are shown until the owner writes others. ``kind`` is that of the items
    its runs list (see ``relevansi.kinds``). ``scale`` is a ``records.Scale``, null for the binary
    one; ``merging`` says how several raters' grades become one. ``measures`` names the headline
    figures, null the usual ones of the kind. ``asks_quality``: answers are graded 0-5 as a whole;
    ``marks_words``: the question's words are marked in texts; ``reason_required``: whoever settles
    a disagreement has to say why. ``reasons`` is the owner's list of why an item is not relevant,
    null the usual one of the kind. ``looks_up``: raters may look in the catalogue for what is
    missing from any question (in an empty answer they always may); ``looks_up_in_phase_3`` lets
    participants, too; ``looks_up_constraints`` fills the search of blind raters with the
    constraints of the gold question. ``mappings`` keeps the columns chosen for files, by the shape
    of their header. ``password`` is the owner's, hashed. ``revision`` changes with all that changes
    what raters are asked or what pages sum up, but for the clicks, which are events.
    """

    __tablename__ = "studies"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    allow_bulk: Mapped[bool] = mapped_column(default=False)
    show_pictures: Mapped[bool] = mapped_column(default=False)
    blind: Mapped[bool | None]
    order_secret: Mapped[str] = mapped_column(String(64), default=new_secret, server_default="")
    shuffle_questions: Mapped[bool] = mapped_column(default=False)
    pool_depth: Mapped[int | None]
    overlap: Mapped[int | None]
    figures: Mapped[str] = mapped_column(String(16), default="progress")
    badges_while_blind: Mapped[bool] = mapped_column(default=False, server_default=false())
    show_record: Mapped[bool] = mapped_column(default=False, server_default=false())
    suggest_quality: Mapped[bool | None]
    cannot_tell: Mapped[CannotTell] = mapped_column(
        String(16), default="not_relevant", server_default="left_out"
    )
    repeat_percent: Mapped[int] = mapped_column(default=5)
    guidelines: Mapped[str] = mapped_column(Text, default="")
    starter_guidelines: Mapped[bool] = mapped_column(default=False, server_default=false())
    kind: Mapped[str] = mapped_column(String(32), default="property", server_default="property")
    scale: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    merging: Mapped[str | None] = mapped_column(String(16))
    measures: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    asks_quality: Mapped[bool] = mapped_column(default=True, server_default=true())
    marks_words: Mapped[bool] = mapped_column(default=True, server_default=true())
    reason_required: Mapped[bool] = mapped_column(default=False, server_default=false())
    reasons: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    looks_up: Mapped[bool] = mapped_column(default=True, server_default=true())
    looks_up_in_phase_3: Mapped[bool] = mapped_column(default=False, server_default=false())
    looks_up_constraints: Mapped[bool] = mapped_column(default=False, server_default=false())
    mappings: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    password: Mapped[str | None] = mapped_column(Text)
    revision: Mapped[str] = mapped_column(String(32), default="", server_default="")
    created_at: Mapped[datetime]


class QuestionSet(Base):
    """The ordered list of questions put to the chatbot in one or more runs."""

    __tablename__ = "question_sets"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = reference("studies.id", index=True)
    created_at: Mapped[datetime]

    questions: Mapped[list[Question]] = relationship(
        back_populates="question_set", order_by="Question.position"
    )


class Question(Base):
    """One question at one position (1-based) of its set; the same text may come twice.

    ``key`` is the text with blanks removed and case folded: equal keys make two runs share a set.
    ``note`` is the owner's note to raters; null shows the gold question's note instead.
    ``external_id`` is its id in the owner's files, where that is no number of ours.
    """

    __tablename__ = "questions"
    __table_args__ = (Index(None, "question_set_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    question_set_id: Mapped[int] = reference("question_sets.id")
    position: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    category: Mapped[str] = mapped_column(Text)
    context_dependent: Mapped[bool]
    note: Mapped[str | None] = mapped_column(Text)
    external_id: Mapped[str | None] = mapped_column(Text)

    question_set: Mapped[QuestionSet] = relationship(back_populates="questions")


class Assignment(Base):
    """A question that a rater gets in a blind study; a rater without any gets all."""

    __tablename__ = "assignments"

    rater_id: Mapped[int] = reference("raters.id", "CASCADE", primary_key=True)
    question_id: Mapped[int] = reference("questions.id", "CASCADE", primary_key=True, index=True)
