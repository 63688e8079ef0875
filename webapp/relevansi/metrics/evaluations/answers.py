"""Cited answers: which claims their citations support, and agreement with a gold answer.

A claim is a sentence that is no "I don't know". It is supported when it cites exactly one
source, the source is among the contexts, and the cosine of claim and context is at least
tau_sim. The cosines come with the row (the user's own embeddings) or from an embedder.
Without either, overlap and faithfulness of an answer that has claims are undefined.

A sentence ends at ``.``, ``!`` or ``?`` before a blank or the end of the text; citations right
after the mark, with or without a blank between, belong to the sentence before. Line breaks end
nothing by themselves. What is left without a letter, a digit or a citation is not a sentence.
Against the gold answer citations are not words; with ``keep_citations`` each becomes one.
"""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TypedDict

from msgspec import Struct, field

from relevansi.metrics.evaluations.similarity import DEFAULT_TAU_SIM, Embedder
from relevansi.metrics.numbers import Numbers

_CITATION = re.compile(r"\[CIT:([\w-]+)\]")
_CITATIONS = r"(?:\s*\[CIT:[\w-]+\])"
_END = re.compile(rf"[.!?](?:{_CITATIONS}+[.!?]*|(?=\s|\Z))")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

DO_NOT_KNOW = frozenset({"i don't know", "i dont know", "tidak tahu", "saya tidak tahu"})
"""Sentences that claim nothing, in lower case and without closing marks."""


class Sentence(Struct, frozen=True):
    """One sentence, the ids it cites in order, and its ``claim``: the text without citations."""

    text: str
    claim: str
    citations: tuple[str, ...]

    @property
    def is_do_not_know(self) -> bool:
        """Whether it is an I-don't-know sentence, with or without citations."""
        words = " ".join(self.claim.replace("\u2019", "'").split()).lower()
        return words.rstrip(".!? ") in DO_NOT_KNOW


def sentences(answer: str) -> tuple[Sentence, ...]:
    """Return the sentences of `answer` in order.

    >>> [s.citations for s in sentences("Ada 3 kamar [CIT:a]. Luas 90 m2. [CIT:b] Tidak tahu!")]
    [('a',), ('b',), ()]
    """
    places = [0, *(end.end() for end in _END.finditer(answer)), len(answer)]
    texts = (answer[start:end].strip() for start, end in pairwise(places))
    return tuple(
        Sentence(text, _CITATION.sub("", text).strip(), tuple(_CITATION.findall(text)))
        for text in texts
        if _LETTER_OR_DIGIT.search(text)
    )


_ARTICLES = frozenset({"a", "an", "the"})
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> tuple[str, ...]:
    """Return the words of `text` in lower case, without ASCII punctuation and a, an, the.

    >>> normalised("The price: Rp 800-juta!")
    ('price', 'rp', '800juta')
    """
    words = text.lower().translate(_NO_PUNCTUATION).split()
    return tuple(word for word in words if word not in _ARTICLES)


def match_gold(answer: str, gold: str) -> tuple[int, float]:
    """Return EM, 1 or 0, and F1 of `answer` against `gold`, over words with their repetitions.

    F1 = 2 PR / (P + R) = 2 common / (words of the answer + words of gold). Both empty: 1
    and 1; one empty: 0 and 0. Reference: Rajpurkar et al. (2016), SQuAD. EMNLP, 2383-2392.

    >>> em, f1 = match_gold("rumah dua kamar", "rumah tiga kamar")
    >>> em, round(f1, 4)
    (0, 0.6667)
    """
    words_of_answer, words_of_gold = normalised(answer), normalised(gold)
    n_words = len(words_of_answer) + len(words_of_gold)
    n_common = (Counter(words_of_answer) & Counter(words_of_gold)).total()
    f1 = 2 * n_common / n_words if n_words else 1.0
    return int(words_of_answer == words_of_gold), f1


