"""The command line: its list of commands, each read when it is called, and its failures."""

from __future__ import annotations

import errno
import io
import locale
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import click

from relevansi.cli.frame.output import notice
from relevansi.config import UnusableSetting
from relevansi.failures import Failure
from relevansi.i18n import LANGUAGES, SOURCE_LANGUAGE, gettext, mark, speaking
from relevansi.printable import LogLineFormatter

if TYPE_CHECKING:
    from flask import Flask

AppFactory = Callable[..., "Flask"]

DISK: dict[str, str] = {
    "ENOENT": mark("%(name)s: there is no such file or folder. Make it, or name another."),
    "ENOTDIR": mark("%(name)s: a file stands where a folder should be. Name another place."),
    "EISDIR": mark("%(name)s is a folder. Name a file."),
    "EACCES": mark("%(name)s: you may not do that there. Change who may, or name another place."),
    "EROFS": mark("%(name)s: that disk can only be read. Name another place."),
    "ENOSPC": mark("%(name)s: the disk is full. Make room, and repeat the command."),
    "ENAMETOOLONG": mark("%(name)s: that name is too long. Choose a shorter one."),
}
DISK |= {"EPERM": DISK["EACCES"], "EDQUOT": DISK["ENOSPC"]}
"""What is wrong with a file or folder, and what to do, by the system's error code."""


COMMANDS = {
    "demo": mark("Open the demo, a finished study, in the browser."),
    "serve": mark("Serve the app on the configured database."),
    "upgrade": mark("Bring the database to this version of the program."),
    "import": mark("Import run files or folders of them."),
    "catalogue": mark("Take in or search what could have been returned."),
    "delete-run": mark("Delete a run, after saying what goes and what stays."),
    "runs": mark("List the runs of the study."),
    "study": mark("Show the settings of the study, or change one."),
    "invite": mark("Make a link by which a rater comes in."),
    "raters": mark("List the raters, their progress and how they sign in."),
    "token": mark("Make, list or withdraw the tokens by which programs come in."),
    "agreement": mark("Show how far the raters agree, on cards and on quality."),
    "conflicts": mark("Show where verdicts by hand differ from run to run."),
    "compare": mark("Compare runs: figures, intervals, tests, stability."),
    "gate": mark("Hold a new run against floors and an earlier run, by exit code."),
    "metrics": mark("Print the figures of a run or of a rated CSV."),
    "export": mark("Write a run as CSV, XLSX, TREC files or JSON, or all in one file."),
    "push": mark("Push a run's judgments to Phoenix or OpenSearch."),
    "export-tree": mark("Write every run as the folders of the original scripts."),
    "check": mark("Check the database and recompute every stored figure."),
    "gold": mark("Take gold questions in or out: what each question asks."),
    "manual-input": mark("Take decisions by hand on a run's cards in or out."),
    "score": mark("Score files: constraints, cited answers, chunks, JSON answers."),
    "answer": mark("Put questions with contexts to a model, for score json-v2."),
    "eval-set": mark("Draw a small set of questions from a large one."),
    "judge": mark("Let a language model judge as a rater marked as a machine."),
    "verify": mark("Recompute a proof pack and say equal or what differs."),
    "collect": mark("Put the questions to a chatbot and import its answers."),
    "chatbot": mark("Run the demo chatbot over the sample's catalogue."),
    "backup": mark("Write everything to one file, while it is in use."),
    "restore": mark("Put a backup in the place of the database."),
    "move": mark("Take everything into another, empty database."),
    "plan": mark("Say how many questions, verdicts and hours a difference takes."),
    "sample": mark("Draw questions at random, or say how far the sample is."),
    "estimate": mark("Estimate a figure from a sample of the questions."),
}
"""What each command does, as a message id."""
MODULES = {
    "frame.demo": ("demo",),
    "frame.serving": ("serve", "upgrade"),
    "runs.importing": ("import",),
    "catalogue.catalogue": ("catalogue",),
    "runs.runs": ("delete-run", "runs"),
    "study.settings": ("study",),
    "people.raters": ("invite", "raters", "token"),
    "agreement.agreement": ("agreement", "conflicts"),
    "comparisons.comparing": ("compare",),
    "comparisons.gating": ("gate",),
    "exports.exporting": ("metrics", "export", "push", "export-tree", "check"),
    "gold.gold": ("gold", "manual-input"),
    "evaluations.scoring": ("score",),
    "evaluations.answering": ("answer", "eval-set"),
    "machine_judges.judging": ("judge",),
    "proof_packs.verifying": ("verify",),
    "collecting.collecting": ("collect", "chatbot"),
    "backups.backups": ("backup", "restore", "move"),
    "planning.planning": ("plan", "sample", "estimate"),
}
"""The modules under ``relevansi.cli`` with their commands."""


