"""The owner's password: hashed by scrypt, compared one at a time."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock

from werkzeug.security import check_password_hash, generate_password_hash

from relevansi.failures import Busy, Refused
from relevansi.i18n import mark

SHORTEST, LONGEST = 10, 200
"""Characters of a password."""
WAITING = 2
"""How many passwords may wait until the one before them is compared."""
COST, BLOCK, LANES = 2**14, 8, 5
"""The parameters of scrypt: N, r and p."""
FORMER = "scrypt$"
"""How hashes begin that were stored before werkzeug made them."""


class WrongPassword(Refused):
    message = mark("This is not the password")
    remedy = mark("Type it again.")


class UnfitPassword(Refused):
    message = mark("A password has %(least)s to %(most)s characters")
    remedy = mark("Choose another one.")


class TooBusy(Busy):
    message = mark("Many are signing in at this moment")
    remedy = mark("Try again in a few seconds.")
    retry_after = 3


class PasswordQueue:
    """The queue of password checks: one at a time and few waiting, so that clicks stay fast."""

    def __init__(self) -> None:
        self._places = BoundedSemaphore(1 + WAITING)
        self._turn = Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until it is one's turn; raises ``TooBusy`` where too many wait already."""
        if not self._places.acquire(blocking=False):
            raise TooBusy
        try:
            # scrypt takes one processor for a third of a second, and clicks need one too.
            with self._turn:
                yield
        finally:
            self._places.release()


def check_password(stored: str | None, password: str) -> None:
    """Raise ``WrongPassword`` unless this is what was stored; it takes a third of a second."""
    if stored is None or len(password) > LONGEST:
        raise WrongPassword
    fits = _fits_former if stored.startswith(FORMER) else check_password_hash
    if not fits(stored, _normal(password)):
        raise WrongPassword


def hashed(password: str) -> str:
    """Return a password as it is stored; raises ``UnfitPassword``."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UnfitPassword(least=SHORTEST, most=LONGEST)
    return generate_password_hash(_normal(password), f"scrypt:{COST}:{BLOCK}:{LANES}")


def _normal(password: str) -> str:
    return unicodedata.normalize("NFKC", password).encode(errors="replace").decode()


def _fits_former(stored: str, password: str) -> bool:
    _, cost, block, lanes, salt, digest = stored.split("$")
    numbers = {"n": int(cost), "r": int(block), "p": int(lanes), "maxmem": 2**26}
    computed = hashlib.scrypt(password.encode(), salt=b64decode(salt), **numbers)
    return hmac.compare_digest(computed, b64decode(digest))
