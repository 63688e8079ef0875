"""The demo's adjudication: two of three disputes are settled, the rest are left to try."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.services.agreement import adjudications
from webapp.services.study import studies

LATER = timedelta(days=2)
REASONS = (
    "Semua yang diminta terlihat pada kartu.",
    "Harganya di luar batas yang diminta.",
    "Halaman iklannya menyebutkan hal yang diminta.",
)


def add(session: Session, study: Study, _folder: Path, now: datetime) -> None:
    """Settle two of three disputes as most raters see them, each with a reason."""
    owner = studies.raters(session, study)[0]
    disputes = sorted(adjudications.docket(session, study).open, key=lambda one: one.thing_id)
    for number, dispute in enumerate(disputes):
        if number % 3:
            verdict, reason = next(iter(dispute.tally)), REASONS[number % len(REASONS)]
            at = now + LATER + timedelta(minutes=number)
            adjudications.adjudicate(session, owner, dispute.thing_id, verdict, reason, at)
