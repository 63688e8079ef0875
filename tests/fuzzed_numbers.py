"""A kind of inputs that does harm on demand; apart, so that a process with it starts at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

from tests.fuzzing.kinds import Kind


class Numbers(Kind[int]):
    """Inputs that are numbers; the seventh and all that end in it are wrong in their own way."""

    name = "numbers"

    def __init__(self, seed: int, *, how: str = "raises") -> None:
        super().__init__(seed)
        self.how = how

    def number(self, number: int) -> int:
        return number

    def make(self, random: Random) -> int:
        return random.randrange(100)

    def put(self, given: int) -> None:
        if given % 10 == 7:
            self.harm()

    def harm(self) -> None:
        if self.how == "hangs":
            time.sleep(60)
        if self.how == "swells":
            bytearray(2**31)
        raise ValueError(self.how)

    def smaller(self, given: int) -> Iterator[int]:
        yield from (given - 10, given - 1) if given > 10 else ()

    def shown(self, given: int) -> bytes:
        return str(given).encode()
