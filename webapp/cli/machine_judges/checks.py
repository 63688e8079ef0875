"""The part of ``relevansi check`` on machine judges: their prompts must be as recorded."""

from __future__ import annotations

from sqlalchemy.orm import Session

from webapp.cli.exports.checking import Findings
from webapp.i18n import gettext, ngettext
from webapp.services.machine_judges import judges


def check(session: Session) -> Findings:
    """Name the machine judges whose prompt has another SHA-256 than the recorded one."""
    names = judges.changed_prompts(session)
    lines = tuple(
        gettext(
            "The prompt of %(name)s is not the one with the recorded SHA-256. Restore a "
            "backup in which it is, or make a new machine judge.",
            name=name,
        )
        for name in names
    )
    return Findings(lines, ngettext("%(n)s prompt differs.", "%(n)s prompts differ.", len(names)))