class _Commands(click.Group):
    """A group that reads the module of a command when it is called: ``--help`` reads none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        for name, commands in MODULES.items():
            if cmd_name in commands:
                module = import_module(f"relevansi.cli.{name}")
                command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
                _add_options_of_folder(command)
                return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section(gettext("Commands")):
            formatter.write_dl([(name, gettext(about)) for name, about in COMMANDS.items()])


def _add_options_of_folder(command: click.Command) -> None:
    """Give a command, or those of a group, the options by which it is about one of several studies.

    It may be asked for twice, and then has them already.
    """
    if isinstance(command, click.Group):
        for part in command.commands.values():
            _add_options_of_folder(part)
    elif not any(option.name == "studies" for option in command.params):
        command.params += [
            _option_of_folder("studies", "The folder with a database for each of several studies."),
            _option_of_folder("study", "The name of one of them."),
        ]


def _option_of_folder(name: str, about: str) -> click.Option:
    # Settings are read from the environment wherever a command needs them.
    def set_variable(context: click.Context, _option: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.with_resource(_variable(f"RELEVANSI_{name.upper()}", value))

    return click.Option([f"--{name}"], help=about, expose_value=False, callback=set_variable)


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment until the block ends."""
    value_before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if value_before is None:
            del os.environ[name]
        else:
            os.environ[name] = value_before


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
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
            _report(failure.format_message())
            sys.exit(failure.exit_code)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(1)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(1)
        except Exception as failure:
            message = _message(failure)
            if message is None:
                raise
            _report(message)
            sys.exit(1)


def _report(message: str) -> None:
    notice(" ".join(message.split()))


def _message(failure: Exception) -> str | None:
    """Return the line for a failure that a user can do something about; ``None`` for a bug."""
    if isinstance(failure, Failure):
        return failure.line()
    if isinstance(failure, UnusableSetting):
        return str(failure)
    if isinstance(failure, UnicodeEncodeError):
        text = str(failure.object)[:80]
        return gettext('"%(name)s" is not a text in UTF-8. Save it in that encoding.', name=text)
    if isinstance(failure, OSError) and failure.filename is not None:
        name = os.fsdecode(failure.filename)
        sentence = DISK.get(errno.errorcode.get(failure.errno or 0, ""))
        return gettext(sentence, name=name) if sentence else f"{name}: {failure.strerror}"
    return _outage_message(failure)


def _outage_message(failure: Exception) -> str | None:
    """Return the line for a failure of the database or the disk; ``None`` for a bug."""
    # The list of commands is read without the database, which takes half a second.
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415

    from relevansi.db.outages import Outage, outage  # noqa: PLC0415
    from relevansi.db.sqlite_files import DamagedDatabase  # noqa: PLC0415

    # An error of SQLAlchemy has that of the driver, which says what happened, as its `orig`.
    name = str(getattr(failure, "orig", None) or failure)
    match outage(failure):
        case Outage.DAMAGED:
            return DamagedDatabase(name).line()
        case Outage.FULL:
            return gettext("The disk is full or failing (%(name)s). Nothing was stored.", name=name)
        case Outage.BUSY:
            return gettext("Another program is writing to the database; try again in a while.")
        case Outage.REPLACED:
            return gettext(
                "%(name)s was removed or replaced while it was open, so nothing was stored. "
                "Repeat the command.",
                name=name,
            )
    if isinstance(failure, OperationalError):
        return gettext("The database cannot be used: %(name)s", name=name)
    return name if isinstance(failure, OSError) else None


def _language() -> str:
    """Return the user's language as the environment states it, else English."""
    names = ("RELEVANSI_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    locales = [os.environ[name] for name in names if os.environ.get(name)]
    locale_name = locales[0] if locales else locale.getlocale()[0] or ""
    code = locale_name[:2].lower()
    return code if code in LANGUAGES else SOURCE_LANGUAGE
