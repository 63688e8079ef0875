"""What a program's import would change of what the study has, held against what was confirmed.

New runs and new raters are what an import brings. Changes of anybody's judgments, of the settings
and of how the study is rated are counted, and made only if just so many were confirmed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.failures import Conflict
from relevansi.i18n import gettext, mark, ngettext
from relevansi.services.study import studies


class WouldChange(Conflict):
    """``problems`` has what would change: the place, how many changes, and a sentence."""

    message = mark("This would change what the study has (changes: %(name)s)")
    remedy = mark(
        "Nothing was stored. Name the grades' rater anew, or let the owner import the files on the "
        "page. A token of the scope everything makes these changes with confirm=%(name)s."
    )

    def __init__(self, changes: list[dict[str, Any]]) -> None:
        super().__init__(sum(change["changes"] for change in changes))
        self.problems = changes


@contextmanager
def confirmed(session: Session, study: Study, confirm: int, now: datetime) -> Iterator[None]:
    """Raise ``WouldChange`` at the block's end unless `confirm` is how many changes it made.

    What the block stores it stores at `now`. The first runs of a study set it up, so that their
    settings are no changes.
    """
    names = {rater.id: rater.name for rater in studies.people_and_machines(session, study)}
    has_runs = session.scalar(select(Run.id).where(Run.study_id == study.id).limit(1)) is not None
    before, was_blind = asdict(studies.switches(study)), studies.is_blind(session, study)
    yield
    session.flush()
    changes: list[dict[str, Any]] = [
        {
            "place": names[rater_id],
            "changes": count,
            "message": ngettext(
                "%(n)s judgment of %(name)s would change",
                "%(n)s judgments of %(name)s would change",
                count,
                name=names[rater_id],
            ),
        }
        for rater_id, count in session.execute(
            select(Event.rater_id, func.count())
            .where(Event.rater_id.in_(names), Event.received_at == now)
            .group_by(Event.rater_id)
            .order_by(Event.rater_id)
        )
    ]
    after = asdict(studies.switches(study))
    settings = [name for name, value in after.items() if value != before[name]]
    if was_blind != studies.is_blind(session, study):
        settings.append("blind")
    for name in settings if has_runs else ():
        message = gettext("A setting of the study would change: %(name)s", name=name)
        changes.append({"place": name, "changes": 1, "message": message})
    if changes and sum(change["changes"] for change in changes) != confirm:
        raise WouldChange(changes)
