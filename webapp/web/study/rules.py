"""The rule that merges raters' verdicts: the one in the address, and those a page offers."""

from __future__ import annotations

from flask import request
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp import labels
from webapp.db.tables.study import Study
from webapp.services.runs import reports


class RuleChoice(Struct, frozen=True):
    """A rule by which several raters' verdicts become one: its name and its label."""

    name: str
    label: str


def wanted() -> str | None:
    """Return the rule that the address names; ``None`` leaves the choice to the study."""
    return request.args.get("rule") or None


def choices(session: Session, study: Study) -> tuple[RuleChoice, ...]:
    """Return every rule that may be chosen in a study."""
    names = (rule.name for rule in reports.rules(session, study))
    return tuple(RuleChoice(name, labels.rule(name)) for name in names)
