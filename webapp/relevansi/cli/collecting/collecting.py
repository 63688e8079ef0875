"""``relevansi collect`` and ``relevansi chatbot``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from relevansi.chatbot import mappings
from relevansi.chatbot.client import Chatbot, Patience
from relevansi.cli.collecting import demo_server
from relevansi.cli.frame import options
from relevansi.cli.frame.options import FILE, naming, timeout_option, tries_option
from relevansi.cli.frame.output import notice, resumable_bar, say
from relevansi.cli.frame.serving import LOOPBACK, listen
from relevansi.cli.runs import import_report, importing
from relevansi.config import resource
from relevansi.i18n import gettext, ngettext
from relevansi.importers.runs import problems
from relevansi.importers.runs.questions import ReadQuestion, read
from relevansi.services.collecting import collection
from relevansi.services.collecting.collection import Collection, CollectionPlan
from relevansi.services.runs.file_formats import FileDecision, FileFormat
from relevansi.services.runs.stored_runs import ImportedRun


def _method(_context: click.Context, _option: click.Parameter, value: str) -> str:
    if not re.fullmatch(r"\w[\w.-]{0,63}", value):
        raise click.BadParameter(gettext("only letters, digits and _ . - may be in it."))
    return value


@click.command("collect")
@click.option("--endpoint", required=True, help="Address of the chatbot, up to /chat or with it.")
@click.option("--method", required=True, callback=_method, help="Search method to ask for.")
@click.option("--llm", required=True, help="LLM behind the chatbot: the label of the run.")
@click.option(
    "--questions",
    type=FILE,
    help="Question file (JSON, CSV); the 30 of the methodology without it.",
)
@click.option("--from", "first", type=int, metavar="N", help="Number (id) of the first question.")
@click.option("--to", "last", type=int, metavar="N", help="Number (id) of the last question.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N questions of these.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data/evaluation"),
    help="Folder for METHOD/test_results_*.json.",
)
@click.option("--resume", is_flag=True, help="Go on with the collection that was interrupted.")
@click.option(
    "--mapping", type=FILE, help="How another chatbot is spoken to; see docs/chatbots.md."
)
@click.option(
    "--api",
    type=click.Choice(["contract", "openai"]),
    default="contract",
    help="openai: an OpenAI-compatible endpoint; its key in RELEVANSI_CHATBOT_KEY.",
)
@click.option("--model", help="Model to ask for with --api openai; that of --llm without it.")
@timeout_option
@tries_option
@click.option("--no-import", is_flag=True, help="Write the file only.")
@click.option("--keep-unanswered", is_flag=True, help="Keep a run without a single answer too.")
def collect_command(  # noqa: PLR0913 (a parameter for each option)
    *,
    endpoint: str,
    method: str,
    llm: str,
    questions: Path | None,
    first: int | None,
    last: int | None,
    limit: int | None,
    output: Path,
    resume: bool,
    mapping: Path | None,
    api: str,
    model: str | None,
    timeout: float,
    tries: int,
    no_import: bool,
    keep_unanswered: bool,
) -> None:
    """Put the questions to a chatbot in order, write test_results.json, import it.

    With --from, --to or --limit only a part of them: of a run that lacks questions of its set,
    these are "not run" and in no figure.
    """
    if mapping is not None and api != "contract":
        raise click.UsageError(gettext("Say --mapping or --api, not both."))
    if mapping is not None:
        spoken = mappings.read(mapping.name, mapping.read_bytes())
    else:
        spoken = mappings.openai(model or llm) if api == "openai" else mappings.CONTRACT
    mappings.filled(spoken.headers)  # a missing setting is reported before anything is begun
    with naming("--endpoint"):
        chatbot = Chatbot(endpoint, spoken, Patience(timeout, tries))
    question_file = questions or resource("seeds") / "questions.json"
    part = _part_of(question_file, first, last, limit)
    plan = collection.CollectionPlan(part, method, llm, chatbot)
    collected = collection.unfinished(plan, output) if resume else None
    if resume and collected is None:
        say(gettext("Nothing was interrupted here: a new collection begins."), err=True)
    elif collected is not None and collected.is_finished:
        say(gettext("This collection is finished already: nothing is asked."), err=True)
    if collected is None:
        collected = collection.begin(plan, output, options.now().astimezone())
    collected = _ask_rest(collected, plan)
    # A collection that was finished before had its file already: it is not ours to remove.
    keeps = keep_unanswered or collected.is_finished
    if not (collected.has_answers or keeps):
        collected.file.unlink()
        refusal = gettext(
            "The chatbot answered none of the questions, so nothing is kept. Such a run is "
            "kept with --keep-unanswered."
        )
        raise click.ClickException(refusal)
    collected = collection.finish(collected)
    _report(collected, plan)
    if not no_import:
        decision = FileDecision(
            method=collected.run.search_method or "", llm=collected.run.llm or ""
        )
        with options.opened() as opened:
            file = importing.opened_file(collected.file, FileFormat.RUN)
            stored = importing.store_file(opened, file, decision, set())
        assert isinstance(stored.report, ImportedRun)
        import_report.report_run(stored.report)
    if not collected.has_answers:
        raise click.ClickException(gettext("The chatbot answered none of the questions."))


@click.command("chatbot")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; the first free from 8810.")
def chatbot_command(port: int | None) -> None:
    """Run the demo chatbot over the sample's catalogue until it is interrupted."""
    listener = listen(LOOPBACK, port, first=demo_server.PORT)
    with listener:
        server = demo_server.server_on(listener)
        say(gettext("The demo chatbot is at %(address)s", address=demo_server.address(listener)))
        say(gettext("Stop it with Ctrl+C."))
        server.serve_forever()


