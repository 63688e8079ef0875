"""Agreement in a study, taken apart: overall, per pair of raters, per category, over time.

Three kinds of items: cards (a verdict per judged thing), empty lists (the same, counted
apart), and the quality of whole answers. Every figure is one of ``metrics.agreement.agreement``.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import combinations
from math import ceil
from operator import itemgetter
from typing import TypeAlias

from msgspec import Struct

from webapp.metrics.agreement.agreement import Agreement, Bootstrap, Rows, Scale, agreements
from webapp.metrics.comparisons.differences import sign_test
from webapp.records import EmptyOutcome, Relevance

MOST_PARTS = 10
LEAST_PART = 10
"""Over time the items are cut into ten parts, or fewer so that each holds ten items."""

_VERDICTS: Mapping[str, int] = {
    Relevance.RELEVANT: 1,
    Relevance.NOT_RELEVANT: 0,
    EmptyOutcome.CORRECT_EMPTY: 1,
    EmptyOutcome.FALSE_NEGATIVE: 0,
}
MOST_KEPT = 1024
"""The agreement of so many tables is kept, those last asked for."""

_QUALITIES = tuple(range(6))
_BOTH_VERDICTS = (0, 1)


class ItemKind(StrEnum):
    """The kinds of items that raters judge: cards, empty lists, quality."""

    CARDS = "cards"
    EMPTY_LISTS = "empty_lists"
    QUALITY = "quality"

    @property
    def scale(self) -> Scale:
        """The scale of the labels: verdicts are names, quality is an order."""
        return Scale.ORDINAL if self is ItemKind.QUALITY else Scale.NOMINAL

    @property
    def labels(self) -> tuple[int, ...]:
        """Every label that could have been used."""
        return _QUALITIES if self is ItemKind.QUALITY else _BOTH_VERDICTS


class CannotTell(Struct, frozen=True):
    """How many of the judgments given are "cannot tell"."""

    n_cannot_tell: int
    n_judged: int

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; ``None`` when nothing was judged."""
        return self.n_cannot_tell / self.n_judged if self.n_judged else None


class LabelledItem(Struct, frozen=True):
    """One thing to agree on, with each rater's label of it (a verdict, or a quality 0-5).

    ``first`` is when it was first judged, ``None`` if that is not known.
    """

    category: str
    said: Mapping[str, str | float]
    first: datetime | None = None


class PairAgreement(Struct, frozen=True):
    """Two raters over the items that both decided."""

    raters: tuple[str, str]
    agreement: Agreement


class CategoryAgreement(Struct, frozen=True):
    """All raters over the items of one category."""

    category: str
    n_items: int
    agreement: Agreement


class PartAgreement(Struct, frozen=True):
    """All raters over one part (from 1) of the items, in the order of their first judgment."""

    part: int
    n_items: int
    first: datetime
    last: datetime
    agreement: Agreement


class KindAgreement(Struct, frozen=True):
    """Agreement on one kind of items, by the raters who judged any of them.

    ``n_items`` have a judgment of any rater, "cannot tell" included. ``cannot_tell`` is over
    all raters and ``cannot_tell_by`` for each; for empty lists and quality they are ``None``
    and empty, as only cards have this verdict.
    """

    kind: ItemKind
    raters: tuple[str, ...]
    n_items: int
    cannot_tell: CannotTell | None
    cannot_tell_by: Mapping[str, CannotTell]
    overall: Agreement
    pairs: tuple[PairAgreement, ...]
    categories: tuple[CategoryAgreement, ...]
    over_time: tuple[PartAgreement, ...]

    @property
    def n_shared(self) -> int:
        """How many items two raters or more decided."""
        return self.overall.raw.n


class Consistency(Struct, frozen=True):
    """One rater's second labels of one kind of hidden repeats against the labels in force.

    ``asked`` were shown to the rater again, ``answered`` of them got a second verdict or
    grade; the coefficients are over those that were decided both times.
    """

    rater: str
    kind: ItemKind
    asked: int
    answered: int
    agreement: Agreement


class AgreementReport(Struct, frozen=True):
    """Agreement in a study, kind by kind, and how each rater agrees with themselves."""

    raters: tuple[str, ...]
    kinds: tuple[KindAgreement, ...]
    repeats: tuple[Consistency, ...]
    bootstrap: Bootstrap


