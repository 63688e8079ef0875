"""The kinds of fuzzed inputs, and the failures of the product that an input may cause."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

InputT = TypeVar("InputT")

PRODUCT = "webapp"


class Wrong(Exception):
    """The product did with an input what it must not do; the text says what."""


class Kind(ABC, Generic[InputT]):
    """One way into the product: makes inputs, puts them in, and makes found ones smaller."""

    name: str
    batch = 1
    """So many inputs in a row are put into the same study; then it is made anew."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def open(self, folder: Path) -> None:
        """Prepare in an empty folder what all inputs are put into."""

    def close(self) -> None:
        """Let go of what was prepared; nothing more is put in."""

    def begin(self) -> None:
        """Prepare for the first input of a batch."""

    def end(self) -> None:
        """Look at what the inputs of a batch have left; raises ``Wrong``."""

    @abstractmethod
    def make(self, random: Random) -> InputT:
        """Return an input."""

    @abstractmethod
    def put(self, given: InputT) -> None:
        """Put an input in. Whatever is raised here is something found."""

    def smaller(self, given: InputT) -> Iterator[InputT]:  # noqa: ARG002
        """Yield inputs that say less than `given`, the smallest first."""
        return iter(())

    @abstractmethod
    def shown(self, given: InputT) -> bytes:
        """Return an input as a file to keep."""

    def number(self, number: int) -> InputT:
        """Return the input of that number: always the same for a seed."""
        return self.make(Random(f"{self.seed}/{self.name}/{number}"))


@dataclass(frozen=True, slots=True)
class Found:
    """Something found: which input did what, where, and the smallest input that does it."""

    kind: str
    seed: int
    number: int
    what: str
    place: str
    told: str
    smallest: bytes = b""

    @property
    def cause(self) -> tuple[str, str, str]:
        """The key that inputs share if one mistake of ours lets them through."""
        return self.kind, self.what.partition(":")[0], self.place


def found(kind: str, seed: int, number: int, raised: BaseException) -> Found:
    """Return what an exception tells."""
    told = "".join(traceback.format_exception(raised, limit=-12))[-4_000:]
    what = str(raised) if isinstance(raised, Wrong) else f"{type(raised).__name__}: {raised}"
    return Found(kind, seed, number, what[:300], place(raised), told)


def place(raised: BaseException) -> str:
    """Return the line of the product at which an exception was raised, empty if none was."""
    lines = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(raised.__traceback__)
        if PRODUCT in Path(frame.filename).parts
    ]
    return lines[-1] if lines else ""
