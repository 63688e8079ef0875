"""The question set that a command of the rating plan is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from sqlalchemy.orm import Session

from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.db.tables.study import QuestionSet, Study

option = click.option("--question-set", type=click.IntRange(1), help="Which; the newest.")


def chosen(session: Session, study: Study, number: int | None) -> QuestionSet:
    """Return the question set with this number, counted from 1; without a number the newest."""
    from webapp.services.planning import rules

    sets = rules.question_sets(session, study)
    if not sets:
        raise click.ClickException(gettext("There are no questions yet: import a run first."))
    if number is not None and number > len(sets):
        message = gettext("The study has %(n)s question sets.", n=len(sets))
        raise click.BadParameter(message, param_hint="--question-set")
    return sets[number - 1 if number else -1]
