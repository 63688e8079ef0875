"""``relevansi invite``, ``raters`` and ``token``: how people and programs come in."""

from __future__ import annotations

import io
import sys
from datetime import datetime

import click
import segno
from msgspec.structs import asdict

from relevansi.chatbot.client import is_loopback
from relevansi.cli.frame import options, serving
from relevansi.cli.frame.options import Reply, replies
from relevansi.cli.frame.output import say
from relevansi.config import Settings
from relevansi.exporters.frame.tables import numbers, table_of
from relevansi.i18n import gettext, ngettext
from relevansi.printable import name_line
from relevansi.records import LARGEST_INTEGER
from relevansi.services.people import raters, sign_in, tokens
from relevansi.services.people.raters import (
    DAYS,
    LONGEST_NAME,
    MOST_DAYS,
    InvitationLine,
    RaterLine,
)
from relevansi.services.people.tokens import SCOPES, Scope
from relevansi.services.runs.reports import UnknownRater
from relevansi.services.study import assignments


@click.command("invite")
@click.argument("name")
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), default=DAYS, help="How long the link holds."
)
@click.option(
    "--base-url",
    envvar="RELEVANSI_BASE_URL",
    help="The address by which the rater reaches Relevansi; by default that of the server.",
)
def invite_command(name: str, days: int, base_url: str | None) -> None:
    """Print a link, and its QR code, by which the rater NAME comes in."""
    name = name_line(name)
    if not 0 < len(name) <= LONGEST_NAME:
        raise click.UsageError(gettext("A rater needs a name, of at most 200 characters."))
    if base_url and not base_url.startswith(("http://", "https://")):
        raise click.UsageError(gettext("--base-url begins with http:// or https://."))
    with options.writing() as (session, study):
        invited = raters.invite(session, study, name, options.now(), days=days)
        has_password = study.password is not None
    settings = Settings.from_environment()
    address, why = serving.address_of_links(settings, base_url)
    link = f"{address}/join/{invited.token}"
    say(link)
    _print_code(link)
    say(why, err=True)
    say(ngettext("It holds for %(n)s day.", "It holds for %(n)s days.", days), err=True)
    if not has_password and not settings.auth_header:
        here = address
        if not is_loopback(address):  # the first password is set on this computer alone
            here, _ = serving.address_of_links(settings, None)
        advice = gettext(
            "From now on everybody signs in, you too: set the owner's password at %(address)s "
            "on this computer.",
            address=f"{here}/sign-in",
        )
        say(advice, err=True)


@click.command("raters")
@replies()
@click.option(
    "--forget-password",
    is_flag=True,
    help="Forget the owner's password, so that a new one can be set on this computer.",
)
def raters_command(*, reply: Reply, forget_password: bool) -> None:
    """List the study's raters: how they stand, what they get and how they may come in."""
    if forget_password:
        with options.writing() as (session, study):
            sign_in.set_password(session, study, None, options.now())
        base_url, _ = serving.address_of_links(Settings.from_environment(), None)
        address = f"{base_url}/sign-in"
        say(gettext("Forgotten. Set a new one at %(address)s on this computer.", address=address))
        return
    with options.reading() as (session, study):
        invitations = raters.invitation_lines(session, study, options.now())
        lines = raters.lines(session, study)
        sets = assignments.numbered(session, study)
        questions_by_rater = {
            rater_id: assignments.written(questions, sets)
            for rater_id, questions in assignments.by_rater(session, study).items()
        }
    if reply.is_json:
        documents = []
        for line in lines:
            questions = questions_by_rater.get(line.id)  # null where all are theirs
            further = {"questions": questions, "invitations": invitations[line.id]}
            documents.append(asdict(line) | further)
        reply.json({"raters": documents})
        return
    every = gettext(assignments.ALL)
    table = table_of(
        "",
        "",
        lines,
        (
            (gettext("Rater"), lambda line: line.name),
            (numbers(gettext("Judgments")), lambda line: str(line.judgments)),
            (numbers(gettext("Grades")), lambda line: str(line.ratings)),
            (gettext("Questions"), lambda line: questions_by_rater.get(line.id, every)),
            (gettext("Last seen"), lambda line: _minute(line.last_seen)),
            (gettext("State"), lambda line: _state(line, invitations[line.id])),
        ),
    )
    reply.table(table)


def _print_code(link: str) -> None:
    """Print the QR code of a link, where the terminal has the characters for it."""
    drawing = io.StringIO()
    segno.make(link, micro=False).terminal(out=drawing, compact=True)
    text = drawing.getvalue()
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return
    for line in text.splitlines():
        say(line)


def _minute(moment: datetime | None) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment else "-"


def _state(line: RaterLine, links: list[InvitationLine]) -> str:
    """Return how a rater comes in: as owner or machine, by which invitation, or not at all."""
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
    if not links:
        return gettext("not invited")
    is_invited = any(link.state == raters.OPEN for link in links)
    return states[raters.OPEN if is_invited else links[0].state]


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
    "--days",
    type=click.IntRange(1, tokens.MOST_DAYS),
    default=tokens.DAYS,
    help="How long it holds.",
)
@replies()
def new(
    scopes: tuple[Scope, ...], rater: str | None, name: str, days: int, *, reply: Reply
) -> None:
    """Print a new token. It is shown only now: Relevansi keeps a hash of it."""
    name, now = name_line(name), options.now()
    if len(name) > tokens.LONGEST_NAME:
        raise click.UsageError(gettext("The name of a token has at most 80 characters."))
    with options.writing() as (session, study):
        holder = raters.find_named(session, study, rater) if rater else raters.owner(session, study)
        if holder is None:
            raise UnknownRater(rater)
        token = tokens.make(session, holder, name, scopes, now, days=days)
    if reply.is_json:
        reply.json(token)
        return
    say(token.token)
    advice = gettext(
        "Token %(id)s holds until %(until)s. It is shown only now: keep it as a secret, as in "
        "the environment variable RELEVANSI_TOKEN.",
        id=token.id,
        until=f"{token.expires_at:%Y-%m-%d}",
    )
    say(advice, err=True)


@token_command.command("list")
@replies()
def list_command(reply: Reply) -> None:
    """List the tokens of everybody: whose, what they may do, until when."""
    with options.reading() as (session, study):
        lines = tokens.lines(session, raters.owner(session, study), options.now())
    if reply.is_json:
        reply.json({"tokens": lines})
        return
    states = {
        raters.OPEN: gettext("open"),
        raters.EXPIRED: gettext("expired"),
        raters.WITHDRAWN: gettext("withdrawn"),
    }
    table = table_of(
        "",
        "",
        lines,
        (
            (numbers("ID"), lambda line: str(line.id)),
            (gettext("Rater"), lambda line: line.rater),
            (gettext("For"), lambda line: line.name or "-"),
            (gettext("May"), lambda line: ", ".join(line.scopes)),
            (gettext("Until"), lambda line: f"{line.expires_at:%Y-%m-%d}"),
            (gettext("Last used"), lambda line: _minute(line.used_at)),
            (gettext("State"), lambda line: states[line.state]),
        ),
    )
    reply.table(table)


@token_command.command("withdraw")
@click.argument("token_id", metavar="ID", type=click.IntRange(0, LARGEST_INTEGER))
def withdraw(token_id: int) -> None:
    """End the token with this ID; `relevansi token list` shows the IDs."""
    with options.writing() as (session, study):
        tokens.withdraw(session, raters.owner(session, study), token_id, options.now())
    say(gettext("Token %(id)s lets nobody in any more.", id=token_id))
