"""Questions put to a model with a fixed prompt; each answer is on disk before it counts.

The file of answers is JSON Lines: their provenance, then one line for each question that was
answered. A question whose call failed has no line, so ``--resume`` asks it again. Contexts from a
retriever are in the line: the answer is scored against them.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from relevansi.chatbot import mappings
from relevansi.chatbot.answers import Answer, Message
from relevansi.chatbot.client import Chatbot, Endpoint, public_address
from relevansi.chatbot.failures import CallFailed, NotTheContract
from relevansi.config import resource
from relevansi.failures import Conflict, Refused
from relevansi.i18n import gettext, mark
from relevansi.importers.evaluations import json_lines
from relevansi.importers.evaluations.expected_json import JsonQuestionSet
from relevansi.metrics.evaluations import json_answers
from relevansi.metrics.evaluations.json_answers import (
    MODEL_PARTS,
    PROVENANCE,
    Context,
    JsonQuestion,
    stated_provenance,
)
from relevansi.records import Problem

PROMPT_VERSION = "eval_json_v2/1"  # another text of the prompt needs another version

_PLACE = re.compile(r"\{(question|contexts)\}")


@cache
def prompt_text() -> str:
    """Return the prompt as its file has it, with the places {contexts} and {question}."""
    return (resource("templates") / "evaluations" / "eval_json_v2.md").read_text("utf-8")


def prompt_digest() -> str:
    return sha256(prompt_text().encode()).hexdigest()


def filled_prompt(question: JsonQuestion) -> str:
    """Return the message to the model, filled in one pass: no text can open another place."""
    contexts = (f"[source_path: {each.source_path}]\n{each.text}" for each in question.contexts)
    values = {"question": question.question, "contexts": "\n\n".join(contexts) or "(none)"}
    return _PLACE.sub(lambda place: values[place[1]], prompt_text())


TEMPERATURE = 0
MAX_FAILURES = 5
"""So many failed calls in a row end the asking: more calls would fail too."""

KEY_VARIABLE = "RELEVANSI_RETRIEVER_KEY"


def retriever_headers() -> dict[str, str]:
    """Return the header with the retriever's own key, if one is set; raises ``MissingKey``."""
    return mappings.filled(mappings.bearer(KEY_VARIABLE))


def read_contexts(document: object) -> tuple[tuple[Context, ...], str | None]:
    """Return the contexts in an answer and the version of the index; raises `NotTheContract`.

    >>> read_contexts({"context": [{"source_path": "a.md", "text": "Ada."}], "index_version": 7})
    ((Context(source_path='a.md', text='Ada.'),), '7')
    """
    excerpt = json.dumps(document, ensure_ascii=False)
    if not isinstance(document, dict):
        raise NotTheContract(mark("it is JSON, but not an object"), excerpt=excerpt)
    name = next((name for name in ("contexts", "context") if name in document), None)
    if name is None:
        what = mark('it has no list "contexts", only: %(known)s')
        raise NotTheContract(what, known=", ".join(list(document)[:8]) or "-", excerpt=excerpt)
    listed = document[name]
    if not isinstance(listed, list):
        raise NotTheContract(mark('"%(path)s" in it is not a list'), path=name, excerpt=excerpt)
    contexts = tuple(_context(raw, f"{name}[{n}]", excerpt) for n, raw in enumerate(listed))
    version = document.get("index_version")
    if isinstance(version, bool) or not isinstance(version, str | int):
        return contexts, None
    return contexts, str(version).strip() or None


def _context(raw: object, place: str, excerpt: str) -> Context:
    if not isinstance(raw, dict):
        raise NotTheContract(mark('"%(path)s" in it is not an object'), path=place, excerpt=excerpt)
    source_path, text = raw.get("source_path"), raw.get("text")
    if not isinstance(source_path, str) or not source_path.strip():
        wrong = f"{place}.source_path"
    elif not isinstance(text, str):
        wrong = f"{place}.text"
    else:
        return Context(source_path, text)
    raise NotTheContract(mark('"%(path)s" in it is not a text'), path=wrong, excerpt=excerpt)


