"""The tables of a rater's clicks on cards that are checked against gold questions."""

from __future__ import annotations

from webapp.db.tables.gold import CardDecision

JUDGMENTS = ()
EVENTS = (CardDecision,)