def _part_of(
    path: Path, first: int | None, last: int | None, limit: int | None
) -> Sequence[ReadQuestion]:
    """Return the questions of a file that are asked; warns where earlier turns are not."""
    questions, remarks = read(path.name, path.read_bytes())
    for remark in problems.remarks(remarks):
        notice(remark.text)
    part = collection.select_questions(questions, first, last, limit)
    if not part:
        numbers = [question.query_id for question in questions]
        refusal = gettext(
            "--from and --to leave no question; their numbers go from %(low)s to %(high)s.",
            low=min(numbers),
            high=max(numbers),
        )
        raise click.UsageError(refusal)
    for number, turns in collection.missing_turns(questions, part).items():
        warning = gettext(
            "Question %(id)s depends on earlier turns that are not asked: %(turns)s.",
            id=number,
            turns=", ".join(map(str, turns)),
        )
        notice(warning)
    return part


def _ask_rest(collected: Collection, plan: CollectionPlan) -> Collection:
    """Ask the questions that have no answer yet, under a progress bar."""
    if collected.is_finished:
        return collected
    total, method = collected.run.total_questions, collected.run.search_method
    n_answers = len(collected.run.answers)
    with resumable_bar(total, completed=n_answers, name=method) as progress:
        for further in collection.ask_rest(collected, plan):
            collected, answer = further, further.run.answers[-1]
            if answer.error:
                line = gettext("Question %(id)s: %(why)s", id=answer.query_id, why=answer.error)
                progress.say(line)
            progress.at(len(collected.run.answers))
    return collected


def _report(collected: Collection, plan: CollectionPlan) -> None:
    if collected.run.endpoint != plan.endpoint:
        remark = gettext(
            "The chatbot is at %(address)s; nothing is at %(given)s. Give that address next time.",
            address=collected.run.endpoint,
            given=plan.endpoint,
        )
        notice(remark)
    failed = sum(bool(answer.error) for answer in collected.run.answers)
    questions = ngettext("%(n)s question", "%(n)s questions", len(collected.run.answers))
    counts = gettext("%(asked)s asked, %(failed)s failed", asked=questions, failed=failed)
    say(f"{collected.file}: {counts}")
