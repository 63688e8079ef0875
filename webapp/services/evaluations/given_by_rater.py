"""The tables of a rater's judgments of items and the clicks behind them."""

from __future__ import annotations

from webapp.db.tables.evaluations import ItemEvent, ItemJudgment

JUDGMENTS = ((ItemJudgment, ItemJudgment.value.is_not(None)),)
EVENTS = (ItemEvent,)
