"""``relevansi export``."""

from __future__ import annotations

from pathlib import Path

import click

from webapp.cli.exports.figures import RULES, rule_name
from webapp.cli.exports.formats import ExportFormat, formats
from webapp.cli.frame import database
from webapp.cli.frame.commands import AppFactory
from webapp.cli.frame.options import output_option
from webapp.cli.frame.output import say, write
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.i18n import gettext
from webapp.services.exports import exports
from webapp.services.runs import reports

CSV_FORMATS = {
    "csv": exports.rated_csv,
    "wide-csv": exports.wide_csv,
    "long-csv": exports.long_csv,
}


@click.command("export")
@click.argument("run_id", metavar="[ID]", required=False)
@click.option("--rater", help="Only this rater's judgments.")
@click.option("--rule", type=RULES, help="How several raters' judgments become one.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice([*exports.FORMATS, *formats()]),
    default="csv",
    show_default=True,
)
@click.option(
    "--excel",
    is_flag=True,
    help="CSV for Excel: with a byte order mark, `;` and the decimal sign of the language.",
)
@output_option
@click.pass_obj
def export_command(
    create_app: AppFactory,
    run_id: str | None,
    rater: str | None,
    rule: str | None,
    file_format: str,
    output: Path | None,
    *,
    excel: bool,
) -> None:
    """Write the rated run ID as a file, to the standard output unless -o says where.

    The format html is one file in which the run is rated without a server; `relevansi import`
    takes back what it gives. In a blind study it names neither method nor LLM.

    The format proof-pack is one zip with everything behind the figures, which `relevansi
    verify` recomputes: of the run ID or, without ID, of the whole study. It names the raters.
    """
    brought = formats().get(file_format)
    if run_id is None and not (brought and brought.takes_all):
        raise click.UsageError(gettext("Name a run; only --format proof-pack takes all of them."))
    if brought:
        if excel:
            raise click.UsageError(gettext("--excel goes with the CSV formats."))
        if (rater or rule) and brought.why_no_rule:
            raise click.UsageError(gettext(brought.why_no_rule))
        data = _brought(create_app, brought, run_id, rule_name(rater, rule))
        write(data, output, private=brought.private)
        return
    assert run_id is not None
    with database.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule_name(rater, rule))
        if excel:
            if file_format not in CSV_FORMATS:
                raise click.UsageError(gettext("--excel goes with the CSV formats."))
            make = CSV_FORMATS[file_format]
            file = make(session, study, run_id, chosen, style=CsvStyle.EXCEL)
        else:
            file = exports.export(session, study, run_id, chosen, file_format)
    for note in file.notes:
        say(f"relevansi: {note}", err=True)
    write(file.data, output)


def _brought(
    create_app: AppFactory, brought: ExportFormat, run_id: str | None, rule: str | None
) -> bytes:
    """Return the file of a format that a wing brings; print what it has to say."""
    with brought.opened(create_app) as written, database.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        data = written(session, study, run_id, chosen)
        notice = brought.notice(session, study, run_id)
    if notice:
        say(f"relevansi: {notice}", err=True)
    return data
