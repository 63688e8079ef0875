"""``relevansi push``."""

from __future__ import annotations

import os

import click
from msgspec import to_builtins

from webapp import labels, notation
from webapp.chatbot.failures import CallFailed
from webapp.cli.frame import options
from webapp.cli.frame.output import say, write_json
from webapp.i18n import gettext
from webapp.services.exports import exports, pushes
from webapp.services.runs import reports

TOKEN = "RELEVANSI_PUSH_TOKEN"  # noqa: S105 - the name of a variable
MOST_NAMED = 5


@click.command("push")
@click.option("--to", type=click.Choice([*pushes.FORMS]), required=True)
@click.option("--endpoint", required=True, metavar="URL", help="Where its server is.")
@click.option("--run", "run_id", required=True, metavar="ID")
@click.option(
    "--rule",
    default=reports.ADJUDICATED,
    show_default=True,
    help="How several raters' judgments become one.",
)
@click.option("--format", "file_format", type=click.Choice(["table", "json"]), default="table")
def push_command(to: str, endpoint: str, run_id: str, rule: str, file_format: str) -> None:
    """Push the judgments of a run to the tool that its results came from.

    To phoenix they go as annotations of the documents of its spans, to opensearch as a list of
    judgments of its Search Relevance Workbench. A token goes along if RELEVANSI_PUSH_TOKEN has
    one. What got no answer is sent again; what is pushed twice changes nothing: annotations are
    replaced by equal ones, and a list that is there is not imported again. Says what was accepted
    and what refused, with exit code 1.
    """
    with options.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        file = exports.export(session, study, run_id, chosen, pushes.FORMS[to])
    for note in file.notes:
        say(f"relevansi: {note}", err=True)
    try:
        done = pushes.push(file.data, to, endpoint, token=os.environ.get(TOKEN, ""))
    except CallFailed as failed:
        raise click.ClickException(str(failed)) from None
    if file_format == "json":
        write_json({"run": run_id, "rule": chosen.name, **to_builtins(done)})
    else:
        counted = gettext(
            "%(address)s: %(accepted)s accepted, %(refused)s refused. Rule: %(rule)s.",
            address=done.address,
            accepted=notation.number(done.n_accepted),
            refused=notation.number(sum(len(one.items) for one in done.refused)),
            rule=labels.rule(chosen.name),
        )
        there = gettext("This list was there already.") if done.was_there else ""
        say(" ".join(filter(None, [counted, there, done.name])))
    for one in done.refused:
        named, more = ", ".join(one.items[:MOST_NAMED]), len(one.items) - MOST_NAMED
        if more > 0:
            named = gettext("%(listed)s and %(n)s more", listed=named, n=more)
        why = f"{one.status}: {one.detail}" if one.status else one.detail
        say(f"relevansi: {gettext('refused')}: {named} ({why})", err=True)
    if done.refused:
        raise SystemExit(1)
