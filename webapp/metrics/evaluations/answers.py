"""Cited answers: which claims their citations support, and agreement with a gold answer.

A claim is a sentence that is no "I don't know". It is supported when it cites exactly one
source, the source is among the contexts, and the cosine of claim and context is at least
tau_sim. The cosines come with the row (the user's own embeddings) or from an embedder.
Without either, overlap and faithfulness of an answer that has claims are undefined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from webapp.metrics.evaluations.gold_answers import GoldMatch, match
from webapp.metrics.evaluations.sentences import Sentence, sentences, without_citations
from webapp.metrics.evaluations.similarity import DEFAULT_TAU_SIM, Embedder

ABSTAIN = "ABSTAIN"
GIVEN_SIMILARITIES = "claim_similarities"
"""The source that a report names for cosines that came with the rows."""


SETTINGS = ("temperature", "top_p", "max_output_tokens", "token_target")
"""How an answer was generated, and the tokens that a question should take at most."""


class LlmCall(Struct, frozen=True):
    """The tokens of one call to the LLM."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class AnswerRow(Struct, frozen=True):
    """One answer as its file has it; ``contexts`` are texts by id, in order.

    ``calls`` and ``latency_ms`` are ``None`` where the row does not say. ``settings`` are those
    of ``SETTINGS`` that it states.
    """

    row_id: str
    question: str
    answer: str
    gold: str | None = None
    contexts: Mapping[str, str] = field(default_factory=dict)
    calls: tuple[LlmCall, ...] | None = None
    latency_ms: float | None = None
    action: str | None = None
    claim_similarities: tuple[float, ...] | None = None
    faithfulness_judge: float | None = None
    settings: Mapping[str, float] = field(default_factory=dict)


class Support(StrEnum):
    """The outcome of one sentence: supported, or the flaw that it has."""

    SUPPORTED = "supported"
    NO_CITATION = "no_citation"
    SEVERAL_CITATIONS = "several_citations"
    UNKNOWN_CONTEXT = "unknown_context"
    TOO_FAR = "too_far"
    NOT_MEASURED = "not_measured"
    DO_NOT_KNOW = "do_not_know"
    DO_NOT_KNOW_CITED = "do_not_know_cited"


class WhyUndefined(StrEnum):
    """Why a figure has no value."""

    NO_EMBEDDER = "no_embedder"
    NO_GOLD = "no_gold"
    NO_USAGE = "no_usage"
    NO_LATENCY = "no_latency"
    NO_ROW = "no_row"


class SimilaritiesDoNotFit(ValueError):
    """A row gives another number of cosines than its answer has claims."""

    def __init__(self, n_given: int, n_claims: int) -> None:
        super().__init__(f"{n_given} similarities for {n_claims} claims")
        self.n_given = n_given
        self.n_claims = n_claims


class AnswerScale(Struct, frozen=True):
    """How answers are scored: the threshold, where cosines come from, what EM and F1 see."""

    embedder: Embedder | None = None
    tau_sim: float = DEFAULT_TAU_SIM
    keep_citations: bool = False


DEFAULT_SCALE = AnswerScale()


class SentenceVerdict(Struct, frozen=True):
    """One sentence with its outcome; ``cosine`` where it was measured or given."""

    sentence: Sentence
    support: Support
    cosine: float | None = None

    @property
    def is_claim(self) -> bool:
        """Whether the sentence claims anything."""
        return self.support not in (Support.DO_NOT_KNOW, Support.DO_NOT_KNOW_CITED)


class AnswerScore(Struct, frozen=True):
    """One answer scored, sentence by sentence; ``None`` is undefined."""

    row: AnswerRow
    verdicts: tuple[SentenceVerdict, ...]
    supported: int | None
    overlap: float | None
    faithfulness: float | None
    gold: GoldMatch | None
    abstain: bool

    @property
    def claim_sentences(self) -> int:
        """The number of sentences that claim something."""
        return sum(verdict.is_claim for verdict in self.verdicts)

    @property
    def idk_with_citation(self) -> int:
        """The number of I-don't-know sentences that carry a citation; it must be 0."""
        return sum(verdict.support is Support.DO_NOT_KNOW_CITED for verdict in self.verdicts)

    @property
    def prompt_tokens(self) -> int | None:
        """The tokens put in over all calls."""
        calls = self.row.calls
        return None if calls is None else sum(call.prompt_tokens for call in calls)

    @property
    def completion_tokens(self) -> int | None:
        """The tokens that came back over all calls."""
        calls = self.row.calls
        return None if calls is None else sum(call.completion_tokens for call in calls)

    @property
    def total_tokens(self) -> int | None:
        """Tokens put in and come back over all calls."""
        return None if self.row.calls is None else self._in_and_out()

    def _in_and_out(self) -> int:
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