class AnswersThere(Conflict):
    message = mark("%(name)s holds answers already")
    remedy = mark("--resume goes on with them, another -o begins anew.")


class OtherAnswers(Conflict):
    """The answers to go on with were made otherwise: a ``field`` is ``theirs``, not ``ours``."""

    message = mark("%(name)s was made with %(field)s %(theirs)s, not %(ours)s")
    remedy = mark("Give another -o to begin anew.")


class ModelUnknown(Refused):
    message = mark("The endpoint does not say which model answered")
    remedy = mark("Name it with --model.")


class IndexUnknown(Refused):
    message = mark("The retriever does not name its index")
    remedy = mark("Name it with --index-version.")


class OtherIndex(Conflict):
    """The retriever names another version of its index than the one ``before``."""

    message = mark(
        "The retriever names its index %(name)s, not %(before)s, and a file holds answers from one"
    )
    remedy = mark("Correct --index-version, or begin anew with another -o.")


class Answering(Struct):
    """The questions to ask, the file of answers, its first line, and the ids answered in it."""

    questions: tuple[JsonQuestion, ...]
    path: Path
    head: dict[str, Any]
    answered: set[str] = field(default_factory=set)
    n_without_contexts: int = 0

    @property
    def unanswered(self) -> tuple[JsonQuestion, ...]:
        return tuple(q for q in self.questions if q.row_id not in self.answered)

    def append(self, question: JsonQuestion, answer: Answer) -> None:
        """Append one answer to the file and sync it to disk; raises `ModelUnknown`."""
        lines = []
        if not self.answered:
            self.head.setdefault("model_id", answer.model)
            if not self.head["model_id"]:
                raise ModelUnknown
            lines.append(self.head)
        line: dict[str, object] = {"id": question.row_id, "output": answer.text}
        line |= {name: getattr(answer, name) for name in ("usage", "latency_ms", "tries", "model")}
        if "retriever" in self.head:
            line["contexts"] = [asdict(context) for context in question.contexts]
            self.n_without_contexts += not question.contexts
        lines.append(line)
        with self.path.open("ab") as file:
            file.writelines(json.dumps(entry).encode() + b"\n" for entry in lines)
            file.flush()
            # An answer that cost money must outlive a crash of the machine too.
            os.fsync(file.fileno())
        self.answered.add(question.row_id)

    def check_index(self, index: str | None) -> None:
        """Check that the retriever still answers from one index, which it may name first here.

        Raises ``IndexUnknown`` and ``OtherIndex``.
        """
        expected = self.head.setdefault("index_version", index)
        if not expected:
            raise IndexUnknown
        if index is not None and index != expected:
            raise OtherIndex(index, before=expected)


def head(
    question_set: JsonQuestionSet,
    chatbot: Chatbot,
    options: Mapping[str, str | None],
    retriever: Endpoint | None = None,
) -> dict[str, Any]:
    """Return the provenance of the answers: as `options` state it, else the file of questions.

    Without either the adapter is "none" and the index the contexts of the questions. The index of a
    `retriever` is named by `options` or by the retriever itself.
    """
    chosen = stated_provenance(options)
    # Options that name any part of a model name another one than the file of questions does.
    names = [] if set(MODEL_PARTS) & chosen.keys() else [*MODEL_PARTS]
    if retriever is None:
        names.append("index_version")
    parts = stated_provenance({name: question_set.top.get(name) for name in names}) | chosen
    if not set(MODEL_PARTS) & parts.keys():
        parts["adapter_id"] = "none"
    if retriever is None:
        parts.setdefault("index_version", f"contexts of {question_set.version}")
    parts |= {"prompt_sha256": prompt_digest(), "prompt_version": PROMPT_VERSION}
    parts["eval_set_version"] = question_set.version
    provenance: dict[str, Any] = {name: parts[name] for name in PROVENANCE if name in parts}
    provenance["endpoint"] = public_address(chatbot.address)
    if retriever is not None:
        provenance["retriever"] = public_address(retriever.address)
    return provenance | {"temperature": TEMPERATURE}


