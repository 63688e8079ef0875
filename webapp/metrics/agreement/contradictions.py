"""Where runs that were judged by hand apart from one another contradict each other.

The same question and the same property cannot be right in one run and wrong in another. A
*pair* is (question, property). A run's repetitions of a property in one answer are one
verdict. A run that says both of one pair contradicts itself: which of the two it
means cannot be known, so it has no verdict on that pair, which is reported apart and
neither counted as judged by it nor in what it favours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from webapp.metrics.comparisons.sign_test import sign_test

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
