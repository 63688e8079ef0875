"""``relevansi invite``, ``raters`` and ``token``: how people and programs come in."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from datetime import datetime

import click
from msgspec.structs import asdict

from relevansi.cli.frame import options, serving
from relevansi.cli.frame.options import as_json_option
from relevansi.cli.frame.output import TerminalTable, printed, say, write, write_json
from relevansi.config import Settings
from relevansi.i18n import gettext, ngettext
from relevansi.printable import name_line
from relevansi.services.people import raters, sign_in, tokens
from relevansi.services.people.raters import (
    DAYS,
    LONGEST_NAME,
    MOST_DAYS,
    InvitationLine,
    RaterLine,
)
from relevansi.services.people.tokens import SCOPES, Scope, TokenLine
from relevansi.services.runs.reports import UnknownRater
from relevansi.services.study import assignments, studies


@click.command("invite")
@click.argument("name")
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), default=DAYS, show_default=True,
    help="How long the link holds.",
)  # fmt: skip
@click.option(
    "--base-url", envvar="RELEVANSI_BASE_URL",
    help="The address by which the rater reaches Relevansi; by default that of the server.",
)  # fmt: skip
def invite_command(name: str, days: int, base_url: str | None) -> None:
    """Print a link, and its QR code, by which the rater NAME comes in."""
    name = name_line(name)
    if not 0 < len(name) <= LONGEST_NAME:
        raise click.UsageError(gettext("A rater needs a name, of at most 200 characters."))
    if base_url and not base_url.startswith(("http://", "https://")):
        raise click.UsageError(gettext("--base-url begins with http:// or https://."))
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        invited = raters.invite(session, study, name, options.now(), days=days)
        has_password = study.password is not None
        session.commit()
    settings = Settings.from_environment()
    address, why = serving.chosen(settings, base_url)
    link = f"{address}/join/{invited.token}"
    say(link)
    _print_code(link)
    say(why, err=True)
    say(ngettext("It holds for %(n)s day.", "It holds for %(n)s days.", days), err=True)
    if not has_password:
        from relevansi.chatbot.client import is_loopback

        here = address if is_loopback(address) else serving.chosen(settings, None)[0]
        advice = gettext(
            "From now on everybody signs in, you too: set the owner's password at %(address)s "
            "on this computer.",
            address=f"{here}/sign-in",
        )
        say(advice, err=True)


@click.command("raters")
@as_json_option
@click.option(
    "--forget-password", is_flag=True,
    help="Forget the owner's password, so that a new one can be set on this computer.",
)  # fmt: skip
def raters_command(*, as_json: bool, forget_password: bool) -> None:
    """List the study's raters: how they stand, what they get and how they may come in."""
    if forget_password:
        with options.opened() as opened, opened.writing() as session:
            study = studies.open_or_make(session, options.now())
            sign_in.set_password(session, study, None, options.now())
            session.commit()
        address = f"{serving.chosen(Settings.from_environment(), None)[0]}/sign-in"
        say(gettext("Forgotten. Set a new one at %(address)s on this computer.", address=address))
        return
    with options.reading() as (session, study):
        invited = raters.invitation_lines(session, study, options.now())
        found = [(line, invited[line.id]) for line in raters.lines(session, study)]
        sets = assignments.numbered(session, study)
        named = {
            rater_id: assignments.written(questions, sets)
            for rater_id, questions in assignments.by_rater(session, study).items()
        }
    if as_json:
        document = {
            "raters": [
                {
                    **asdict(line),
                    "questions": named.get(line.id),  # null where all are theirs
                    "invitations": [asdict(link) for link in links],
                }
                for line, links in found
            ]
        }
        write_json(document, indent=2, default=datetime.isoformat)
        return
    write(printed([_table(found, named)]), None)


def _print_code(link: str) -> None:
    import segno

    drawn = io.StringIO()
    segno.make(link, micro=False).terminal(out=drawn, compact=True)
    text = drawn.getvalue()
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return
    for line in text.splitlines():
        say(line)


def _table(
    found: list[tuple[RaterLine, list[InvitationLine]]], named: Mapping[int, str]
) -> TerminalTable:
    table = TerminalTable(boxed=False)
    table.left(gettext("Rater"))
    table.right(gettext("Judgments"), gettext("Grades"))
    table.left(gettext("Questions"), gettext("Last seen"), gettext("State"))
    for line, links in found:
        seen = line.last_seen.astimezone().strftime("%Y-%m-%d %H:%M") if line.last_seen else "-"
        questions = named.get(line.id, gettext(assignments.ALL))
        counts = (str(line.judgments), str(line.ratings))
        table.row(line.name, *counts, questions, seen, _state(line, links))
    return table


def _state(line: RaterLine, links: list[InvitationLine]) -> str:
    if line.is_owner:
        return gettext("owner")
    if line.is_machine:
        return gettext("machine")
    if line.removed_at is not None:
        return gettext("removed")
    states = {
        raters.OPEN: gettext("invited"),
        raters.EXPIRED: gettext("invitation expired"),
        raters.WITHDRAWN: gettext("invitation withdrawn"),
    }
    open_first = sorted(links, key=lambda link: link.state != raters.OPEN)
    return states[open_first[0].state] if open_first else gettext("not invited")


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
    "--days", type=click.IntRange(1, tokens.MOST_DAYS), default=tokens.DAYS, show_default=True,
    help="How long it holds.",
)  # fmt: skip
@as_json_option
def new(
    scopes: tuple[Scope, ...], rater: str | None, name: str, days: int, *, as_json: bool
) -> None:
    """Print a new token. It is shown only now: Relevansi keeps a hash of it."""
    name, now = name_line(name), options.now()
    if len(name) > tokens.LONGEST_NAME:
        raise click.UsageError(gettext("The name of a token has at most 80 characters."))
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, now)
        holder = raters.find_named(session, study, rater) if rater else raters.owner(session, study)
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
    write(printed([_tokens(found)]), None)


@token_command.command("withdraw")
@click.argument("token_id", metavar="ID", type=click.IntRange(0, 2**31 - 1))
def withdraw(token_id: int) -> None:
    """End the token with this ID; `relevansi token list` shows the IDs."""
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        tokens.withdraw(session, raters.owner(session, study), token_id, options.now())
        session.commit()
    say(gettext("Token %(id)s lets nobody in any more.", id=token_id))


def _tokens(found: list[TokenLine]) -> TerminalTable:
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
