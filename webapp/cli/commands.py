"""The list of commands, each loaded when it is called, and how a failure is told."""

from __future__ import annotations

import gc
import io
import locale
import logging
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

import click

from webapp.cli.output import say
from webapp.i18n import LANGUAGES, SOURCE_LANGUAGE, gettext, mark, speaking
from webapp.printable import LogLineFormatter

if TYPE_CHECKING:
    from flask import Flask

AppFactory = Callable[..., "Flask"]

COMMANDS = {
    "demo": ("serving", mark("Open the sample study in the browser; ratings are kept.")),
    "serve": ("serving", mark("Serve the app on the configured database.")),
    "import": ("importing", mark("Import run files or folders of them.")),
    "runs": ("importing", mark("List the runs of the study.")),
    "collect": ("collecting", mark("Put the questions to a chatbot and import its answers.")),
    "chatbot": ("collecting", mark("Run the demo chatbot over the sample's catalogue.")),
    "metrics": ("figures", mark("Print the figures of a run or of a rated CSV.")),
    "export": (
        "exporting",
        mark("Write a run as CSV, XLSX, TREC files or JSON, or all as a proof pack."),
    ),
    "verify": ("verifying", mark("Recompute a proof pack and say equal or what differs.")),
    "compare": ("comparing", mark("Compare runs: figures, intervals, tests, stability.")),
    "export-tree": ("trees", mark("Write every run as the folders of the original scripts.")),
    "agreement": ("agreement", mark("Show how far the raters agree, on cards and on quality.")),
    "conflicts": ("conflicts", mark("Show where verdicts by hand differ from run to run.")),
    "gold": ("gold", mark("Take gold questions in or out: what each question asks.")),
    "manual-input": (
        "manual_input",
        mark("Take decisions by hand on a run's cards in or out."),
    ),
    "score": ("scoring", mark("Score files: constraints, cited answers, chunks, JSON answers.")),
    "answer": ("answering", mark("Put questions with contexts to a model, for score json-v2.")),
    "eval-set": ("eval_sets", mark("Draw a small set of questions from a large one.")),
    "invite": ("raters", mark("Make a link by which a rater comes in.")),
    "raters": ("raters", mark("List the raters: how they stand and how they come in.")),
    "judge": ("judging", mark("Let a language model judge as a rater marked as a machine.")),
    "check": (
        "checking",
        mark("Recompute every figure and compare source files with their SHA-256."),
    ),
    "backup": ("backing_up", mark("Write everything to one file, while it is in use.")),
    "restore": ("backing_up", mark("Put a backup in the place of the database.")),
    "move": ("moving", mark("Take everything into another, empty database.")),
    "upgrade": ("serving", mark("Bring the database to this version of the program.")),
}


class _Commands(click.Group):
    """A group whose ``--help`` loads none of its commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"webapp.cli.{COMMANDS[cmd_name][0]}")
        _collect_from_here()
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section(gettext("Commands")):
            formatter.write_dl([(name, gettext(entry[1])) for name, entry in COMMANDS.items()])


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


def _collect_from_here() -> None:
    """Look for garbage again where a process began without (see ``app.main``), in what is new."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _tell(message: str) -> None:
    say("relevansi: " + " ".join(message.split()), err=True)


def _known(failure: Exception) -> str | None:
    """Return the sentence for a failure that is not a programming error, else ``None``."""
    from sqlalchemy.exc import OperationalError

    from webapp.chatbot.mappings import MissingKey, UnusableMapping
    from webapp.config import UnusableSetting
    from webapp.db.engine import DatabaseOutOfDate, NewerDatabase, RestoreCutOff
    from webapp.db.outages import Outage, outage
    from webapp.services.comparisons import DifferentQuestions, NothingToCompare
    from webapp.services.evidence import NoRuns
    from webapp.services.gold import UnknownGoldVersion, UnknownQuestionSet
    from webapp.services.machine_judges import OtherConfiguration
    from webapp.services.reports import (
        MachineNotPacked,
        MachineNotReleased,
        UnknownRater,
        UnknownRule,
    )
    from webapp.services.runs import UnknownRun
    from webapp.services.user_studies import NotSetUp

    if isinstance(failure, RestoreCutOff):
        return gettext(
            "There is no database %(name)s, but %(kept)s is beside it: a restore was cut off. "
            "Rename that one back to have the earlier state, or repeat the restore. For a new "
            "study, move it to another folder.",
            name=failure.args[0],
            kept=failure.args[1],
        )
    outages: dict[Outage | None, str] = {
        Outage.DAMAGED: gettext(
            "The database is damaged (%(name)s). Restore the latest backup: "
            "relevansi restore FILE --replace"
        ),
        Outage.FULL: gettext("The disk is full or failing (%(name)s). Nothing was stored."),
        Outage.BUSY: gettext("Another program is writing to the database; try again in a while."),
        Outage.REPLACED: gettext(
            "%(name)s was removed or replaced while it was open, so nothing was stored. "
            "Repeat the command."
        ),
    }
    if (text := outages.get(outage(failure))) is not None:
        return text % {"name": _named(failure)}
    texts: dict[type[Exception], str] = {
        UnknownRun: gettext("There is no run %(name)s; `relevansi runs` lists them."),
        UnknownQuestionSet: gettext(
            "There is no question set %(name)s; `relevansi gold list` lists them."
        ),
        UnknownGoldVersion: gettext("The gold questions have no version %(name)s."),
        NoRuns: gettext("There is no run yet: `relevansi import` brings one."),
        UnknownRater: gettext("There is no rater called %(name)s."),
        MachineNotReleased: gettext(
            "%(name)s is a machine judge whose figures are not in use: see `relevansi judge "
            "agreement`, then put them in use under Study, Machine judges, in the app."
        ),
        MachineNotPacked: gettext(
            "A proof pack holds what people judged; leave --rater out or name a person."
        ),
        OtherConfiguration: gettext(
            "This judge is %(name)s; another endpoint or model is configured."
        ),
        UnknownRule: gettext('"%(name)s" is no rule: say majority or adjudicated.'),
        NothingToCompare: gettext(
            "A comparison needs two runs of one question set; `relevansi runs` lists them."
        ),
        DifferentQuestions: gettext("These runs were asked different questions: %(name)s"),
        NotSetUp: gettext("Phase 3 is not set up: open Study, Phase 3 in the app."),
        DatabaseOutOfDate: gettext(
            "The database %(name)s is of an older version; run `relevansi upgrade`."
        ),
        NewerDatabase: gettext(
            "The database %(name)s was made by a newer Relevansi; install that version to use it."
        ),
        OperationalError: gettext("The database cannot be used: %(name)s"),
        UnusableSetting: "%(name)s",
        UnusableMapping: "%(name)s",
        MissingKey: gettext("The environment variable %(name)s holds no key that can be sent."),
        UnicodeEncodeError: gettext('"%(name)s" is no text in UTF-8. Write it in that encoding.'),
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