ABSTAIN = "ABSTAIN"
GIVEN_SIMILARITIES = "claim_similarities"
"""The source that a report names for cosines that came with the rows."""


SETTINGS = ("temperature", "top_p", "max_output_tokens", "token_target")
"""How an answer was generated, and the tokens that a question should take at most."""


class AnswerRow(Struct, frozen=True):
    """One answer as its file has it; ``contexts`` are texts by id, in order.

    ``calls`` (tokens of prompt and completion of each) and ``latency_ms`` are ``None`` where the
    row does not say. ``settings`` are those of ``SETTINGS`` that it states.
    """

    row_id: str
    question: str
    answer: str
    gold: str | None = None
    contexts: Mapping[str, str] = field(default_factory=dict)
    calls: tuple[tuple[int, int], ...] | None = None
    latency_ms: float | None = None
    action: str | None = None
    claim_similarities: tuple[float, ...] | None = None
    faithfulness_judge: float | None = None
    settings: Mapping[str, float] = field(default_factory=dict)


class Support(StrEnum):
    """The outcome of one sentence: supported, or why it is not."""

    SUPPORTED = "supported"
    NO_CITATION = "no_citation"
    SEVERAL_CITATIONS = "several_citations"
    UNKNOWN_CONTEXT = "unknown_context"
    TOO_FAR = "too_far"
    NOT_MEASURED = "not_measured"
    DO_NOT_KNOW = "do_not_know"
    DO_NOT_KNOW_CITED = "do_not_know_cited"


class WhyUndefined(StrEnum):
    NO_EMBEDDER = "no_embedder"
    NO_GOLD = "no_gold"
    NO_USAGE = "no_usage"
    NO_LATENCY = "no_latency"
    NO_ROW = "no_row"


class SimilaritiesDoNotFit(ValueError):
    """A row has another number of cosines than its answer has claims: both are the arguments."""


class AnswerScale(Struct, frozen=True):
    """How answers are scored: the source of cosines, their threshold, citations in EM and F1."""

    embedder: Embedder | None = None
    tau_sim: float = DEFAULT_TAU_SIM
    keep_citations: bool = False


DEFAULT_SCALE = AnswerScale()


class SentenceVerdict(Struct, frozen=True):
    """One sentence with its outcome; ``cosine`` where it was measured or given."""

    sentence: Sentence
    support: Support
    cosine: float | None = None


class AnswerScore(Struct, frozen=True):
    """One answer scored, sentence by sentence; ``None`` is undefined."""

    row: AnswerRow
    verdicts: tuple[SentenceVerdict, ...]
    supported: int | None
    overlap: float | None
    faithfulness: float | None
    em: int | None
    f1: float | None
    abstain: bool
    prompt_tokens: int | None
    completion_tokens: int | None

    @property
    def claim_sentences(self) -> int:
        return sum(not verdict.sentence.is_do_not_know for verdict in self.verdicts)

    @property
    def idk_with_citation(self) -> int:
        """The number of I-don't-know sentences that carry a citation; it must be 0."""
        return sum(verdict.support is Support.DO_NOT_KNOW_CITED for verdict in self.verdicts)

    @property
    def total_tokens(self) -> int | None:
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