def of_kind(
    kind: ItemKind, raters: Sequence[str], items: Sequence[LabelledItem], bootstrap: Bootstrap
) -> KindAgreement:
    """The agreement of `raters` on `items`, whose order is that of the categories.

    Raters without any judgment are left out: they share no item with other raters.
    """
    judged = [item for item in items if item.said]
    active = [name for name in raters if any(name in item.said for item in judged)]

    table = [tuple(_label(item.said.get(name)) for name in active) for item in judged]
    pairs = [*combinations(range(len(active)), 2)]
    categories, parts = _by_category(judged), _parts(judged)
    tables = [Counter(table)]
    tables += [Counter(map(itemgetter(*pair), table)) for pair in pairs]
    tables += [Counter(table[number] for number in members) for members in categories.values()]
    tables += [Counter(table[number] for number in members) for _, _, members in parts]
    overall, *measured = _measured(tables, kind, bootstrap)
    found = iter(measured)
    everybody, by_rater = _cannot_tell(active, judged) if kind is ItemKind.CARDS else (None, {})
    return KindAgreement(
        kind=kind,
        raters=tuple(active),
        n_items=len(judged),
        cannot_tell=everybody,
        cannot_tell_by=by_rater,
        overall=overall,
        pairs=tuple(
            PairAgreement((active[one], active[other]), next(found)) for one, other in pairs
        ),
        categories=tuple(
            CategoryAgreement(category, len(members), next(found))
            for category, members in categories.items()
        ),
        over_time=tuple(
            PartAgreement(number, len(members), since, until, next(found))
            for number, (since, until, members) in enumerate(parts, start=1)
        ),
    )


def consistency(
    rater: str,
    kind: ItemKind,
    repeats: Sequence[tuple[str | float | None, str | float | None]],
    bootstrap: Bootstrap,
) -> Consistency:
    """How one rater agrees with themselves over (standing, second) verdicts or grades."""
    table: Rows = Counter((_label(standing), _label(second)) for standing, second in repeats)
    answered = sum(second is not None for _, second in repeats)
    (found,) = _measured([table], kind, bootstrap)
    return Consistency(rater, kind, len(repeats), answered, found)


def _measured(tables: Sequence[Rows], kind: ItemKind, bootstrap: Bootstrap) -> list[Agreement]:
    """The agreement of each table, kept: resampling takes long, and most tables stay the same."""
    keys = [(kind, bootstrap, frozenset(rows.items())) for rows in tables]
    found = {key: kept for key in keys if (kept := _KEPT.pop(key, None)) is not None}
    new = {key: rows for key, rows in zip(keys, tables, strict=True) if key not in found}
    measured = agreements(
        [*new.values()], scale=kind.scale, labels=kind.labels, bootstrap=bootstrap
    )
    found.update(zip(new, measured, strict=True))
    _KEPT.update(found)
    while len(_KEPT) > MOST_KEPT:
        _KEPT.popitem(last=False)
    return [found[key] for key in keys]


_Kept: TypeAlias = "tuple[ItemKind, Bootstrap, frozenset[tuple[tuple[int | None, ...], int]]]"
_KEPT: OrderedDict[_Kept, Agreement] = OrderedDict()


def _label(said: str | float | None) -> int | None:
    if isinstance(said, str):
        return _VERDICTS.get(said)
    return None if said is None else int(said)


def _cannot_tell(
    raters: Sequence[str], items: Sequence[LabelledItem]
) -> tuple[CannotTell, dict[str, CannotTell]]:
    by_rater = {}
    for name in raters:
        given = [item.said[name] for item in items if name in item.said]
        by_rater[name] = CannotTell(given.count(Relevance.UNSURE), len(given))
    everybody = CannotTell(
        sum(own.n_cannot_tell for own in by_rater.values()),
        sum(own.n_judged for own in by_rater.values()),
    )
    return everybody, by_rater


def _by_category(items: Iterable[LabelledItem]) -> dict[str, list[int]]:
    """The places of the items of each category."""
    found: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        found.setdefault(item.category, []).append(number)
    return found


