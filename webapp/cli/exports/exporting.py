"""``relevansi export``."""

from __future__ import annotations

from pathlib import Path

import click

from webapp.cli.exports.figures import RULES, rule_name
from webapp.cli.frame import database
from webapp.cli.frame.commands import AppFactory
from webapp.cli.frame.output import say, write
from webapp.cli.offline import offline
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.i18n import gettext
from webapp.services.exports import exports
from webapp.services.offline import runs
from webapp.services.proof_packs import packs
from webapp.services.runs import reports

PROOF_PACK = "proof-pack"

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
    type=click.Choice([*exports.FORMATS, "html", PROOF_PACK]),
    default="csv",
    show_default=True,
)
@click.option("--excel", is_flag=True, help="CSV for Excel: with a byte order mark and `;`.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path))
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
    if file_format == PROOF_PACK:
        if excel:
            raise click.UsageError(gettext("--excel goes with the CSV formats."))
        write(_proof_pack(run_id, rule_name(rater, rule)), output)
        return
    if run_id is None:
        raise click.UsageError(gettext("Name a run; only --format proof-pack takes all of them."))
    if file_format == "html":
        if rater or rule or excel:
            raise click.UsageError(gettext("html is a file to rate in: nobody's verdicts go in."))
        write(_to_rate(create_app, run_id), output)
        return
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


def _proof_pack(run_id: str | None, rule: str | None) -> bytes:
    with database.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        if run_id is None:
            return packs.of_study(session, study, chosen).data
        return packs.of_run(session, study, run_id, chosen).data


def _to_rate(create_app: AppFactory, run_id: str) -> bytes:
    with database.reading() as (session, study):
        run = runs.offline_run(session, study, run_id)
    if run.blind:
        told = gettext("The study is blind: the file names neither method, LLM nor run.")
        say(f"relevansi: {told}", err=True)
    with offline.printer(create_app) as to_bytes:
        return to_bytes(run)
