"""``relevansi token``: what lets a program in."""

from __future__ import annotations

from datetime import datetime

import click
from msgspec.structs import asdict

from webapp.cli.frame import options
from webapp.cli.frame.options import as_json_option
from webapp.cli.frame.output import TerminalTable, printed, say, write, write_json
from webapp.i18n import gettext
from webapp.printable import name_line
from webapp.services.people import raters, tokens
from webapp.services.people.tokens import DAYS, LONGEST_NAME, MOST_DAYS, SCOPES, Scope, TokenLine
from webapp.services.runs.reports import UnknownRater
from webapp.services.study import studies


@click.group("token")
def token_command() -> None:
    """Make, list and withdraw the tokens by which programs come in."""


@token_command.command("new")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    required=True,
    help="What it may do; several may be named.",
)
@click.option("--rater", help="Whose it is; the owner's if not said.")
@click.option("--name", default="", help="What it is for, to know it again in the list.")
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), default=DAYS, show_default=True,
    help="How long it holds.",
)  # fmt: skip
@as_json_option
def new(
    scopes: tuple[Scope, ...], rater: str | None, name: str, days: int, *, as_json: bool
) -> None:
    """Print a new token. It is shown only now: Relevansi keeps a hash of it."""
    name, now = name_line(name), options.now()
    if len(name) > LONGEST_NAME:
        raise click.UsageError(gettext("The name of a token has at most 80 characters."))
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, now)
        holder = raters.named(session, study, rater) if rater else raters.owner(session, study)
        if holder is None:
            raise UnknownRater(rater)
        made = tokens.make(session, holder, name, scopes, now, days=days)
        session.commit()
    if as_json:
        write_json(asdict(made), default=datetime.isoformat)
        return
    say(made.token)
    until = f"{made.expires_at:%Y-%m-%d}"
    told = gettext(
        "Token %(id)s holds until %(until)s. It is shown only now: keep it as a secret, as in "
        "the environment variable RELEVANSI_TOKEN.",
        id=made.id,
        until=until,
    )
    say(told, err=True)


@token_command.command("list")
@as_json_option
def listed(*, as_json: bool) -> None:
    """List the tokens of everybody: whose, what they may do, until when."""
    with options.reading() as (session, study):
        found = tokens.lines(session, raters.owner(session, study), options.now())
    if as_json:
        write_json({"tokens": list(map(asdict, found))}, default=datetime.isoformat)
        return
    write(printed([_table(found)]), None)


@token_command.command("withdraw")
@click.argument("token_id", metavar="ID", type=click.IntRange(0, 2**31 - 1))
def withdraw(token_id: int) -> None:
    """End the token with this ID; `relevansi token list` shows the IDs."""
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        tokens.withdraw(session, raters.owner(session, study), token_id, options.now())
        session.commit()
    say(gettext("Token %(id)s lets nobody in any more.", id=token_id))


def _table(found: list[TokenLine]) -> TerminalTable:
    table = TerminalTable(boxed=False)
    table.right("ID")
    table.left(gettext("Rater"), gettext("For"), gettext("May"), gettext("Until"))
    table.left(gettext("Last used"), gettext("State"))
    states = {
        raters.OPEN: gettext("open"),
        raters.EXPIRED: gettext("expired"),
        raters.WITHDRAWN: gettext("withdrawn"),
    }
    for one in found:
        used = one.used_at.astimezone().strftime("%Y-%m-%d %H:%M") if one.used_at else "-"
        until = f"{one.expires_at:%Y-%m-%d}"
        may = ", ".join(one.scopes)
        table.row(str(one.id), one.rater, one.name or "-", may, until, used, states[one.state])
    return table
