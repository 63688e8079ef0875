"""``relevansi judge``: machine judges from the terminal, their cost asked about first."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from relevansi.cli.frame import options, output
from relevansi.cli.frame.options import FILE, Command, Reply, replies
from relevansi.cli.frame.output import say
from relevansi.config import JudgeEndpoint
from relevansi.db.engine import Database
from relevansi.db.tables.machine_judges import MachineJudge
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext, ngettext
from relevansi.printable import name_line
from relevansi.services.machine_judges import calls, judges, token_estimates
from relevansi.services.machine_judges.calls import MAX_AT_ONCE, JudgeWork, SessionState, Terms
from relevansi.services.people import raters
from relevansi.services.study import studies
from relevansi.services.workers.loop import POLL_SECONDS, WorkLoop

PRICE = options.FiniteRange(min=0)
LEAST = click.IntRange(min=1)
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())  # an error is raised once the work has ended


@click.group("judge")
def judge_command() -> None:
    """Let a language model judge as one more rater, marked as a machine."""


def _priced(command: Command) -> Command:
    command = click.option("--currency", default="", help="What the prices are in.")(command)
    answers = click.option("--completion-price", type=PRICE, help="Of a million tokens of answers.")
    prompts = click.option("--prompt-price", type=PRICE, help="Of a million tokens of prompts.")
    return prompts(answers(command))


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
    prompt = ""
    if prompt_file is not None:
        try:
            prompt = prompt_file.read_text("utf-8")
        except UnicodeDecodeError:
            refusal = gettext("%(file)s is not in UTF-8.", file=prompt_file.name)
            raise click.ClickException(refusal) from None
    with options.writing() as (session, study):
        prompt = prompt or judges.usual_prompt(study)
        judge = judges.make(session, study, name, endpoint, prompt, options.now())
        line = f"{name}  {judge.model}  {judge.prompt_sha256}"
    say(line)


@judge_command.command("estimate")
@click.argument("name")
@_priced
@click.option("--max-calls", "most_calls", type=LEAST, help="Only so many cards.")
@replies()
def estimate_command(name: str, *, reply: Reply, **limits: Any) -> None:
    """Say what is left for the judge NAME and what that would cost; nothing is asked."""
    terms = Terms(**limits)
    with options.reading() as (session, study):
        judge = judges.find_judge(session, study, name)
        estimate = token_estimates.estimate(session, judge, terms.most_calls)
    if not reply.is_json:
        say(_in_words(estimate, terms))
        return
    document = {
        "cards": estimate.n_cards,
        **fields(estimate, "prompt_tokens", "completion_tokens"),
        "measured_answers": estimate.measured,
        "cost": _cost(estimate, terms),
        "currency": terms.currency or None,
    }
    reply.json(document)


@judge_command.command("run")
@click.argument("name")
@_priced
@click.option(
    "--max-calls", "most_calls", type=LEAST, help="Stop after so many calls, tries included."
)
@click.option("--at-once", type=click.IntRange(1, MAX_AT_ONCE), default=2)
@click.option("--yes", is_flag=True, help="Start without asking after the cost is shown.")
def run_command(name: str, *, yes: bool, **limits: Any) -> None:
    """Let the judge NAME judge what is left, after its cost was shown and agreed to.

    Interrupted, it is stopped; the same command goes on with what is left.
    """
    endpoint = _configured()
    terms = Terms(**limits | {"currency": limits["currency"][:8]})
    with options.opened() as opened:
        with opened.writing() as session:
            expected = token_estimates.estimate(session, _judge(session, name), terms.most_calls)
        if not expected.n_cards:
            raise calls.NothingToJudge(name)
        say(_in_words(expected, terms), err=True)
        if not yes:
            click.confirm(gettext("Start?"), abort=True, err=True)
        with opened.writing() as session:
            judge = _judge(session, name)
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


def _cost(estimate: token_estimates.TokenEstimate, terms: Terms) -> float | None:
    tokens = estimate.prompt_tokens, estimate.completion_tokens
    return token_estimates.cost(*tokens, terms.prompt_price, terms.completion_price)


def _in_words(estimate: token_estimates.TokenEstimate, terms: Terms) -> str:
    """Return what is left for a judge, in cards, tokens and money."""
    cards = ngettext("%(n)s card is left", "%(n)s cards are left", estimate.n_cards)
    tokens = gettext(
        "about %(prompt)s tokens of prompts and %(completion)s of answers",
        prompt=estimate.prompt_tokens,
        completion=estimate.completion_tokens,
    )
    basis = gettext("Estimated: characters / 4, and 60 tokens for each answer.")
    if estimate.measured:
        basis = ngettext(
            "Estimated from %(n)s answer of this judge so far.",
            "Estimated from %(n)s answers of this judge so far.",
            estimate.measured,
        )
    amount = _cost(estimate, terms)
    cost = "" if amount is None else f", {amount:.4f} {terms.currency}".rstrip()
    return f"{cards}: {tokens}{cost}. {basis}"


def _work(opened: Database, name: str, work: JudgeWork, at_once: int, cards: int) -> None:
    """Ask until the session ends; an interruption stops it and keeps what is on its way."""
    loop = WorkLoop(opened.writing, options.now, _LOGGER)
    with output.bar(cards) as bar:
        try:
            loop.wake(work, at_once, most=at_once)
            while not loop.is_idle(POLL_SECONDS):
                bar.at(loop.n_stored)
            bar.at(loop.n_stored)
        except KeyboardInterrupt:
            bar.stop()
            with opened.writing() as session:
                calls.stop(session, _judge(session, name), options.now())
                session.commit()
            while not loop.is_idle(POLL_SECONDS):
                pass
    if loop.failure is not None:
        raise loop.failure


def _judge(session: Session, name: str) -> MachineJudge:
    return judges.find_judge(session, studies.open_or_make(session, options.now()), name)


def _tell_end(opened: Database, name: str) -> None:
    """Print what the session took and how it ended; raises where it failed or was stopped."""
    with opened.writing() as session:
        work = calls.progress(session, _judge(session, name), options.now())
    latest = work.current or work.earlier[0]
    outcome = gettext(
        "%(judged)s judged, %(failed)s failed, %(calls)s calls, %(prompt)s + %(completion)s "
        "tokens; %(left)s left.",
        judged=latest.judged,
        **fields(latest.line, "failed", "calls"),
        prompt=latest.line.prompt_tokens,
        completion=latest.line.completion_tokens,
        left=work.n_open,
    )
    say(outcome)
    if work.n_fenced:
        fenced = ngettext(
            "%(n)s answer was inside a code fence. It was read.",
            "%(n)s answers were inside a code fence. They were read.",
            work.n_fenced,
        )
        say(fenced)
    if latest.state == SessionState.FAILING:
        raise click.ClickException(gettext(calls.SENTENCES[latest.line.why or ""]))
    if latest.state == SessionState.STOPPED:
        raise click.ClickException(gettext("Stopped; the same command goes on with what is left."))
