"""Whose verdicts count: the rule that an address names, and the choices a page offers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flask import request

from webapp.exporters import comparison_words as words
from webapp.services import reports


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """A rule by which several raters' verdicts become one: its name and what it is called."""

    name: str
    label: str


def wanted() -> str | None:
    """Return the rule that the address names; ``None`` leaves the choice to the study."""
    return request.args.get("rule") or None


def choices(raters: Iterable[str]) -> tuple[RuleChoice, ...]:
    """Return every rule of a study with these raters."""
    names = (*(f"rater {name}" for name in raters), reports.MAJORITY, reports.ADJUDICATED)
    return tuple(RuleChoice(name, words.rule(name)) for name in names)