def score(row: AnswerRow, scale: AnswerScale = DEFAULT_SCALE) -> AnswerScore:
    """Return the score of one answer.

    Raises `SimilaritiesDoNotFit` when the row's cosines do not match its claims.

    >>> row = AnswerRow("1", "?", "Ada kolam [CIT:a]. Tidak tahu.", contexts={"a": "kolam"},
    ...                 claim_similarities=(0.6,))
    >>> answer = score(row)
    >>> answer.claim_sentences, answer.supported, answer.overlap, answer.faithfulness
    (1, 1, 1.0, 1.0)
    """
    parts = sentences(row.answer)
    claims = [sentence for sentence in parts if not sentence.is_do_not_know]
    outcomes = iter(_claim_outcomes(row, claims, scale))
    verdicts = []
    for sentence in parts:
        if sentence.is_do_not_know:
            is_cited = bool(sentence.citations)
            support = Support.DO_NOT_KNOW_CITED if is_cited else Support.DO_NOT_KNOW
            verdicts.append(SentenceVerdict(sentence, support))
        else:
            support, cosine = next(outcomes)
            verdicts.append(SentenceVerdict(sentence, support, cosine))
    n_supported = sum(verdict.support is Support.SUPPORTED for verdict in verdicts)
    has_cosines = scale.embedder is not None or row.claim_similarities is not None
    is_measured = has_cosines or not claims
    overlap = None
    if is_measured:
        overlap = n_supported / len(claims) if claims else 0.0
    em = f1 = None
    if row.gold is not None:
        answer, gold = row.answer, row.gold
        if not scale.keep_citations:  # a gold answer may have citations too
            answer, gold = _CITATION.sub(" ", answer), _CITATION.sub(" ", gold)
        em, f1 = match_gold(answer, gold)
    calls = row.calls
    return AnswerScore(
        row=row,
        verdicts=tuple(verdicts),
        supported=n_supported if is_measured else None,
        overlap=overlap,
        faithfulness=None if overlap is None else faithfulness(overlap),
        em=em,
        f1=f1,
        abstain=row.action == ABSTAIN or (bool(parts) and not claims),
        prompt_tokens=None if calls is None else sum(prompt for prompt, _ in calls),
        completion_tokens=None if calls is None else sum(completion for _, completion in calls),
    )


def faithfulness(overlap: float) -> float:
    """Return min(1, 0.6 + 0.4 overlap), the fallback for a judge's faithfulness.

    >>> faithfulness(0.5), faithfulness(1)
    (0.8, 1.0)
    """
    return min(1.0, 0.6 + 0.4 * overlap)


def _claim_outcomes(
    row: AnswerRow, claims: Sequence[Sentence], scale: AnswerScale
) -> list[tuple[Support, float | None]]:
    """Return the outcome and cosine of each claim; the row's own cosines come first."""
    similarities = row.claim_similarities
    if similarities is not None and len(similarities) != len(claims):
        raise SimilaritiesDoNotFit(len(similarities), len(claims))
    flaws = [_flaw(claim, row.contexts) for claim in claims]
    cosines: list[float | None] = list(similarities or [None] * len(claims))
    # Only claims without another flaw are measured: an endpoint may cost money.
    measurable = [place for place, flaw in enumerate(flaws) if flaw is None]
    if not similarities and scale.embedder is not None and measurable:
        texts = [(claims[at].claim, row.contexts[claims[at].citations[0]]) for at in measurable]
        measured = scale.embedder.cosines(texts, list(row.contexts.values()))
        for place, cosine in zip(measurable, measured, strict=True):
            cosines[place] = cosine
    return [
        (flaw or _support(cosine, scale.tau_sim), cosine)
        for flaw, cosine in zip(flaws, cosines, strict=True)
    ]


def _flaw(claim: Sentence, contexts: Mapping[str, str]) -> Support | None:
    if not claim.citations:
        return Support.NO_CITATION
    if len(claim.citations) > 1:
        return Support.SEVERAL_CITATIONS
    return None if claim.citations[0] in contexts else Support.UNKNOWN_CONTEXT


def _support(cosine: float | None, tau_sim: float) -> Support:
    if cosine is None:
        return Support.NOT_MEASURED
    return Support.SUPPORTED if cosine >= tau_sim else Support.TOO_FAR


