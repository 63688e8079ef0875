"""The counted results of one fault on one database."""

from __future__ import annotations

from dataclasses import dataclass


class CannotBeMade(Exception):
    """This machine lacks what a fault needs; the message says what."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report.

    ``made`` says in words what was done, ``damage`` whatever is missing or wrong. A fault that
    could not be made here has a ``reason`` and counts nothing.
    """

    fault: str
    database: str
    made: str = ""
    acknowledged: int = 0
    found: int = 0
    doubled: int = 0
    missing: int = 0
    damage: tuple[str, ...] = ()
    reason: str = ""

    @property
    def is_good(self) -> bool:
        """Whether all that was acknowledged is there, once, and nothing else went wrong."""
        if self.reason:
            return True
        counted = self.acknowledged > 0 and self.found == self.acknowledged
        return counted and not (self.doubled or self.missing or self.damage)