def score(row: AnswerRow, scale: AnswerScale = DEFAULT_SCALE) -> AnswerScore:
    """The score of one answer.

    Raises `SimilaritiesDoNotFit` when the row's cosines do not match its claims.

    >>> row = AnswerRow("1", "?", "Ada kolam [CIT:a]. Tidak tahu.", contexts={"a": "kolam"},
    ...                 claim_similarities=(0.6,))
    >>> found = score(row)
    >>> found.claim_sentences, found.supported, found.overlap, found.faithfulness
    (1, 1, 1.0, 1.0)
    """
    found = sentences(row.answer)
    claims = [sentence for sentence in found if not sentence.is_do_not_know]
    verdicts = _verdicts(found, dict(zip(claims, _claims(row, claims, scale), strict=True)))
    measured = scale.embedder is not None or row.claim_similarities is not None
    supported = sum(verdict.support is Support.SUPPORTED for verdict in verdicts)
    known = measured or not claims
    overlap = (supported / len(claims) if claims else 0.0) if known else None
    return AnswerScore(
        row=row,
        verdicts=verdicts,
        supported=supported if known else None,
        overlap=overlap,
        faithfulness=None if overlap is None else faithfulness(overlap),
        gold=_gold(row, keep_citations=scale.keep_citations),
        abstain=row.action == ABSTAIN or (bool(found) and not claims),
    )


def faithfulness(overlap: float) -> float:
    """min(1, 0.6 + 0.4 overlap): the fallback where no judge has read the answer.

    >>> faithfulness(0.5), faithfulness(1)
    (0.8, 1.0)
    """
    return min(1.0, 0.6 + 0.4 * overlap)


def _claims(
    row: AnswerRow, claims: Sequence[Sentence], scale: AnswerScale
) -> list[tuple[Support, float | None]]:
    """The outcome of every claim, with its cosine."""
    given = row.claim_similarities
    if given is not None and len(given) != len(claims):
        raise SimilaritiesDoNotFit(len(given), len(claims))
    flaws = [_flaw(claim, row.contexts) for claim in claims]
    measured = given or _measured(row, claims, flaws, scale.embedder)
    return [
        (flaw or _support(cosine, scale.tau_sim), cosine)
        for flaw, cosine in zip(flaws, measured, strict=True)
    ]


def _flaw(claim: Sentence, contexts: Mapping[str, str]) -> Support | None:
    """The flaw of a claim's citations, ``None`` when it cites one context."""
    if not claim.citations:
        return Support.NO_CITATION
    if len(claim.citations) > 1:
        return Support.SEVERAL_CITATIONS
    return None if claim.citations[0] in contexts else Support.UNKNOWN_CONTEXT


def _measured(
    row: AnswerRow,
    claims: Sequence[Sentence],
    flaws: Sequence[Support | None],
    embedder: Embedder | None,
) -> list[float | None]:
    """The cosine of every claim that cites one context, from `embedder`."""
    cited = [claim for claim, flaw in zip(claims, flaws, strict=True) if flaw is None]
    if embedder is None or not cited:
        return [None] * len(claims)
    pairs = [(claim.claim, row.contexts[claim.citations[0]]) for claim in cited]
    cosines = iter(embedder.cosines(pairs, list(row.contexts.values())))
    return [next(cosines) if flaw is None else None for flaw in flaws]


def _support(cosine: float | None, tau_sim: float) -> Support:
    if cosine is None:
        return Support.NOT_MEASURED
    return Support.SUPPORTED if cosine >= tau_sim else Support.TOO_FAR


def _verdicts(
    found: Sequence[Sentence], claims: Mapping[Sentence, tuple[Support, float | None]]
) -> tuple[SentenceVerdict, ...]:
    return tuple(
        SentenceVerdict(sentence, *claims[sentence])
        if sentence in claims
        else SentenceVerdict(
            sentence, Support.DO_NOT_KNOW_CITED if sentence.citations else Support.DO_NOT_KNOW
        )
        for sentence in found
    )


def _gold(row: AnswerRow, *, keep_citations: bool) -> GoldMatch | None:
    if row.gold is None:
        return None
    return match(row.answer if keep_citations else without_citations(row.answer), row.gold)
