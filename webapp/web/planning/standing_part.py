"""The settled orders on the page of the study's progress."""

from __future__ import annotations

from webapp.web.planning.settled import of_study as part

__all__ = ["STYLES", "part"]

STYLES = ("comparisons/comparisons.css", "planning/planning.css")
