"""``relevansi export``."""

from __future__ import annotations

from pathlib import Path

import click

from webapp.cli import database
from webapp.cli.figures import RULES, rule_name
from webapp.cli.output import write
from webapp.exporters.csv_cells import CsvStyle
from webapp.i18n import gettext
from webapp.services import exports, reports

CSV_FORMATS = {
    "csv": exports.rated_csv,
    "wide-csv": exports.wide_csv,
    "long-csv": exports.long_csv,
}


@click.command("export")
@click.argument("run_id", metavar="ID")
@click.option("--rater", help="Only this rater's judgments.")
@click.option("--rule", type=RULES, help="How several raters' judgments become one.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(list(exports.FORMATS)),
    default="csv",
    show_default=True,
)
@click.option("--excel", is_flag=True, help="CSV for Excel: with a byte order mark and `;`.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path))
def export_command(
    run_id: str,
    rater: str | None,
    rule: str | None,
    file_format: str,
    output: Path | None,
    *,
    excel: bool,
) -> None:
    """Write the rated run ID as a file, to the standard output unless -o says where."""
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
        click.echo(f"relevansi: {note}", err=True)
    write(file.data, output)