def begin(
    question_set: JsonQuestionSet, path: Path, head: dict[str, Any], *, resume: bool = False
) -> Answering:
    """Return the questions to be answered into a file at `path`; `resume` keeps its answers.

    Raises `AnswersThere` and `OtherAnswers`.
    """
    answering = Answering(question_set.questions, path, head)
    if not path.exists() or not path.stat().st_size:
        return answering
    if not resume:
        raise AnswersThere(path)
    with path.open("r+b") as file:
        data = file.read()
        # A line that was cut off by a crash is asked again.
        file.truncate(data.rfind(b"\n") + 1)
        file.seek(0)
        for line in json_lines.read_lines(path.name, file):
            if isinstance(line, Problem):
                continue
            if "id" in line.value:
                answering.answered.add(str(line.value["id"]))
                continue
            for name in ("retriever", *head):
                theirs, ours = line.value.get(name), head.get(name)
                if theirs != ours:
                    none = gettext("none")
                    both = [none if value is None else value for value in (theirs, ours)]
                    raise OtherAnswers(path, field=name, theirs=both[0], ours=both[1])
            answering.head = {**line.value, **head}
    return answering


def ask_rest(
    answering: Answering, chatbot: Chatbot, retriever: Endpoint | None = None, *, at_once: int = 1
) -> Generator[tuple[str, CallFailed | None]]:
    """Ask the unanswered questions; yield each id once its answer is on disk, or why it has none.

    The contexts are those of the question, or those that the `retriever` finds for it. Ends after
    `MAX_FAILURES` failed calls in a row.
    """
    unasked = iter(answering.unanswered)
    in_flight: dict[Future[tuple[JsonQuestion, Answer]], JsonQuestion] = {}
    failed_in_a_row = 0
    with ThreadPoolExecutor(at_once) as pool:
        try:
            while True:
                while len(in_flight) < at_once and failed_in_a_row < MAX_FAILURES:
                    question = next(unasked, None)
                    if question is None:
                        break
                    future = pool.submit(_answer, answering, question, chatbot, retriever)
                    in_flight[future] = question
                if not in_flight:
                    return
                for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
                    question = in_flight.pop(future)
                    failure = _store_answer(answering, future)
                    failed_in_a_row = failed_in_a_row + 1 if failure else 0
                    yield question.row_id, failure
        except (KeyboardInterrupt, GeneratorExit):
            # Interrupted: calls in flight are paid for, so their answers are waited for and stored.
            for future in in_flight:
                _store_answer(answering, future)
            raise


def _answer(
    answering: Answering, question: JsonQuestion, chatbot: Chatbot, retriever: Endpoint | None
) -> tuple[JsonQuestion, Answer]:
    if retriever is not None:
        body = {"id": question.row_id, "question": question.question}
        contexts, index = retriever.ask(body, retriever_headers(), read_contexts).value
        answering.check_index(index)
        question = replace(question, contexts=contexts)
    message = filled_prompt(question)
    return question, chatbot.ask(Message(message=message, session_id="", user_id="", method=""))


def _store_answer(
    answering: Answering, future: Future[tuple[JsonQuestion, Answer]]
) -> CallFailed | None:
    """Append the answer of a call to the file, or return why there is none."""
    try:
        answering.append(*future.result())
    except CallFailed as failure:
        return failure
    return None


def make_dev_set(
    question_set: JsonQuestionSet, name: str, n: int, seed: int
) -> tuple[bytes, str, Counter[str]]:
    """Return a file of `n` questions, in proportion to their main topics, its version, the topics.

    The topics are counted in the file.
    """
    topics = [str(q.expected.get("main_topic") or "").strip() for q in question_set.questions]
    positions = json_answers.draw_dev_set(topics, n, seed=seed)
    questions = [question_set.raw[position] for position in positions]
    version = json_answers.eval_set_version(name, questions)
    counts = Counter(topics[position] for position in positions)
    return json_answers.canonical(questions), version, counts
