"""``relevansi delete-run``."""

from __future__ import annotations

import click

from webapp.cli.frame import database
from webapp.cli.frame.output import say, shown
from webapp.i18n import gettext
from webapp.services.runs import runs
from webapp.services.study import studies


@click.command("delete-run")
@click.argument("run_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Delete without asking.")
def delete_run_command(run_id: str, *, yes: bool) -> None:
    """Delete the run ID with the judgments that belong to it alone.

    What goes and what stays is said first. `relevansi runs` lists the runs with their IDs.
    """
    with database.reading() as (session, study):
        run = runs.find(session, study, run_id)
        cost = runs.deletion_cost(session, study, run_id)
        name = f"{run.id} ({run.search_method or '-'}, {run.llm or '-'})"
    goes, stays = ("; ".join(listed) for listed in (cost.losses(), cost.remains()))
    say(f"{name}. {gettext('What goes')}: {goes}. {gettext('What stays')}: {stays}.", err=True)
    if not (yes or _is_confirmed(name)):
        raise click.ClickException(gettext("Nothing is deleted; --yes deletes without asking."))
    with database.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, database.now())
        runs.delete_run(session, study, run_id, database.now())
        session.commit()
    say(gettext("%(name)s is deleted. The file can be imported again.", name=name))


def _is_confirmed(name: str) -> bool:
    """Ask on the terminal; without an answer nothing is confirmed."""
    try:
        return click.confirm(shown(gettext("Delete %(name)s?", name=name)), err=True)
    except click.Abort:
        return False
