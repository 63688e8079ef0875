"""The format html: a run as one file in which it is rated without a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from webapp.cli.exports.exporting import ExportFormat, Writer
from webapp.cli.frame.commands import AppFactory
from webapp.db.tables.study import Study
from webapp.exporters.offline import page
from webapp.i18n import gettext, mark
from webapp.services.offline import runs
from webapp.services.runs.reports import Rule


@contextmanager
def opened(create_app: AppFactory) -> Iterator[Writer]:
    """Yield what makes a run's file, from the templates of an application of its own."""
    app = create_app()

    def written(session: Session, study: Study, run_id: str | None, _rule: Rule) -> bytes:
        assert run_id is not None
        return page.page(app.jinja_env, runs.offline_run(session, study, run_id))

    try:
        yield written
    finally:
        app.extensions["database"].close()


def _notice(session: Session, study: Study, run_id: str | None) -> str:
    assert run_id is not None
    if runs.offline_run(session, study, run_id).blind:
        return gettext("The study is blind: the file names neither method, LLM nor run.")
    return ""


FORMAT = ExportFormat(
    "html",
    opened,
    why_no_rule=mark(
        "html is a file to rate in: it holds no verdicts, so --rater and --rule cannot be used."
    ),
    notice=_notice,
)
