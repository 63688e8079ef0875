"""The rule by which a page merges the verdicts of several raters, and the rules to choose from."""

from __future__ import annotations

from flask import request
from msgspec import Struct
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.tables.study import Study
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule


class RuleChoice(Struct, frozen=True):
    name: str
    label: str


def requested_rule(session: Session, study: Study) -> Rule:
    """Return the rule that the address names, else the usual one of the study."""
    return reports.rule_of(session, study, request.args.get("rule") or None)


def rule_choices(session: Session, study: Study) -> tuple[RuleChoice, ...]:
    """Return the rules of a study, each with its name for people."""
    names = (rule.name for rule in reports.rules(session, study))
    return tuple(RuleChoice(name, labels.rule(name)) for name in names)
