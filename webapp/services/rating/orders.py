"""The shuffled orders of a study, drawn from its secret: they cannot be drawn again without it.

A key of 256 bits with HMAC-SHA-256: from any number of drawn names and places neither the key
nor another name follows (decision 0022). Pages and files hold its commitment alone.
"""

from __future__ import annotations

import hmac
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256

SECRET_DIGITS = 64
"""A secret is 256 bits, kept as hexadecimal digits."""


class Purpose(StrEnum):
    """The purposes of an order: the same numbers drawn for another one give another order."""

    CARDS = "cards"
    QUESTIONS = "questions"
    AGAIN = "again"
    VOTES = "votes"
    MACHINE = "machine"


@lru_cache(maxsize=2**15)
def draw(secret: str, purpose: Purpose, *numbers: object) -> bytes:
    """Return the 32 bytes that a study's secret draws for `numbers`; sorting by them shuffles.

    They are kept: a blind rater's progress asks for those of all their questions at every click,
    which for 1,000 questions takes a tenth of the time so.

    >>> draw("0" * 64, Purpose.CARDS, 1, 2) == draw("0" * 64, Purpose.CARDS, 1, 2)
    True
    >>> draw("0" * 64, Purpose.CARDS, 1, 2) == draw("0" * 64, Purpose.VOTES, 1, 2)
    False
    """
    if len(secret) < SECRET_DIGITS:
        raise ValueError("this study has no secret")  # the database's default, never a key
    message = "/".join(map(str, (purpose, *numbers)))
    return hmac.digest(secret.encode(), message.encode(), "sha256")


def commitment(secret: str) -> str:
    """Return the SHA-256 of a study's secret, as it is kept: it shows later which one it was."""
    return sha256(secret.encode()).hexdigest()
