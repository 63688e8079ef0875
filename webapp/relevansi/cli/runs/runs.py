"""``relevansi runs`` and ``relevansi delete-run``."""

from __future__ import annotations

from contextlib import suppress

import click

from relevansi import labels
from relevansi.cli.frame import options
from relevansi.cli.frame.options import Reply, replies
from relevansi.cli.frame.output import one_line, say
from relevansi.cli.runs.import_report import method
from relevansi.db.tables.runs import Query
from relevansi.i18n import gettext
from relevansi.services.programs import rows
from relevansi.services.runs import reports, runs


@click.command("runs")
@replies()
def runs_command(reply: Reply) -> None:
    """List the runs of the study, in its order, with how far they are rated.

    By the study's rule: the only rater's own verdicts, else the majority.
    """
    with options.reading() as (session, study):
        if reply.is_json:
            reply.json({"runs": rows.run_rows(session, study)})
            return
        rule = reports.rule_of(session, study)
        for run in runs.in_order(session, study):
            state = labels.state(reports.state(session, study, Query.run_id == run.id, rule))
            llm = run.llm or gettext("not stated")
            say(f"{run.id}  {method(run.search_method)}  {llm}  {state}")


@click.command("delete-run")
@click.argument("run_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Delete without asking.")
def delete_run_command(run_id: str, *, yes: bool) -> None:
    """Delete the run ID with the judgments that belong to it alone.

    What goes and what stays is said first. `relevansi runs` lists the runs with their IDs.
    """
    with options.reading() as (session, study):
        run = runs.find(session, study, run_id)
        costs = runs.deletion_cost(session, study, run_id)
        name = f"{run.id} ({run.search_method or '-'}, {run.llm or '-'})"
    goes, stays = map("; ".join, costs)
    say(f"{name}. {gettext('What goes')}: {goes}. {gettext('What stays')}: {stays}.", err=True)
    with suppress(click.Abort):  # without an answer nothing is confirmed
        yes = yes or click.confirm(one_line(gettext("Delete %(name)s?", name=name)), err=True)
    if not yes:
        raise click.ClickException(gettext("Nothing is deleted; --yes deletes without asking."))
    with options.writing() as (session, study):
        runs.delete_run(session, study, run_id, options.now())
    say(gettext("%(name)s is deleted. The file can be imported again.", name=name))
