"""The doors of addresses: who may open each of them.

A room states the door of a whole blueprint or of one endpoint, whose own door comes first. An
address without a stated door is the owner's, and a test fails until one is stated.
"""

from __future__ import annotations

from enum import StrEnum


class Door(StrEnum):
    """The people for whom an address is open."""

    ANYBODY = "anybody"
    RATERS = "raters"
    GUESTS = "guests"
    OWNER = "owner"
