"""A decision by hand on a card, as a form."""

from __future__ import annotations

from wtforms import Form

from webapp.services.gold.card_decisions import MOST_REASON
from webapp.web.frame.fields import LONGEST_ID, LineField, TextField


class DecisionForm(Form):
    """A decision on a constraint of a card, or on the whole card; empty takes it back."""

    subject = LineField(LONGEST_ID)
    outcome = LineField(LONGEST_ID)
    reason = TextField(MOST_REASON)


class BlindDecisionForm(DecisionForm):
    """The same of a card that a blind rater's page calls by a name."""

    card = LineField(LONGEST_ID)
