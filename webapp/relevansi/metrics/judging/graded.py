"""Ranking figures of one list from grades: what they are, and what of them is still open.

The rules of every figure here, in any study (the V1 figures of ``queries`` have their own):

- An item is relevant from the grade that the study's scale says. R is the number of relevant
  items among all that were judged for the question, whether the list has them or not.
- An item that is unjudged or "cannot tell" holds its rank, has no gain and is not in R, so
  that a figure has a value before the judging is complete: ``Judged@k`` is shown beside it.
- A figure that divides by R, or by what an ideal list gains, is undefined (``None``, not 0)
  where that is 0. trec_eval's 0 has a name of its own: ``AP (trec_eval)``. Like trec_eval's means,
  a mean of that name is over the questions that have a line in the exported qrels.
- An item that a list holds further up already holds its rank without gain (``REPEATED``), and R
  counts it once.
- Bounds: what the value can still become while open results of the list are judged. The lower
  one gives each the grade 0, which is the value itself; the upper one the highest grade. None
  are claimed where a grade moves R or the ideal too (nDCG, recall, R-precision, AP, bpref,
  infAP). The tail below the list is shown to nobody, so that nothing there is open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from math import fsum, log2
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.kinds import KINDS
from relevansi.metrics.judging import queries
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.queries import Span
from relevansi.records import BINARY, Number, Scale


class RankedGrades(Struct, frozen=True):
    """The grades of one list for one question, and of everything judged for that question.

    ``listed`` are the results in rank order, each as ``Scale.number`` has it: a grade,
    "unsure", "repeated", or ``None`` while unjudged. ``tail`` are the ranks below, which no rater
    is shown. ``pool`` are the grades of all judged items of the question, those of the list
    among them, each once, as in the exported qrels.
    """

    listed: tuple[Number, ...]
    pool: tuple[int, ...] = ()
    scale: Scale = BINARY
    tail: tuple[Number, ...] = ()

    @property
    def ranks(self) -> tuple[Number, ...]:
        return self.listed + self.tail

    @property
    def n_relevant(self) -> int:
        """R: the relevant items of the pool."""
        return sum(grade >= self.scale.relevant_from for grade in self.pool)

    def relevance(self, cutoff: int | None = None) -> list[bool]:
        """Whether the item at each rank is relevant, down to `cutoff`; one that is open is not."""
        return [grade >= self.scale.relevant_from for grade in self.grades(cutoff)]

    def grades(self, cutoff: int | None = None) -> list[int]:
        """The grade at each rank down to `cutoff`, 0 where there is none."""
        return [grade if isinstance(grade, int) else 0 for grade in self.ranks[:cutoff]]

    def at_best(self) -> RankedGrades:
        """The same list with the highest grade for every result that is open."""
        best = tuple(self.scale.top if grade is None else grade for grade in self.listed)
        return replace(self, listed=best)


def judged_at(ranked: RankedGrades, cutoff: int) -> float | None:
    """Share of the first `cutoff` ranks that are judged, "cannot tell" included.

    ``Judged@k = judged / min(k, n)``. An empty list has no value (Sakai 2007).

    >>> judged_at(RankedGrades((1, None, "unsure", 0)), 5)
    0.75
    """
    top = ranked.ranks[:cutoff]
    return sum(grade is not None for grade in top) / len(top) if top else None


def relevant_at(ranked: RankedGrades, cutoff: int) -> float:
    """Number of relevant results within the first `cutoff` ranks: the numerator of recall.

    >>> relevant_at(RankedGrades((1, None, 1)), 2)
    1.0
    """
    return float(sum(ranked.relevance(cutoff)))


def rank_biased_precision(ranked: RankedGrades, persistence: float = 0.8) -> float:
    """Share of relevant results seen by a reader who goes on from each with `persistence`.

    ``RBP(p) = (1 - p) sum of p^(rank - 1)`` over the relevant ranks (Moffat & Zobel 2008). What
    is unjudged, and all below the last rank, is its residual.

    >>> round(rank_biased_precision(RankedGrades((1, 0, 1))), 3)  # 0.2 + 0.2 * 0.64
    0.328
    """
    weights = (persistence**i for i, relevant in enumerate(ranked.relevance()) if relevant)
    return (1 - persistence) * fsum(weights)


def rbp_with_residual(ranked: RankedGrades, persistence: float = 0.8) -> float:
    """The same if all that is not known were relevant.

    It adds the weights of the unjudged ranks, those of the tail too, and ``p^n`` for all ranks
    below the last.

    >>> round(rbp_with_residual(RankedGrades((1, None, 1))), 3)  # 0.328 + 0.16 + 0.512
    1.0
    """
    best = replace(ranked, listed=ranked.ranks, tail=()).at_best()
    return rank_biased_precision(best, persistence) + persistence ** len(best.listed)


def expected_reciprocal_rank(ranked: RankedGrades, cutoff: int) -> float:
    """Mean of 1 / rank at which a reader stops whom each result satisfies by its grade.

    ``ERR@k = sum over ranks i of R_i / i x product of (1 - R_j) over the ranks above``, with
    ``R = (2^grade - 1) / 2^g`` and *g* the highest grade of the study (Chapelle et al. 2009).
    It never falls when a grade rises, since all that is won below rank i is worth less than
    1 / i. An empty list is 0.

    >>> expected_reciprocal_rank(RankedGrades((1, 1)), 10)  # 1/2 + 1/2 * 1/2 / 2
    0.625
    """
    expected, going_on = 0.0, 1.0
    for rank, grade in enumerate(ranked.grades(cutoff), 1):
        stops = (2**grade - 1) / 2**ranked.scale.top
        expected += going_on * stops / rank
        going_on *= 1 - stops
    return expected


def ndcg_at(ranked: RankedGrades, cutoff: int, *, exponential: bool = False) -> float | None:
    """Discounted gain of the first `cutoff` ranks over that of the ideal order of the pool.

    ``DCG = sum of gain / log2(rank + 1)`` with the gain ``grade`` (Jarvelin & Kekalainen
    2002) or ``2^grade - 1`` (Burges et al. 2005). Undefined where no judged item has a gain:
    an item below the grade of relevance has one too.

    >>> ndcg_at(RankedGrades((0, 2), pool=(0, 2), scale=Scale(top=2)), 1)
    0.0
    """
    best_grades = sorted(ranked.pool, reverse=True)[:cutoff]
    ideal = _gain(best_grades, exponential=exponential)
    return _gain(ranked.grades(cutoff), exponential=exponential) / ideal if ideal else None


def _gain(grades: Iterable[int], *, exponential: bool) -> float:
    gains = (2**grade - 1 if exponential else grade for grade in grades)
    return fsum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def recall_at(ranked: RankedGrades, cutoff: int) -> float | None:
    """Share of the R relevant items that are within the first `cutoff` ranks.

    >>> recall_at(RankedGrades((1, 0), pool=(1, 0, 1)), 10)
    0.5
    """
    n_relevant = ranked.n_relevant
    return relevant_at(ranked, cutoff) / n_relevant if n_relevant else None


def r_precision(ranked: RankedGrades) -> float | None:
    """Precision at rank R, divided by R however short the list is.

    >>> r_precision(RankedGrades((1, 0, 1), pool=(1, 0, 1)))
    0.5
    """
    return recall_at(ranked, ranked.n_relevant)


def average_precision(ranked: RankedGrades) -> float | None:
    """Sum of the precisions at the ranks of the relevant results, over R.

    >>> average_precision(RankedGrades((1, 0, 1), pool=(1, 0, 1, 1)))  # (1/1 + 2/3) / 3
    0.5555555555555555
    """
    ranks = [rank for rank, relevant in enumerate(ranked.relevance(), 1) if relevant]
    n_relevant = ranked.n_relevant
    return fsum(n / rank for n, rank in enumerate(ranks, 1)) / n_relevant if n_relevant else None


def binary_preference(ranked: RankedGrades) -> float | None:
    """How seldom a judged not relevant result is ranked above a relevant one, over R.

    ``bpref = 1/R sum of 1 - min(above, R) / min(N, R)``: over the relevant results, *above*
    the not relevant ones above and *N* those of the pool; unjudged and "cannot tell" results
    are passed over (Buckley & Voorhees 2004, as trec_eval computes it).

    >>> binary_preference(RankedGrades((1, None, 0, 1), pool=(1, 0, 1, 0)))  # (1 + 1/2) / 2
    0.75
    """
    n_relevant = ranked.n_relevant
    if not n_relevant:
        return None
    shared = min(len(ranked.pool) - n_relevant, n_relevant)
    above, terms = 0, []
    for grade in ranked.ranks:
        if not isinstance(grade, int):
            continue
        if grade < ranked.scale.relevant_from:
            above += 1
        else:
            terms.append(1 - min(above, n_relevant) / shared if above else 1.0)
    return fsum(terms) / n_relevant


def inferred_ap(ranked: RankedGrades) -> float | None:
    """Average precision in which the judged results above speak for the unjudged ones.

    At a relevant result of rank i: ``1/i + (i-1)/i x pooled/(i-1) x (r + e)/(r + n + 2e)``,
    with the *r* relevant, *n* not relevant and *pooled* judged or open results above it, and
    e = 0.00001; summed over R (Yilmaz & Aslam 2006, as trec_eval computes it). Results of the
    list without a grade are pooled; those of the tail are not relevant.

    >>> round(inferred_ap(RankedGrades((None, 1), pool=(1,))), 6)  # 1/2 + 1/2 * 1 * 1/2
    0.75
    """
    n_relevant = ranked.n_relevant
    # The results above the current rank, by kind.
    relevant = judged = ungraded = 0
    terms = []
    for rank, grade in enumerate(ranked.ranks, 1):
        if not isinstance(grade, int):
            is_open = grade is None and rank <= len(ranked.listed)
            ungraded += grade == "unsure" or is_open
            continue
        if grade >= ranked.scale.relevant_from:
            share = (relevant + 1e-5) / (judged + 2e-5)
            terms.append((1 + (judged + ungraded) * share) / rank)
            relevant += 1
        judged += 1
    return fsum(terms) / n_relevant if n_relevant else None


class Form(Struct, frozen=True):
    """How the figures of one form of names, as ``P@k``, are computed.

    ``value`` and ``highest``, the upper bound, take the grades and the number in the name,
    where it has one. No bounds are claimed of the figures that need the grades of the pool.
    """

    value: Callable[..., float | None]
    highest: Callable[..., float | None] | None = None


def _bounded(value: Callable[..., float | None]) -> Form:
    return Form(value, lambda ranked, *number: value(ranked.at_best(), *number))


def _of_list(value: Callable[..., float | None]) -> Callable[..., float | None]:
    """The figure of the method as one of rankings: open results stay in the denominator."""
    return lambda ranked, *number: value(ranked.relevance(), *number)


def _of_pool(name: str, value: Callable[..., float | None]) -> dict[str, Form]:
    return {name: Form(value), f"{name} (trec_eval)": _of_qrels(value)}


def _of_qrels(value: Callable[..., float | None]) -> Form:
    """0 where a figure is undefined, but no value where the qrels have no line of the question."""
    return Form(lambda ranked, *number: (value(ranked, *number) or 0.0) if ranked.pool else None)


_SUCCESS = _bounded(_of_list(queries.success))
_RECIPROCAL_RANK = _bounded(_of_list(queries.reciprocal_rank))
_RBP = Form(rank_biased_precision, rbp_with_residual)
FORMS = {
    "P@k": _bounded(_of_list(queries.precision_at)),
    "P@k (trec_eval)": _of_qrels(lambda ranked, k: relevant_at(ranked, k) / k),
    "success": _SUCCESS,
    "success@k": _SUCCESS,
    "RR": _RECIPROCAL_RANK,
    "RR@k": _RECIPROCAL_RANK,
    **_of_pool("nDCG@k", ndcg_at),
    "nDCG@k (exponential)": Form(partial(ndcg_at, exponential=True)),
    "ERR@k": _bounded(expected_reciprocal_rank),
    "RBP": _RBP,
    "RBP(p)": _RBP,
    "Judged@k": Form(judged_at, judged_at),
    "relevant@k": _bounded(relevant_at),
    **_of_pool("recall@k", recall_at),
    **_of_pool("R-precision", r_precision),
    **_of_pool("AP", average_precision),
    **_of_pool("bpref", binary_preference),
    **_of_pool("infAP", inferred_ap),
}
"""Every form of names; k is a whole number from 1 to 1000, p between 0 and 1."""
_BY_FORM = {form.casefold(): form for form in FORMS}
_NUMBER = r"@([1-9][0-9]{0,2}|1000)|\((0?\.[0-9]{1,4})\)"
_NAME = re.compile(rf"([a-z-]+)(?:{_NUMBER})?( \([a-z_]+\))?", re.IGNORECASE | re.ASCII)


class UnknownFigure(Refused):
    """No ranking figure has the name that is the argument."""

    message = mark("There is no figure of the name %(name)s")
    remedy = mark(
        "Use one of these names, k being a whole number from 1 to 1000 and p between 0 and 1: "
        "%(forms)s."
    )

    def __init__(self, name: str) -> None:
        super().__init__(name, forms=", ".join(FORMS))


class RankingFigure(Struct, frozen=True):
    """A figure as a study names it; ``family`` is its key in ``registry.RANKING``."""

    name: str
    family: str
    form: Form
    cutoff: int | None = None
    persistence: float | None = None

    def of(self, ranked: RankedGrades) -> Span:
        """The value so far and its bounds: three times ``None`` where it is undefined.

        Only the value is there where no bounds are claimed.
        """
        number = [part for part in (self.cutoff, self.persistence) if part is not None]
        value = self.form.value(ranked, *number)
        if self.form.highest is None or value is None:
            return Span(value, None, None)
        return Span(value, value, self.form.highest(ranked, *number))

    @property
    def needs_pool(self) -> bool:
        return self.form.highest is None


@lru_cache
def judged_companions(names: tuple[str, ...]) -> Mapping[str, str]:
    """The ``Judged@k`` to show beside each ranking figure that has no bounds, by its name.

    Without a cut-off it is that of the whole list.

    >>> judged_companions(("nDCG@10", "P@5", "AP", "Judged@10", "mrr"))
    {'nDCG@10': 'Judged@10', 'AP': 'Judged@1000'}
    """
    figures = {name: ranking_figure(name) for name in names if name not in HEADLINES}
    of_pool = {name: figure for name, figure in figures.items() if figure.needs_pool}
    return {name: f"Judged@{figure.cutoff or 1000}" for name, figure in of_pool.items()}


def with_judged(names: Sequence[str]) -> tuple[str, ...]:
    """`names`, each figure without bounds followed by its ``Judged@k`` unless that is there.

    >>> with_judged(["nDCG@5", "AP", "Judged@5"])
    ('nDCG@5', 'AP', 'Judged@1000', 'Judged@5')
    """
    companions = judged_companions(tuple(names))
    missing = {name: judged for name, judged in companions.items() if judged not in names}
    pairs = ((name, missing.get(name, name)) for name in names)
    return tuple(dict.fromkeys(chain.from_iterable(pairs)))


def ranking_names(names: Sequence[str]) -> tuple[str, ...]:
    """The ranking figures among `names`, and what is shown beside them."""
    return tuple(name for name in with_judged(names) if name not in HEADLINES)


class StudySettings(Protocol):
    """The columns of a study that say which figures it shows."""

    @property
    def measures(self) -> Sequence[str] | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def scale(self) -> Mapping[str, Any] | None: ...


def headline_of(study: StudySettings) -> tuple[str, ...]:
    """The names of the figures that pages of a study show first, in order.

    Each is one of ``figures.HEADLINES`` or one that ``ranking_figure`` knows.
    """
    return tuple(study.measures) if study.measures else usual_headline(study)


def usual_headline(study: StudySettings) -> tuple[str, ...]:
    """The figures of a study whose owner chose none: by its kind of items and its scale."""
    of_kind = KINDS[study.kind].headlines or HEADLINES
    graded = Scale.stored(study.scale).top > 1
    return tuple(name for name in of_kind if graded or name != "nDCG@10")


def is_pooled(study: StudySettings) -> bool:
    """Whether its figures rest on all that was judged for a question, not on lists alone."""
    return KINDS[study.kind].of_collection or bool(ranking_names(headline_of(study)))


@lru_cache(maxsize=4096)
def spans_of(ranked: RankedGrades, names: tuple[str, ...]) -> Mapping[str, Span]:
    """The ranking figures of one list by `names`, in that order."""
    return {name: ranking_figure(name).of(ranked) for name in names}


@lru_cache(maxsize=256)
def ranking_figure(name: str) -> RankingFigure:
    """The figure of a name, in any case of its letters; it gets its usual spelling.

    Raises ``UnknownFigure``.

    >>> ranking_figure("ndcg@10").name, ranking_figure("RBP(.80)").name
    ('nDCG@10', 'RBP(0.8)')
    """
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise UnknownFigure(name)
    head, k, p, variant = match.groups()
    form = _BY_FORM.get(f"{head}{'@k' if k else ''}{'(p)' if p else ''}{variant or ''}".casefold())
    if form is None or (p and not float(p)):
        raise UnknownFigure(name)
    cutoff, persistence = int(k) if k else None, float(p) if p else None
    spelled = form.replace("@k", f"@{cutoff}").replace("(p)", f"({persistence})")
    return RankingFigure(spelled, re.split("[@( ]", form)[0], FORMS[form], cutoff, persistence)
