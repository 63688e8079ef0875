"""The command line: its list of commands, each read when it is called, and its failures."""

from __future__ import annotations

import io
import locale
import logging
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import click

from webapp.cli.agreement import commands as agreement
from webapp.cli.backups import commands as backups
from webapp.cli.collecting import commands as collecting
from webapp.cli.comparisons import commands as comparisons
from webapp.cli.evaluations import commands as evaluations
from webapp.cli.exports import commands as exports
from webapp.cli.frame import listing as own
from webapp.cli.frame.output import say
from webapp.cli.gold import commands as gold
from webapp.cli.machine_judges import commands as machine_judges
from webapp.cli.people import commands as people
from webapp.cli.planning import commands as planning
from webapp.cli.proof_packs import commands as proof_packs
from webapp.cli.runs import commands as runs
from webapp.cli.study import commands as study
from webapp.failures import Failure
from webapp.i18n import LANGUAGES, SOURCE_LANGUAGE, gettext, speaking
from webapp.printable import LogLineFormatter

if TYPE_CHECKING:
    from flask import Flask

AppFactory = Callable[..., "Flask"]


LISTINGS = (
    own,
    runs,
    study,
    people,
    agreement,
    comparisons,
    exports,
    gold,
    evaluations,
    machine_judges,
    proof_packs,
    collecting,
    backups,
    planning,
)
"""The lists of commands, in their order."""


class _Listed(NamedTuple):
    """A command before its module is read: where it is, and what it does as a message id."""

    module: str
    summary: str


@cache
def commands() -> dict[str, _Listed]:
    """Return every command by its name: those of the frame, then those of each room."""
    return {
        name: _Listed(f"{listing.__name__.rpartition('.')[0]}.{module}", summary)
        for listing in LISTINGS
        for name, (module, summary) in listing.COMMANDS.items()
    }


class _Commands(click.Group):
    """A group whose ``--help`` loads none of its commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in commands():
            return None
        module = import_module(commands()[cmd_name].module)
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section(gettext("Commands")):
            formatter.write_dl(
                [(name, gettext(entry.summary)) for name, entry in commands().items()]
            )


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="relevansi")
def relevansi() -> None:
    """Judge what a chatbot retrieved; get figures that survive an examiner."""


def run(create_app: AppFactory, arguments: list[str] | None = None) -> None:
    """Run one command and end the process with its exit code; failures take one line."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files need not be text
        sys.stdout.reconfigure(errors="surrogateescape")
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LogLineFormatter())
    with speaking(_language()):
        try:
            relevansi.main(arguments, "relevansi", standalone_mode=False, obj=create_app)
        except click.ClickException as failure:
            _tell(failure.format_message())
            sys.exit(failure.exit_code)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(1)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(1)
        except Exception as failure:
            message = _known(failure)
            if message is None:
                raise
            _tell(message)
            sys.exit(1)


def _tell(message: str) -> None:
    say("relevansi: " + " ".join(message.split()), err=True)


def _known(failure: Exception) -> str | None:
    """Return the sentence for a failure that is not a programming error, else ``None``."""
    from sqlalchemy.exc import OperationalError

    from webapp.config import UnusableSetting
    from webapp.db.outages import Outage, outage
    from webapp.db.sqlite_files import DamagedDatabase

    if isinstance(failure, Failure):
        return failure.line()
    found = outage(failure)
    if found is Outage.DAMAGED:
        return DamagedDatabase(_named(failure)).line()
    outages: dict[Outage | None, str] = {
        Outage.FULL: gettext("The disk is full or failing (%(name)s). Nothing was stored."),
        Outage.BUSY: gettext("Another program is writing to the database; try again in a while."),
        Outage.REPLACED: gettext(
            "%(name)s was removed or replaced while it was open, so nothing was stored. "
            "Repeat the command."
        ),
    }
    if (text := outages.get(found)) is not None:
        return text % {"name": _named(failure)}
    texts: dict[type[Exception], str] = {
        OperationalError: gettext("The database cannot be used: %(name)s"),
        UnusableSetting: "%(name)s",
        UnicodeEncodeError: gettext('"%(name)s" is not a text in UTF-8. Save it in that encoding.'),
        OSError: "%(name)s",
    }
    for kind, text in texts.items():
        if isinstance(failure, kind):
            return text % {"name": _named(failure)}
    return None


def _named(failure: Exception) -> str:
    original = getattr(failure, "orig", None)
    if original is not None:
        return str(original)
    if isinstance(failure, UnicodeEncodeError):
        return str(failure.object)[:80]
    return str(failure) if isinstance(failure, OSError) else " ".join(map(str, failure.args))


def _language() -> str:
    """Return the user's language as the environment states it, else English."""
    stated = os.environ.get("RELEVANSI_LANGUAGE") or _locale() or ""
    code = stated[:2].lower()
    return code if code in LANGUAGES else SOURCE_LANGUAGE


def _locale() -> str | None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(name):
            return os.environ[name]
    return locale.getlocale()[0]
