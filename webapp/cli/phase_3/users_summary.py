"""``relevansi compare --phase 3``: what the users asked and rated, summed up."""

from __future__ import annotations

from webapp.cli.comparisons.comparing import Destination
from webapp.cli.frame import options
from webapp.metrics.comparisons.significance import Resampling


def sum_up(settings: Resampling, to: Destination) -> None:
    """Write the summary of phase 3, and log that there is a copy of what participants gave."""
    from webapp.exporters.phase_3 import summary
    from webapp.services.phase_3 import findings, participants
    from webapp.services.study import studies

    now = options.now()
    today = now.astimezone().date()
    with options.opened() as used, used.writing() as session:
        study = studies.open_or_make(session, now)
        report = findings.report(session, study, now, settings=settings)
        for file_format in to.formats:
            participants.note_export(session, study, summary.file_name(file_format, today), now)
        session.commit()
    to.write(
        lambda file_format: summary.file_name(file_format, today),
        lambda file_format: summary.FORMATS[file_format].render(report, today),
    )
