"""What both rating pages show: that of a question of a run, and that of a blind task."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from msgspec import Struct
from sqlalchemy import Row

from relevansi.metrics.judging.queries import QuerySummary as Summary
from relevansi.metrics.judging.queries import as_counted, suggested_quality
from relevansi.records import CannotTell, EmptyOutcome, Item, QueryState, Relevance, Scale
from relevansi.services.rating.conversations import EarlierTurn
from relevansi.services.rating.earlier_verdicts import EarlierVerdict
from relevansi.services.rating.pool import QueryFilter


class JudgedCard(Struct, frozen=True):
    """One card with the rater's verdict on it, of the study's scale; ``listing`` names its item.

    ``key`` names it in clicks. ``repeats`` are the other ranks that show the same item.
    ``reason`` says why it is not relevant, and counts only beside such a verdict.
    """

    number: int
    key: str
    listing: int | None
    card: Item
    relevance: str | None
    repeats: tuple[int, ...] = ()
    earlier: EarlierVerdict | None = None
    has_prices: bool = False
    reason: str | None = None


class QuestionPage(Struct, frozen=True, kw_only=True):
    """Fields shared by the page of a run's question and the page of a blind task."""

    question: str
    category: str
    context_dependent: bool
    earlier_turns: tuple[EarlierTurn, ...]
    cards: tuple[JudgedCard, ...]
    empty_outcome: EmptyOutcome | None
    show_pictures: bool
    marks_words: bool
    scale: Scale
    headline: tuple[str, ...]
    cannot_tell: CannotTell
    filter: QueryFilter
    categories: tuple[str, ...]
    reasons: tuple[str, ...]
    is_blind: ClassVar[bool] = False

    def cards_to_refresh(self, clicked: JudgedCard | None) -> tuple[JudgedCard, ...]:
        """Return the cards whose listing is shown several times, and the clicked one if cleared."""
        times = Counter(card.listing for card in self.cards)
        cleared = clicked.key if clicked is not None and clicked.relevance is None else None
        return tuple(card for card in self.cards if times[card.listing] > 1 or card.key == cleared)

    def card(self, key: str | None) -> JudgedCard | None:
        """Return the card of that key, ``None`` where there is none."""
        return next((card for card in self.cards if card.key == key), None)


def suggested(summary: Row[Any] | Summary, cannot_tell: CannotTell) -> int | None:
    """Return the quality that a rater's own verdicts suggest for an answer, from its summary."""
    verdicts = (
        [Relevance.RELEVANT] * summary.relevant_count
        + [Relevance.NOT_RELEVANT] * summary.not_relevant_count
        + [Relevance.UNSURE] * summary.unsure_count
        + [None] * (summary.results_count - summary.judged_count)
    )
    counted_verdicts = as_counted(verdicts, cannot_tell=cannot_tell)
    return suggested_quality(QueryState(summary.state), counted_verdicts)


SHARED_COLUMNS = (
    *("question", "category", "context_dependent"),
    *("show_pictures", "marks_words", "cannot_tell"),
)