def _parts(items: Sequence[LabelledItem]) -> list[tuple[datetime, datetime, list[int]]]:
    """The places of dated items in parts of equal size, each with its time; the earliest first."""
    dated = [(item.first, number) for number, item in enumerate(items) if item.first is not None]
    ordered = sorted(dated)
    if not ordered:
        return []
    size = ceil(len(ordered) / max(1, min(MOST_PARTS, len(ordered) // LEAST_PART)))
    cuts = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return [(cut[0][0], cut[-1][0], [number for _, number in cut]) for cut in cuts]


Pair = tuple[int, str]


class VerdictByHand(Struct, frozen=True):
    """One verdict by hand on one card of a run; `property_id` is the property's identity."""

    run: str
    query_id: int
    property_id: str
    passed: bool


class Contradiction(Struct, frozen=True):
    """A pair that passed in one run and failed in another; run to whether it passed."""

    query_id: int
    property_id: str
    verdicts: Mapping[str, bool]


class SelfContradiction(Struct, frozen=True):
    """A pair that one run both passed and failed."""

    run: str
    query_id: int
    property_id: str


class SignTest(Struct, frozen=True):
    """Two runs over the pairs on which they contradict each other.

    `favours_a` pairs passed in the first run only, `favours_b` in the second only; `p` is
    two-sided and exact, 1 where they never contradict each other.
    """

    runs: tuple[str, str]
    favours_a: int
    favours_b: int
    p: float


class ConflictReport(Struct, frozen=True):
    """The verdicts that runs give on the same pairs, compared.

    `pairs_judged_more_than_once` have a verdict from two runs or more. `favours` counts, for
    every run, its passes among the contradictions. One sign test per two runs.
    """

    pairs_judged_more_than_once: int
    contradictions: tuple[Contradiction, ...]
    favours: Mapping[str, int]
    sign_tests: tuple[SignTest, ...]
    self_contradictions: tuple[SelfContradiction, ...]


def conflicts(verdicts: Iterable[VerdictByHand], runs: Sequence[str]) -> ConflictReport:
    """The contradictions among `verdicts`, by question and property, and how they lean.

    `runs` fixes the runs and their order; a run without a verdict counts 0.

    >>> hybrid = VerdictByHand("hybrid", 1, "slug:a", True)
    >>> cemara = [hybrid, VerdictByHand("api_only", 1, "slug:a", False)]
    >>> conflicts(cemara, ["hybrid", "api_only"]).favours
    {'hybrid': 1, 'api_only': 0}
    """
    said = _said(verdicts)
    judged = {pair: _clear(by_run, runs) for pair, by_run in said.items()}
    shared = {pair: by_run for pair, by_run in judged.items() if len(by_run) > 1}
    found = tuple(
        Contradiction(*pair, by_run)
        for pair, by_run in sorted(shared.items())
        if len(set(by_run.values())) > 1
    )
    return ConflictReport(
        pairs_judged_more_than_once=len(shared),
        contradictions=found,
        favours={run: sum(c.verdicts.get(run, False) for c in found) for run in runs},
        sign_tests=tuple(_sign_test(found, one, other) for one, other in combinations(runs, 2)),
        self_contradictions=tuple(
            SelfContradiction(run, *pair)
            for pair, by_run in sorted(said.items())
            for run in runs
            if len(by_run.get(run, ())) > 1
        ),
    )


def _said(verdicts: Iterable[VerdictByHand]) -> dict[Pair, dict[str, set[bool]]]:
    """Pair to run to the different verdicts the run has on it."""
    said: defaultdict[Pair, dict[str, set[bool]]] = defaultdict(dict)
    for verdict in verdicts:
        by_run = said[verdict.query_id, verdict.property_id]
        by_run.setdefault(verdict.run, set()).add(verdict.passed)
    return said


def _clear(by_run: Mapping[str, set[bool]], runs: Sequence[str]) -> dict[str, bool]:
    """Run to its verdict, for the runs that have exactly one."""
    return {run: next(iter(by_run[run])) for run in runs if len(by_run.get(run, ())) == 1}


def _sign_test(found: Sequence[Contradiction], one: str, other: str) -> SignTest:
    both = [c.verdicts for c in found if one in c.verdicts and other in c.verdicts]
    favours_a = sum(v[one] and not v[other] for v in both)
    favours_b = sum(v[other] and not v[one] for v in both)
    return SignTest((one, other), favours_a, favours_b, sign_test(favours_a, favours_b))
