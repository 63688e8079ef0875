"""``relevansi judge``: machine judges from the terminal, their cost asked about first."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from sqlalchemy.orm import Session

from relevansi.cli.frame import options, output
from relevansi.cli.frame.options import FILE, as_json_option
from relevansi.cli.frame.output import say, write_json
from relevansi.config import JudgeEndpoint
from relevansi.db.engine import Database
from relevansi.db.tables.machine_judges import MachineJudge
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.agreement.registry import COEFFICIENTS, coefficients
from relevansi.printable import name_line
from relevansi.services.machine_judges import calls, judges, prompts
from relevansi.services.machine_judges.calls import MOST_AT_ONCE, JudgeWork, SessionState, Terms
from relevansi.services.machine_judges.judges import BesidePeople
from relevansi.services.people import raters
from relevansi.services.study import studies
from relevansi.services.workers.loop import GLANCE, WorkLoop

PRICE = options.FiniteRange(min=0)
LEAST = click.IntRange(min=1)
Command = TypeVar("Command", bound=Callable[..., Any])
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())  # an error is raised once the work has ended


@click.group("judge")
def judge_command() -> None:
    """Let a language model judge as one more rater, marked as a machine."""


def _priced(command: Command) -> Command:
    command = click.option("--currency", default="", help="What the prices are in.")(command)
    answers = click.option("--completion-price", type=PRICE, help="Of a million tokens of answers.")
    asked = click.option("--prompt-price", type=PRICE, help="Of a million tokens of prompts.")
    return asked(answers(command))


def _print_json(document: object) -> None:
    write_json(document, indent=2, default=lambda moment: str(moment.isoformat()))


@judge_command.command("agreement")
@click.argument("name")
@as_json_option
def agreement_command(name: str, *, as_json: bool) -> None:
    """Show how far the judge NAME agrees with people; its figures are put in use on its page."""
    with options.reading() as (session, study):
        judge = judges.find_judge(session, study, name)
        found = judges.beside_people(session, study, judge)
        used = judge.released_at is not None
    figures = coefficients(found.agreement)
    figures.pop("fleiss_kappa", None)
    if as_json:
        kept = ("value", "lower", "upper", "why_undefined")
        stated = {
            name: {part: getattr(one, part) for part in kept} for name, one in figures.items()
        }
        _print_json(_document(found, stated, used=used))
        return
    say(gettext("n = %(n)s cards that both decided", n=found.n))
    for figure, one in figures.items():
        told = "-" if one.value is None else f"{one.value:.4f}"
        if one.lower is not None and one.upper is not None:
            told += f" ({one.lower:.4f} .. {one.upper:.4f})"
        say(f"{gettext(COEFFICIENTS[figure].label)}: {told}")


def _document(found: BesidePeople, figures: dict[str, Any], *, used: bool) -> dict[str, Any]:
    return {
        "n": found.n,
        "figures_in_use": used,
        "table": [
            {"machine": str(machine), "people": str(people), "cards": count}
            for (machine, people), count in sorted(found.table.items())
        ],
        "agreement": figures,
        "cards": [
            {
                "question": one.position,
                "title": one.card.title,
                "machine": str(one.machine),
                "people": str(one.people),
                "reason": one.reason,
            }
            for one in found.cards
        ],
    }


@judge_command.command("list")
@as_json_option
def list_command(*, as_json: bool) -> None:
    """List the machine judges, and whether their figures are in use."""
    with options.reading() as (session, study):
        lines = judges.lines(session, study)
    if as_json:
        _print_json({"judges": [line._asdict() for line in lines]})
        return
    for line in lines:
        used = gettext("figures in use") if line.released_at else gettext("figures not in use")
        judged = ngettext("%(n)s judgment", "%(n)s judgments", line.judged)
        say(f"{line.name}  {line.model}  {line.prompt_sha256[:12]}  {judged}  {used}")


@judge_command.command("new")
@click.argument("name")
@click.option(
    "--prompt", "prompt_file", type=FILE, help="Another prompt; it needs {question} and {card}."
)
def new_command(name: str, prompt_file: Path | None) -> None:
    """Make the judge NAME with the configured model and a prompt, for good."""
    endpoint = _configured()
    name = name_line(name)
    if not 0 < len(name) <= raters.LONGEST_NAME:
        raise click.UsageError(gettext("A rater needs a name, of at most 200 characters."))
    try:
        prompt = prompt_file.read_text("utf-8") if prompt_file else None
    except UnicodeDecodeError:
        said = gettext("%(file)s is not in UTF-8.", file=prompt_file.name if prompt_file else "")
        raise click.ClickException(said) from None
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        prompt = prompt or judges.usual_prompt(study)
        made = judges.make(session, study, name, endpoint, prompt, options.now())
        session.commit()
        say(f"{name}  {made.model}  {made.prompt_sha256}")


@judge_command.command("estimate")
@click.argument("name")
@_priced
@click.option("--max-calls", "most_calls", type=LEAST, help="Only so many cards.")
@as_json_option
def estimate_command(name: str, *, as_json: bool, **stated: Any) -> None:
    """Say what is left for the judge NAME and what that would cost; nothing is asked."""
    terms = Terms(**stated)
    with options.reading() as (session, study):
        judge = judges.find_judge(session, study, name)
        found = prompts.estimate(session, judge, terms.most_calls)
    told, money = _told(found, terms)
    if not as_json:
        say(told)
        return
    document = {
        "cards": found.n_cards,
        "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
        "measured_answers": found.measured,
        "cost": money,
        "currency": terms.currency or None,
    }
    _print_json(document)


@judge_command.command("run")
@click.argument("name")
@_priced
@click.option(
    "--max-calls", "most_calls", type=LEAST, help="Stop after so many calls, tries included."
)
@click.option("--at-once", type=click.IntRange(1, MOST_AT_ONCE), default=2, show_default=True)
@click.option("--yes", is_flag=True, help="Start without asking after the cost is shown.")
def run_command(name: str, *, yes: bool, **stated: Any) -> None:
    """Let the judge NAME judge what is left, after its cost was shown and agreed to.

    Interrupted, it is stopped; the same command goes on with what is left.
    """
    endpoint = _configured()
    terms = Terms(**stated | {"currency": stated["currency"][:8]})
    with options.opened() as opened:
        with opened.writing() as session:
            expected = prompts.estimate(session, _named(session, name), terms.most_calls)
        if not expected.n_cards:
            raise calls.NothingToJudge(name)
        say(_told(expected, terms)[0], err=True)
        if not yes:
            click.confirm(gettext("Start?"), abort=True, err=True)
        with opened.writing() as session:
            judge = _named(session, name)
            calls.start(session, judge, endpoint, terms, options.now())
            session.commit()
            work = JudgeWork(judge.rater_id, endpoint)
        _work(opened, name, work, terms.at_once, expected.n_cards)
        _tell_end(opened, name)


def _configured() -> JudgeEndpoint:
    endpoint = JudgeEndpoint.from_environment()
    if endpoint is None:
        raise judges.NotConfigured
    judges.address(endpoint)
    return endpoint


def _told(found: prompts.TokenEstimate, terms: Terms) -> tuple[str, float | None]:
    """The estimate in words, and its cost."""
    money = prompts.cost(
        found.prompt_tokens, found.completion_tokens, terms.prompt_price, terms.completion_price
    )
    left = ngettext("%(n)s card is left", "%(n)s cards are left", found.n_cards)
    tokens = gettext(
        "about %(prompt)s tokens of prompts and %(completion)s of answers",
        prompt=found.prompt_tokens,
        completion=found.completion_tokens,
    )
    basis = gettext("Estimated: characters / 4, and 60 tokens for each answer.")
    if found.measured:
        basis = ngettext(
            "Estimated from %(n)s answer of this judge so far.",
            "Estimated from %(n)s answers of this judge so far.",
            found.measured,
        )
    cost = "" if money is None else f", {money:.4f} {terms.currency}".rstrip()
    return f"{left}: {tokens}{cost}. {basis}", money


def _work(opened: Database, name: str, work: JudgeWork, at_once: int, cards: int) -> None:
    """Ask until the session ends; an interruption stops it and keeps what is on its way."""
    loop = WorkLoop(opened.writing, options.now, _LOGGER)
    with output.bar(cards) as shown:
        try:
            loop.wake(work, at_once, most=at_once)
            while not loop.is_idle(GLANCE):
                shown.at(loop.kept)
            shown.at(loop.kept)
        except KeyboardInterrupt:
            shown.stop()
            with opened.writing() as session:
                calls.stop(session, _named(session, name), options.now())
                session.commit()
            while not loop.is_idle(GLANCE):
                pass
    if loop.failure is not None:
        raise loop.failure


def _named(session: Session, name: str) -> MachineJudge:
    return judges.find_judge(session, studies.open_or_make(session, options.now()), name)


def _tell_end(opened: Database, name: str) -> None:
    """Print what the session took and how it ended; raises where it failed or was stopped."""
    with opened.writing() as session:
        work = calls.work(session, _named(session, name), options.now())
    found = work.current or work.earlier[0]
    done = gettext(
        "%(judged)s judged, %(failed)s failed, %(calls)s calls, %(prompt)s + %(completion)s "
        "tokens; %(left)s left.",
        judged=found.judged,
        failed=found.line.failed,
        calls=found.line.calls,
        prompt=found.line.prompt_tokens,
        completion=found.line.completion_tokens,
        left=work.n_open,
    )
    say(done)
    if work.n_fenced:
        fenced = ngettext(
            "%(n)s answer was inside a code fence. It was read.",
            "%(n)s answers were inside a code fence. They were read.",
            work.n_fenced,
        )
        say(fenced)
    if found.state == SessionState.FAILING:
        raise click.ClickException(gettext(calls.SENTENCES[found.line.why or ""]))
    if found.state == SessionState.STOPPED:
        raise click.ClickException(gettext("Stopped; the same command goes on with what is left."))
