"""The doors: every address has one of four, which its room states and which names its users.

A door is stated for a whole blueprint or for one endpoint, whose own door comes first. An
address without a stated door is the owner's, and a test fails until one is stated.
"""

from __future__ import annotations

from enum import StrEnum


class Door(StrEnum):
    """The people for whom an address is open."""

    ANYBODY = "anybody"
    RATERS = "raters"
    PARTICIPANTS = "participants"
    OWNER = "owner"
