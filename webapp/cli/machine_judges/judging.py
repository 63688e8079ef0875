"""``relevansi judge``: machine judges from the terminal, their cost asked about first."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from webapp.cli.frame import options, output
from webapp.cli.frame.options import FILE, as_json_option
from webapp.cli.frame.output import say, write_json
from webapp.config import JudgeEndpoint
from webapp.i18n import gettext, language, ngettext
from webapp.printable import name_line

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from webapp.db.engine import Database
    from webapp.db.tables.machine_judges import MachineJudge
    from webapp.services.machine_judges.calls import JudgeWork, Terms
    from webapp.services.machine_judges.judges import BesidePeople
    from webapp.services.machine_judges.prompts import TokenEstimate


@click.command("agreement")
@click.argument("name")
@as_json_option
def agreement_command(name: str, *, as_json: bool) -> None:
    """Show how far the judge NAME agrees with people; its figures are put in use on its page."""
    from webapp.services.machine_judges import judges

    with options.reading() as (session, study):
        judge = judges.named(session, study, name)
        found = judges.beside_people(session, study, judge)
        used = judge.released_at is not None
    if as_json:
        print_json(_document(found, used=used))
        return
    for line in _agreement_lines(found):
        say(line)


def print_json(document: object) -> None:
    """Print one JSON document."""
    write_json(document, indent=2, default=_plain)


def _plain(value: object) -> str:
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat else str(value)


def _document(found: BesidePeople, *, used: bool) -> dict[str, Any]:
    from webapp.metrics.agreement.registry import coefficients

    figures = coefficients(found.agreement)
    return {
        "n": found.n,
        "figures_in_use": used,
        "table": [
            {"machine": str(machine), "people": str(people), "cards": count}
            for (machine, people), count in sorted(found.table.items())
        ],
        "agreement": {
            name: {
                "value": one.value,
                "lower": one.lower,
                "upper": one.upper,
                "why_undefined": one.why_undefined,
            }
            for name, one in figures.items()
            if name != "fleiss_kappa"
        },
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


def _agreement_lines(found: BesidePeople) -> Iterator[str]:
    from webapp.metrics.agreement.registry import COEFFICIENTS, coefficients

    yield gettext("n = %(n)s cards that both decided", n=found.n)
    for name, one in coefficients(found.agreement).items():
        if name == "fleiss_kappa":
            continue
        label = gettext(COEFFICIENTS[name].label)
        if one.value is None:
            yield f"{label}: -"
        elif one.lower is None or one.upper is None:
            yield f"{label}: {one.value:.4f}"
        else:
            yield f"{label}: {one.value:.4f} ({one.lower:.4f} .. {one.upper:.4f})"


PRICE = click.FloatRange(min=0)
LEAST = click.IntRange(min=1)
AT_ONCE = click.IntRange(1, 5)  # sessions.MOST_AT_ONCE
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())  # an error is raised once the work has ended


@click.group("judge")
def judge_command() -> None:
    """Let a language model judge as one more rater, marked as a machine."""


judge_command.add_command(agreement_command)


@judge_command.command("list")
@as_json_option
def list_command(*, as_json: bool) -> None:
    """List the machine judges, and whether their figures are in use."""
    from webapp.services.machine_judges import judges

    with options.reading() as (session, study):
        lines = judges.lines(session, study)
    if as_json:
        print_json({"judges": [asdict(line) for line in lines]})
        return
    for line in lines:
        used = gettext("figures in use") if line.released_at else gettext("figures not in use")
        judged = ngettext("%(n)s judgment", "%(n)s judgments", line.judged)
        say(f"{line.name}  {line.model}  {line.prompt_sha256[:12]}  {judged}  {used}")


@judge_command.command("new")
@click.argument("name")
@click.option("--language", "spoken", help="Of our own prompt: id or en.")
@click.option(
    "--prompt",
    "prompt_file",
    type=FILE,
    help="Another prompt; it needs {question} and {card}.",
)
def new_command(name: str, spoken: str | None, prompt_file: Path | None) -> None:
    """Make the judge NAME with the configured model and a prompt, for good."""
    from webapp.services.machine_judges import judges, prompts
    from webapp.services.people import raters
    from webapp.services.study import studies

    endpoint = _configured()
    name, chosen = name_line(name), spoken or prompts.language_for(language())
    if chosen not in prompts.LANGUAGES:
        raise click.BadParameter(
            gettext("A machine is asked in %(known)s.", known=", ".join(prompts.LANGUAGES)),
            param_hint="--language",
        )
    if not 0 < len(name) <= raters.LONGEST_NAME:
        raise click.UsageError(gettext("A rater needs a name, of at most 200 characters."))
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        told = studies.guidelines(study, chosen)
        prompt = _prompt(prompt_file) or prompts.default(chosen, told)
        made = judges.make(session, study, name, endpoint, chosen, prompt, options.now())
        session.commit()
        version = judges.find(session, study, made.id)
        say(f"{name}  {version.model}  {version.prompt_sha256}")


@judge_command.command("estimate")
@click.argument("name")
@click.option("--prompt-price", type=PRICE, help="Of a million tokens of prompts.")
@click.option("--completion-price", type=PRICE, help="Of a million tokens of answers.")
@click.option("--currency", default="", help="What the prices are in.")
@click.option("--max-calls", type=LEAST, help="Only so many cards.")
@as_json_option
def estimate_command(
    name: str,
    prompt_price: float | None,
    completion_price: float | None,
    currency: str,
    max_calls: int | None,
    *,
    as_json: bool,
) -> None:
    """Say what is left for the judge NAME and what that would cost; nothing is asked."""
    from webapp.services.machine_judges import judges, prompts

    with options.reading() as (session, study):
        judge = judges.named(session, study, name)
        found = prompts.estimate(session, judge, max_calls)
    money = prompts.cost(
        found.prompt_tokens, found.completion_tokens, prompt_price, completion_price
    )
    if as_json:
        stated = {
            "cards": found.things,
            "prompt_tokens": found.prompt_tokens,
            "completion_tokens": found.completion_tokens,
            "measured_answers": found.measured,
            "cost": money,
            "currency": currency or None,
        }
        print_json(stated)
    else:
        say(_told(found, money, currency))


@judge_command.command("run")
@click.argument("name")
@click.option("--prompt-price", type=PRICE, help="Of a million tokens of prompts.")
@click.option("--completion-price", type=PRICE, help="Of a million tokens of answers.")
@click.option("--currency", default="", help="What the prices are in.")
@click.option("--max-calls", type=LEAST, help="Stop after so many calls, tries included.")
@click.option("--max-tokens", type=LEAST, help="Stop before so many tokens are exceeded.")
@click.option("--at-once", type=AT_ONCE, default=2, show_default=True)
@click.option("--yes", is_flag=True, help="Start without asking after the cost is shown.")
def run_command(
    name: str,
    *,
    prompt_price: float | None,
    completion_price: float | None,
    currency: str,
    max_calls: int | None,
    max_tokens: int | None,
    at_once: int,
    yes: bool,
) -> None:
    """Let the judge NAME judge what is left, after its cost was shown and agreed to.

    Interrupted, it is stopped; the same command goes on with what is left.
    """
    from webapp.services.machine_judges.calls import JudgeWork, Terms

    endpoint = _configured()
    terms = Terms(prompt_price, completion_price, currency[:8], max_calls, max_tokens, at_once)
    with options.opened() as opened:
        expected = _agreed(opened, name, terms, yes=yes)
        rater_id = _begin(opened, name, endpoint, terms)
        _work(opened, name, JudgeWork(rater_id, endpoint), at_once, expected)
        _tell_end(opened, name)


def _configured() -> JudgeEndpoint:
    from webapp.services.machine_judges import judges

    endpoint = JudgeEndpoint.from_environment()
    if endpoint is None:
        raise judges.NotConfigured
    judges.address(endpoint)
    return endpoint


def _prompt(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError:
        raise click.ClickException(gettext("%(file)s is not in UTF-8.", file=file.name)) from None


def _told(found: TokenEstimate, money: float | None, currency: str) -> str:
    left = ngettext("%(n)s card is left", "%(n)s cards are left", found.things)
    tokens = gettext(
        "about %(prompt)s tokens of prompts and %(completion)s of answers",
        prompt=found.prompt_tokens,
        completion=found.completion_tokens,
    )
    basis = (
        ngettext(
            "Estimated from %(n)s answer of this judge so far.",
            "Estimated from %(n)s answers of this judge so far.",
            found.measured,
        )
        if found.measured
        else gettext("Estimated: characters / 4, and 60 tokens for each answer.")
    )
    cost = "" if money is None else f", {money:.4f} {currency}".rstrip()
    return f"{left}: {tokens}{cost}. {basis}"


def _agreed(opened: Database, name: str, terms: Terms, *, yes: bool) -> TokenEstimate:
    from webapp.services.machine_judges import calls, prompts

    with opened.writing() as session:
        judge = _named(session, name)
        found = prompts.estimate(session, judge, terms.most_calls)
    if not found.things:
        raise calls.NothingToJudge(name)
    money = prompts.cost(
        found.prompt_tokens, found.completion_tokens, terms.prompt_price, terms.completion_price
    )
    say(_told(found, money, terms.currency), err=True)
    if not yes:
        click.confirm(gettext("Start?"), abort=True, err=True)
    return found


def _begin(opened: Database, name: str, endpoint: JudgeEndpoint, terms: Terms) -> int:
    from webapp.services.machine_judges import calls

    with opened.writing() as session:
        judge = _named(session, name)
        calls.start(session, judge, endpoint, terms, options.now())
        session.commit()
        return judge.rater_id


def _work(
    opened: Database, name: str, work: JudgeWork, at_once: int, expected: TokenEstimate
) -> None:
    from webapp.services.workers.loop import GLANCE, WorkLoop

    loop = WorkLoop(opened.writing, options.now, _LOGGER)
    with output.bar(expected.things) as shown:
        try:
            loop.wake(work, at_once, most=at_once)
            while not loop.is_idle(GLANCE):
                shown.at(loop.kept)
            shown.at(loop.kept)
        except KeyboardInterrupt:
            shown.stop()
            _stop(opened, name)
            while not loop.is_idle(GLANCE):
                pass
    if loop.failure is not None:
        raise loop.failure


def _stop(opened: Database, name: str) -> None:
    from webapp.services.machine_judges import calls

    with opened.writing() as session:
        calls.stop(session, _named(session, name), options.now())
        session.commit()


def _named(session: Session, name: str) -> MachineJudge:
    from webapp.services.machine_judges import judges
    from webapp.services.study import studies

    return judges.named(session, studies.open_or_make(session, options.now()), name)


def _tell_end(opened: Database, name: str) -> None:
    from webapp.services.machine_judges import calls
    from webapp.services.machine_judges import calls as machine_progress
    from webapp.services.machine_judges.calls import SessionState

    with opened.writing() as session:
        work = machine_progress.work(session, _named(session, name), options.now())
    last = work.current or work.earlier[0]
    say(
        gettext(
            "%(judged)s judged, %(failed)s failed, %(calls)s calls, %(prompt)s + %(completion)s "
            "tokens; %(left)s left.",
            judged=last.judged,
            failed=last.failed,
            calls=last.calls,
            prompt=last.prompt_tokens,
            completion=last.completion_tokens,
            left=work.left,
        )
    )
    if work.n_fenced:
        say(
            ngettext(
                "%(n)s answer was inside a code fence. It was read.",
                "%(n)s answers were inside a code fence. They were read.",
                work.n_fenced,
            )
        )
    if last.state == SessionState.FAILING:
        raise click.ClickException(gettext(calls.SENTENCES[last.why or ""]))
    if last.state == SessionState.STOPPED:
        raise click.ClickException(gettext("Stopped; the same command goes on with what is left."))
