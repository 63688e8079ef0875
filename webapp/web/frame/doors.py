"""Who may come in where: every address has one of four doors, which its room states.

A door is stated for a whole blueprint or for one endpoint of it, which then comes first. An
address without a stated door is the owner's, and a test asks for one to be stated.
"""

from __future__ import annotations

from enum import StrEnum


class Door(StrEnum):
    """Whom an address answers."""

    ANYBODY = "anybody"
    RATERS = "raters"
    PARTICIPANTS = "participants"
    OWNER = "owner"
