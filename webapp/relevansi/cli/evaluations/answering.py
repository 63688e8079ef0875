"""``relevansi answer json-v2``: a model's answers to an evaluation set, to be scored."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from relevansi.chatbot import mappings
from relevansi.chatbot.client import Chatbot, Endpoint, Patience, full_address
from relevansi.chatbot.failures import RETRIEVER
from relevansi.cli.evaluations.scoring import questions_in
from relevansi.cli.frame.options import FILE, OUTPUT, naming, timeout_option, tries_option
from relevansi.cli.frame.output import is_standard, notice, resumable_bar, say, write
from relevansi.i18n import gettext, mark, ngettext
from relevansi.services.evaluations import json_answering
from relevansi.services.evaluations.json_answering import Answering


@click.group("answer")
def answer_command() -> None:
    """Put the questions of an evaluation set to a model."""


@answer_command.command("json-v2")
@click.option("--endpoint", help="OpenAI-compatible, up to /chat/completions or with it.")
@click.option("--questions", type=FILE, help="Questions with contexts and what is expected (JSON).")
@click.option(
    "-o", "--output", type=OUTPUT, help="Outputs by id (JSON Lines), for score json-v2 --outputs."
)
@click.option("--resume", is_flag=True, help="Ask only what has no answer in the output yet.")
@click.option(
    "--retriever", help="Asked for the contexts: {question, id}, answers {contexts, index_version}."
)
@click.option(
    "--model", "model_id", help="Model to ask for; without it the endpoint's own, as it names it."
)
@click.option(
    "--index-version",
    help="Of the index that the contexts come from; a retriever may name its own.",
)
@click.option("--adapter-id", help="Adapter of the model; none without it.")
@click.option("--registry-model-id", help="Model of a registry, in the place of an adapter.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Tokens that an answer may have.")
@timeout_option
@tries_option
@click.option(
    "--at-once", type=click.IntRange(1, 16), default=1, help="Calls on their way at the same time."
)
@click.option("--print-prompt", is_flag=True, help="Print the fixed prompt; with -o write it.")
def json_v2_command(  # noqa: PLR0913 (a parameter for each option)
    *,
    endpoint: str | None,
    questions: Path | None,
    output: Path | None,
    resume: bool,
    retriever: str | None,
    max_tokens: int | None,
    timeout: float,
    tries: int,
    at_once: int,
    print_prompt: bool,
    **provenance: str | None,
) -> None:
    """Ask each question once, with its contexts, the fixed prompt and temperature 0.

    Every output is kept as it came, with its usage and latency, in a file that says where the
    answers come from; relevansi score json-v2 --questions FILE --outputs OUT scores it. The
    endpoint's key is taken from RELEVANSI_CHATBOT_KEY, a retriever's from
    RELEVANSI_RETRIEVER_KEY. Contexts that a retriever gave are kept with the output.
    """
    if print_prompt:
        if is_standard(output):
            say(f"prompt_version: {json_answering.PROMPT_VERSION}")
            say(f"prompt_sha256: {json_answering.prompt_digest()}")
            say("")
        write(json_answering.prompt_text().encode(), output)
        return
    if endpoint is None or questions is None or output is None or is_standard(output):
        raise click.UsageError(gettext("Say --endpoint, --questions and -o, or --print-prompt."))
    if provenance["adapter_id"] and provenance["registry_model_id"]:
        raise click.UsageError(gettext("Say --adapter-id or --registry-model-id, not both."))
    # What is missing for a call is reported before anything is asked.
    patience = Patience(timeout, tries)
    limit = {} if max_tokens is None else {"max_tokens": max_tokens}
    settings = {"temperature": json_answering.TEMPERATURE, **limit}
    mapping = mappings.openai(provenance["model_id"], settings=settings)
    mappings.filled(mapping.headers)
    with naming("--endpoint"):
        chatbot = Chatbot(endpoint, mapping, patience)
    context_source = None
    if retriever is not None:
        json_answering.retriever_headers()
        with naming("--retriever"):
            address = full_address(retriever)
        context_source = Endpoint(address, patience, who=RETRIEVER)
    question_set = questions_in(questions)
    if retriever is None:
        _warn_without_contexts(sum(not each.contexts for each in question_set.questions))
    head = json_answering.head(question_set, chatbot, provenance, context_source) | limit
    answering = json_answering.begin(question_set, output, head, resume=resume)
    failed = _ask(answering, chatbot, context_source, at_once)
    _warn_without_contexts(answering.n_without_contexts)
    total, unanswered = len(answering.questions), len(answering.unanswered)
    progress = gettext(
        "%(done)s of %(total)s questions answered", done=total - unanswered, total=total
    )
    say(f"{answering.path}: {progress}")
    if unanswered:
        why = mark("%(n)s questions have no answer; --resume asks them again.")
        if unanswered > failed:
            why = mark(
                "Ended after several failed calls in a row; %(n)s questions have no answer. "
                "--resume asks them again."
            )
        raise click.ClickException(gettext(why, n=unanswered))


def _warn_without_contexts(n: int) -> None:
    if n:
        line = ngettext(
            "%(n)s question has no contexts: its references will count as wrong.",
            "%(n)s questions have no contexts: their references will count as wrong.",
            n,
        )
        notice(line)


def _ask(answering: Answering, chatbot: Chatbot, retriever: Endpoint | None, at_once: int) -> int:
    """Ask what is left under a progress bar; return how many calls failed."""
    failed = 0
    outcomes = json_answering.ask_rest(answering, chatbot, retriever, at_once=at_once)
    total, completed = len(answering.questions), len(answering.answered)
    with resumable_bar(total, completed=completed) as progress, closing(outcomes):
        for row_id, why in outcomes:
            if why:
                failed += 1
                progress.say(gettext("Question %(id)s: %(why)s", id=row_id, why=why))
            progress.at(len(answering.answered))
    return failed


@click.group("eval-set")
def eval_set_command() -> None:
    """Draw dev sets from questions with expected JSON answers, and name sets by content."""


@eval_set_command.command("make")
@click.argument("questions", type=FILE)
@click.option("--n", type=click.IntRange(min=1), required=True, help="How many questions.")
@click.option("--seed", type=int, default=42, help="Same seed, same set.")
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    required=True,
    help="The set; its name without the ending is the set's name.",
)
def make_command(questions: Path, n: int, seed: int, output: Path) -> None:
    """Draw N questions of QUESTIONS, each expected main topic in proportion.

    Prints the version of the set: name@SHA-1 of the file, which is canonical JSON.
    """
    question_set = questions_in(questions)
    data, version, topics = json_answering.make_dev_set(question_set, output.stem, n, seed)
    write(data, output)
    say(version, err=is_standard(output))
    for topic, count in topics.items():
        say(f"  {topic or '-'}: {count}", err=True)


@eval_set_command.command("version")
@click.argument("questions", type=FILE)
def version_command(questions: Path) -> None:
    """Print the version of the set in QUESTIONS: name@SHA-1 of its canonical JSON."""
    say(questions_in(questions).version)
