"""``relevansi manual-input``: decisions by hand on a run's cards, in and out."""

from __future__ import annotations

from pathlib import Path

import click

from webapp.cli.frame import options
from webapp.cli.frame.options import FILE, as_json_option, output_option
from webapp.cli.frame.output import say, write_json
from webapp.i18n import gettext, ngettext

of_run = click.option("--run", "run_id", required=True, metavar="ID", help="The run decided on.")


@click.group("manual-input")
def manual_input_command() -> None:
    """Take decisions by hand on a run's cards in or out, as manual_input.json."""


@manual_input_command.command("import")
@click.argument("file", type=FILE)
@of_run
@as_json_option
def import_command(file: Path, run_id: str, *, as_json: bool) -> None:
    """Take in the decisions of FILE: constraints overridden, cards passed or failed.

    Decisions that FILE does not name stay as they are. Those on questions or cards that the
    run does not have are told and left out; where none fits, the command ends with 1.

    \b
    JSON: {run, new, fitting, problems: [{severity, file, query_id, line, code, message}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    from webapp.importers.runs import problems
    from webapp.services.gold import constraints
    from webapp.services.study import studies

    with options.opened() as opened, opened.writing() as session:
        now = options.now()
        owner = studies.raters(session, studies.open_or_make(session, now))[0]
        taken = constraints.import_manual(session, owner, run_id, file.name, file.read_bytes(), now)
        session.commit()
    if as_json:
        document = {
            "run": run_id,
            "new": taken.new,
            "fitting": taken.fitting,
            "problems": [problems.to_dict(problem) for problem in taken.problems],
        }
        write_json(document)
    else:
        new = ngettext("%(n)s new decision", "%(n)s new decisions", taken.new)
        say(f"{run_id}  {file.name}: {new}")
        for problem in taken.problems:
            say(f"  !! {problems.message(problem)}", err=True)
    if taken.problems and not taken.fitting:
        raise click.ClickException(
            gettext("No decision in %(file)s fits run %(run)s.", file=file.name, run=run_id)
        )


@manual_input_command.command("export")
@of_run
@output_option
def export_command(run_id: str, output: Path | None) -> None:
    """Write the decisions in force on a run's cards, as `manual-input import` reads them."""
    from webapp.services.gold import constraints

    with options.reading() as (session, study):
        document = constraints.manual_document(session, study, run_id, options.now())
    write_json(document, output)
