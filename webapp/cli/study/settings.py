"""``relevansi study``."""

from __future__ import annotations

import click
from msgspec.structs import asdict, replace

from webapp import labels
from webapp.cli.frame import options
from webapp.cli.frame.options import as_json_option
from webapp.cli.frame.output import TerminalTable, printed, say, write, write_json
from webapp.i18n import gettext
from webapp.services.study import studies

GUIDELINES = "guidelines"


@click.command("study")
@click.option(
    "--cannot-tell", type=click.Choice(["not-relevant", "left-out"]),
    help='What a card marked "cannot tell" is in the precisions; all figures are made anew.',
)  # fmt: skip
@as_json_option
def study_command(cannot_tell: str | None, *, as_json: bool) -> None:
    """Show the settings of the study, or change one; every change is logged."""
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        if cannot_tell is not None:
            counted = "left_out" if cannot_tell == "left-out" else "not_relevant"
            wanted = replace(studies.switches(study), cannot_tell=counted)
            studies.set_switches(session, study, wanted, options.now())
        session.commit()
        settings = asdict(studies.switches(study))
    if as_json:
        write_json(settings, indent=2)
    elif cannot_tell is not None:
        say(labels.cannot_tell(settings["cannot_tell"]))
    else:
        write(printed([_table(settings)]), None)


def _table(settings: dict[str, object]) -> TerminalTable:
    table = TerminalTable(boxed=False)
    table.left(gettext("Setting"), gettext("Value"))
    for name, value in settings.items():
        if name != GUIDELINES:
            table.row(name, "-" if value is None else str(value))
    return table
