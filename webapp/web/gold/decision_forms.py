"""A decision by hand on a card, as a form."""

from __future__ import annotations

from wtforms import Form, StringField

from webapp.services.gold.card_decisions import MOST_REASON
from webapp.web.frame.forms import LONGEST_ID, at_most, clean, line


class DecisionForm(Form):
    """A decision on a constraint of a card, or on the whole card; empty takes it back."""

    subject = StringField(filters=[line], validators=[at_most(LONGEST_ID)])
    outcome = StringField(filters=[line], validators=[at_most(LONGEST_ID)])
    reason = StringField(filters=[clean], validators=[at_most(MOST_REASON)])


class BlindDecisionForm(DecisionForm):
    """The same of a card that a blind rater's page calls by a name."""

    card = StringField(filters=[line], validators=[at_most(LONGEST_ID)])