_MEANS = {
    "avg_faithfulness": ("faithfulness", WhyUndefined.NO_EMBEDDER),
    "avg_overlap": ("overlap", WhyUndefined.NO_EMBEDDER),
    "avg_em": ("em", WhyUndefined.NO_GOLD),
    "avg_f1": ("f1", WhyUndefined.NO_GOLD),
    "abstain_rate": ("abstain", WhyUndefined.NO_ROW),
    "avg_total_tokens": ("total_tokens", WhyUndefined.NO_USAGE),
    "avg_prompt_tokens": ("prompt_tokens", WhyUndefined.NO_USAGE),
    "avg_completion_tokens": ("completion_tokens", WhyUndefined.NO_USAGE),
}
"""The figure of an answer behind each mean, with why the mean may lack a value."""

JUDGED = "avg_faithfulness_judge"


class Figure(TypedDict):
    """One figure of a summary over `n` rows; ``why`` is the reason of a value ``None``."""

    name: str
    value: float | None
    n: int
    why: str | None


class AnswerSummary(Struct):
    """The figures over every answer added; order does not matter.

    Overlap and faithfulness are undefined where no answer with claims could be measured though
    there are some: else they would be those of the answers without claims, whose overlap is 0 by
    definition. ``settings`` are the least and greatest value that answers state, and how many do.
    """

    count: int = 0
    settings: dict[str, dict[str, float]] = field(default_factory=dict)
    _idk_with_citation: int = 0
    _n_unmeasured: int = 0
    _n_measured: int = 0
    _n_given: int = 0
    _judged: Numbers = field(default_factory=Numbers)
    _latencies: Numbers = field(default_factory=Numbers)
    _scores: dict[str, Numbers] = field(default_factory=lambda: defaultdict(Numbers))

    def add(self, score: AnswerScore) -> None:
        """Add one answer."""
        self.count += 1
        self._idk_with_citation += score.idk_with_citation
        self._n_unmeasured += score.overlap is None
        self._n_measured += score.overlap is not None and score.claim_sentences > 0
        self._n_given += score.row.claim_similarities is not None
        self._judged.add(score.row.faithfulness_judge)
        self._latencies.add(score.row.latency_ms)
        for name, (figure, _) in _MEANS.items():
            self._scores[name].add(getattr(score, figure))
        for name, value in score.row.settings.items():
            setting = self.settings.setdefault(name, {"lowest": value, "highest": value, "n": 0})
            setting["lowest"] = min(setting["lowest"], value)
            setting["highest"] = max(setting["highest"], value)
            setting["n"] += 1

    def figures(self) -> list[Figure]:
        """Return every figure in the order in which they are shown, a judge's last."""
        figures = [Figure(name="count", value=self.count, n=self.count, why=None)]
        for name, (_, why) in _MEANS.items():
            mean, n = self._scores[name].mean, self._scores[name].n
            is_unmeasured = self._n_unmeasured > 0 and not self._n_measured
            if why is WhyUndefined.NO_EMBEDDER and is_unmeasured:
                mean, n = None, 0
            figures.append(self._figure(name, mean, n, why))
        for name, quantile in (("p50_latency_ms", 0.5), ("p95_latency_ms", 0.95)):
            (latency,), n = self._latencies.at(quantile), self._latencies.n
            figures.append(self._figure(name, latency, n, WhyUndefined.NO_LATENCY))
        idk = self._idk_with_citation
        figures.append(Figure(name="idk_with_citation_count", value=idk, n=self.count, why=None))
        n_judged = self._judged.n
        if n_judged:
            figures.append(Figure(name=JUDGED, value=self._judged.mean, n=n_judged, why=None))
        return figures

    def embedder(self, scale: AnswerScale) -> str | None:
        """Return the source of the cosines, ``None`` when there were none."""
        names = [GIVEN_SIMILARITIES] if self._n_given else []
        names += [scale.embedder.name] if scale.embedder else []
        return " + ".join(names) or None

    def _figure(self, name: str, value: float | None, n: int, why: WhyUndefined) -> Figure:
        reason = None if value is not None else str(why if self.count else WhyUndefined.NO_ROW)
        return Figure(name=name, value=value, n=n, why=reason)
