"""The tokens and the cost of a machine judge's calls, estimated before they are made."""

from __future__ import annotations

from math import ceil

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.machine_judges import MachineCall, MachineJudge
from relevansi.services.machine_judges import prompts

CHARACTERS_PER_TOKEN = 4
COMPLETION_TOKENS = 60
"""The assumed length of an answer before any was measured: one object, one sentence."""

MIN_MEASURED = 5
"""From so many answers with numbers of tokens on, their means replace the two assumptions."""


class Rates(Struct, frozen=True):
    """Tokens per character of a prompt, and per answer, ``measured`` on so many answers."""

    per_character: float = 1 / CHARACTERS_PER_TOKEN
    completion: float = COMPLETION_TOKENS
    measured: int = 0

    def prompt(self, characters: int) -> int:
        """Return the estimated tokens of a prompt of that many characters."""
        return ceil(characters * self.per_character)


class TokenEstimate(Struct, frozen=True):
    """The estimated tokens for ``n_cards`` cards; ``example`` is the prompt of the first."""

    n_cards: int
    prompt_tokens: int
    completion_tokens: int
    measured: int
    example: str


def cost(
    prompt_tokens: int,
    completion_tokens: int,
    prompt_price: float | None,
    completion_price: float | None,
) -> float | None:
    """Return the cost of tokens at prices for a million; ``None`` without both prices.

    >>> cost(2_000_000, 500_000, 0.15, 0.6)
    0.6
    """
    if prompt_price is None or completion_price is None:
        return None
    return (prompt_tokens * prompt_price + completion_tokens * completion_price) / 10**6


def estimate(session: Session, judge: MachineJudge, most: int | None = None) -> TokenEstimate:
    """Return the estimate for the open cards, `most` of them at most."""
    item_ids = prompts.open_items(session, judge)[:most]
    token_rates = rates(session, judge)
    characters, example = 0, ""
    for _, prompt in prompts.prompts_of(session, judge, item_ids):
        characters += len(prompt)
        example = example or prompt
    return TokenEstimate(
        n_cards=len(item_ids),
        prompt_tokens=token_rates.prompt(characters),
        completion_tokens=ceil(len(item_ids) * token_rates.completion),
        measured=token_rates.measured,
        example=example,
    )


def rates(session: Session, judge: MachineJudge) -> Rates:
    """Return the mean tokens of the judge's prompts and answers so far, else the assumed ones."""
    n, characters, prompt_tokens, completion_tokens = session.execute(
        select(
            func.count(),
            func.sum(MachineCall.prompt_characters),
            func.sum(MachineCall.prompt_tokens),
            func.sum(MachineCall.completion_tokens),
        ).where(
            MachineCall.rater_id == judge.rater_id,
            MachineCall.prompt_tokens.is_not(None),
            MachineCall.completion_tokens.is_not(None),
        )
    ).one()
    if n < MIN_MEASURED or not characters or not prompt_tokens:
        return Rates()
    # PostgreSQL sums whole numbers as decimals.
    return Rates(int(prompt_tokens) / int(characters), int(completion_tokens or 0) / n, n)
