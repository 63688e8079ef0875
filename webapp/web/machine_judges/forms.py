"""The forms of machine judges: a name and a prompt, prices and limits."""

from __future__ import annotations

from wtforms import Form

from webapp.i18n import mark
from webapp.services.machine_judges.progress import SessionLine
from webapp.services.machine_judges.prompts import LANGUAGES, LONGEST_PROMPT
from webapp.services.machine_judges.sessions import MOST_AT_ONCE, Terms
from webapp.services.people.raters import LONGEST_NAME
from webapp.web.frame.fields import ChoiceField, DecimalField, LineField, NameField, WholeField

NO_PRICE = mark("Please write a price in digits, for example 0.15.")
HIGHEST_PRICE = 10**9
MOST_CALLS, MOST_TOKENS = 1_000_000, 10**12
LONGEST_CURRENCY = 8
USUAL_AT_ONCE = 2


class NewJudgeForm(Form):
    """The name and the prompt of a new machine judge."""

    name = NameField(LONGEST_NAME)
    language = ChoiceField(LANGUAGES, default="id")
    prompt = LineField(LONGEST_PROMPT, required=True)


class TermsForm(Form):
    """The owner's prices for a million tokens, and the limits at which the judge stops."""

    prompt_price = DecimalField(0, HIGHEST_PRICE, wrong=NO_PRICE)
    completion_price = DecimalField(0, HIGHEST_PRICE, wrong=NO_PRICE)
    currency = LineField(LONGEST_CURRENCY)
    most_calls = WholeField(1, MOST_CALLS)
    most_tokens = WholeField(1, MOST_TOKENS)
    at_once = WholeField(1, MOST_AT_ONCE, default=USUAL_AT_ONCE)

    def terms(self) -> Terms:
        """Return the terms of a valid form."""
        prompt, completion = self.prompt_price.data, self.completion_price.data
        return Terms(
            prompt_price=None if prompt is None else float(prompt),
            completion_price=None if completion is None else float(completion),
            currency=self.currency.data,
            most_calls=self.most_calls.data,
            most_tokens=self.most_tokens.data,
            at_once=self.at_once.data or USUAL_AT_ONCE,
        )


def terms_of(line: SessionLine) -> TermsForm:
    """Return the form with the prices that a session was started with."""
    return TermsForm(
        prompt_price=line.prompt_price,
        completion_price=line.completion_price,
        currency=line.currency,
    )
