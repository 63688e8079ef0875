"""Orders are drawn from the study's secret; only the commitment to it leaves the database."""

from __future__ import annotations

import hmac
from hashlib import sha256

import pytest

from webapp.services.rating.pool import Purpose, commitment, draw

SECRET = "5" * 64


def test_a_draw_is_the_hmac_of_purpose_and_numbers() -> None:
    message = b"cards/7/pool/12"

    assert draw(SECRET, Purpose.CARDS, 7, "pool", 12) == hmac.digest(
        SECRET.encode(), message, "sha256"
    )


def test_secret_purpose_and_numbers_each_give_another_draw() -> None:
    drawn = {
        draw(SECRET, Purpose.CARDS, 1, 2),
        draw("6" * 64, Purpose.CARDS, 1, 2),
        draw(SECRET, Purpose.VOTES, 1, 2),
        draw(SECRET, Purpose.CARDS, 2, 1),
        draw(SECRET, Purpose.CARDS, 12),
    }

    assert len(drawn) == 5


@pytest.mark.parametrize("secret", ["", "5" * 63])
def test_nothing_is_drawn_without_a_whole_secret(secret: str) -> None:
    with pytest.raises(ValueError, match="no secret"):
        draw(secret, Purpose.CARDS, 1)


def test_the_commitment_is_the_hash_of_the_secret_and_does_not_hold_it() -> None:
    assert commitment(SECRET) == sha256(SECRET.encode()).hexdigest()
    assert SECRET not in commitment(SECRET)
