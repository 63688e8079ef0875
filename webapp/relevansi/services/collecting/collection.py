"""A question set put to a chatbot in order, in one session, every answer kept at once.

Each answer is written before the next question is asked, so an interruption costs at most
the question that was on its way.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import inf
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from relevansi.chatbot.answers import Message, with_answer
from relevansi.chatbot.client import Chatbot, public_address
from relevansi.chatbot.failures import CallFailed
from relevansi.config import sync
from relevansi.exporters.exports.run_folders import STAMP, collected_run_file
from relevansi.failures import Conflict
from relevansi.i18n import mark
from relevansi.importers.runs import json_runs
from relevansi.importers.runs.questions import ReadQuestion
from relevansi.records import CollectedAnswer, CollectedRun

LATEST = "test_results_latest.json"
UNFINISHED = ".part"
USER = "relevansi"


class OtherCollection(Conflict):
    """The unfinished collections in a folder asked other questions, or another chatbot."""

    message = mark(
        "%(name)s was collected with other questions, another LLM or from another address"
    )
    remedy = mark("Leave --resume out to begin anew.")


class CollectionPlan(Struct, frozen=True):
    """The questions in order, the labels of the run, and the chatbot that is asked."""

    questions: Sequence[ReadQuestion]
    method: str
    llm: str
    chatbot: Chatbot

    @property
    def endpoint(self) -> str:
        """The address, without what may be secret in it."""
        return public_address(self.chatbot.address)


class Collection(Struct, frozen=True):
    """A collection and its file of all answers so far, ``.part`` until the last was asked."""

    run: CollectedRun
    file: Path

    @property
    def is_finished(self) -> bool:
        return self.file.suffix != UNFINISHED

    @property
    def has_answers(self) -> bool:
        return any(not answer.error for answer in self.run.answers)


def select_questions(
    questions: Sequence[ReadQuestion],
    first: int | None = None,
    last: int | None = None,
    limit: int | None = None,
) -> Sequence[ReadQuestion]:
    """Return the questions numbered `first` to `last`, both included; at most `limit`.

    >>> questions = [ReadQuestion(number, "?") for number in (1, 2, 3, 4)]
    >>> [question.query_id for question in select_questions(questions, 2, limit=2)]
    [2, 3]
    """
    low, high = -inf if first is None else first, inf if last is None else last
    return [question for question in questions if low <= question.query_id <= high][:limit]


def missing_turns(
    questions: Sequence[ReadQuestion], part: Sequence[ReadQuestion]
) -> dict[int, list[int]]:
    """Map each follow-up question in `part` to the turns of its conversation that `part` lacks.

    A conversation begins at the last standalone question.
    """
    numbers = {question.query_id for question in part}
    missing: dict[int, list[int]] = {}
    conversation: list[int] = []
    for question in questions:
        if not question.context_dependent:
            conversation = []
        elif question.query_id in numbers:
            turns = [turn for turn in conversation if turn not in numbers]
            if turns:
                missing[question.query_id] = turns
        conversation.append(question.query_id)
    return missing


def begin(plan: CollectionPlan, folder: Path, now: datetime) -> Collection:
    """Return a new collection in the folder of its method; its file is made before any call."""
    folder = folder / plan.method
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"test_results_{plan.method}_"
    # Two collections of one second get different names, and a file is never overwritten.
    while any(folder.glob(f"{stem}{now:{STAMP}}.*")):
        now += timedelta(seconds=1)
    run = CollectedRun(
        timestamp=f"{now:{STAMP}}",
        thread_id=f"{USER}_{plan.method}_{secrets.token_hex(6)}",
        user_id=USER,
        search_method=plan.method,
        llm=plan.llm,
        endpoint=plan.endpoint,
        total_questions=len(plan.questions),
    )
    collection = Collection(run, folder / f"{stem}{run.timestamp}.json{UNFINISHED}")
    write_durably(collection.file, collected_run_file(run))
    return collection


def unfinished(plan: CollectionPlan, folder: Path) -> Collection | None:
    """Return the newest unfinished collection of `plan`, else its finished one, else none."""
    folder = folder / plan.method
    parts = sorted(folder.glob(f"test_results_*.json{UNFINISHED}"), reverse=True)
    collections = [
        Collection(json_runs.read_collected(part.name, part.read_bytes()), part) for part in parts
    ]
    for collection in collections:
        if _fits(collection.run, plan):
            return collection
    if collections:
        raise OtherCollection(str(collections[0].file))
    latest = folder / LATEST
    if not latest.is_file():
        return None
    run = json_runs.read_collected(latest.name, latest.read_bytes())
    if not (run.is_complete and _fits(run, plan)):
        return None
    final = folder / f"test_results_{plan.method}_{run.timestamp}.json"
    return Collection(run, final if final.is_file() else latest)


def ask_rest(collection: Collection, plan: CollectionPlan) -> Iterator[Collection]:
    """Ask the questions that are left; yields the collection after each answer, stored on disk."""
    chatbot = plan.chatbot
    for question in plan.questions[len(collection.run.answers) :]:
        run, chatbot = _ask(collection.run, question, chatbot)
        collection = replace(collection, run=run)
        write_durably(collection.file, collected_run_file(run))
        yield collection


def finish(collection: Collection) -> Collection:
    """Return the collection with its file in its place; a copy of it becomes the latest."""
    if collection.is_finished:
        return collection
    final = collection.file.with_suffix("")
    collection.file.replace(final)
    write_durably(final.with_name(LATEST), final.read_bytes())
    return replace(collection, file=final)


def write_durably(path: Path, data: bytes) -> None:
    """Write the file `path` so that a crash leaves it whole: as it was, or as it is now."""
    beside = path.with_name(f"{path.name}.tmp")
    try:
        beside.write_bytes(data)
        sync(beside)
        beside.replace(path)
        sync(path)  # its name, too
    finally:
        beside.unlink(missing_ok=True)


def _ask(
    run: CollectedRun, question: ReadQuestion, chatbot: Chatbot
) -> tuple[CollectedRun, Chatbot]:
    """Return the run with the answer to one more question, and the chatbot at its last address."""
    unanswered = CollectedAnswer(
        question.query_id, question.text, question.category, question.context_dependent
    )
    assigns_sessions = chatbot.mapping.assigns_sessions
    earlier = tuple(
        (answer.question, answer.response) for answer in run.answers if not answer.error
    )
    # A chatbot that names its sessions gets none before its first answer.
    session_id = run.thread_id if earlier or not assigns_sessions else ""
    message = Message(question.text, session_id, run.user_id, run.search_method, earlier)
    try:
        answer = chatbot.ask(message)
    except CallFailed as failure:
        failed = replace(
            unanswered,
            error=str(failure),
            error_code=failure.code,
            excerpt=failure.excerpt,
            tries=failure.tries,
        )
        return replace(run, answers=(*run.answers, failed)), chatbot
    run = replace(
        run,
        answers=(*run.answers, with_answer(unanswered, answer)),
        thread_id=(answer.session_id if assigns_sessions else None) or run.thread_id,
        endpoint=public_address(answer.address),
    )
    return run, replace(chatbot, address=answer.address)


def _fits(run: CollectedRun, plan: CollectionPlan) -> bool:
    """Whether a stored run asks the chatbot of `plan`, under its labels, the same questions."""
    addresses = plan.chatbot.address, plan.chatbot.other_address or ""
    labels = (run.search_method, run.llm, run.total_questions)
    return (
        labels == (plan.method, plan.llm, len(plan.questions))
        and run.endpoint in map(public_address, addresses)
        and len(run.answers) <= run.total_questions
        and all(
            answer.query_id == question.query_id
            and json_runs.question_key(answer.question) == json_runs.question_key(question.text)
            for answer, question in zip(run.answers, plan.questions, strict=False)
        )
    )
