"""Verdicts by hand that contradict each other from run to run, and which way they lean."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from relevansi.metrics.comparisons.significance import exact_p
from relevansi.records import Problem


class VerdictByHand(Struct, frozen=True):
    """One verdict by hand on one card of a run; `property_id` is the property's identity."""

    run: str
    query_id: int
    property_id: str
    passed: bool


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
    """The verdicts that runs give on the same pairs of question and property, compared.

    `pairs_judged_more_than_once` have a verdict from two runs or more. `contradictions` are pairs
    that passed in one run and failed in another, with whether each run passed them. `favours`
    counts, for every run, its passes among the contradictions. One sign test per two runs.
    `self_contradictions` are (run, query id, property) that one run both passed and failed.
    To be read by people it has number and text of questions by query id, titles by property, and
    the problems of the runs' files.
    """

    pairs_judged_more_than_once: int
    contradictions: Mapping[tuple[int, str], Mapping[str, bool]]
    favours: Mapping[str, int]
    sign_tests: tuple[SignTest, ...]
    self_contradictions: tuple[tuple[str, int, str], ...]
    questions: Mapping[int, tuple[int, str]] = {}
    titles: Mapping[str, str] = {}
    problems: tuple[Problem, ...] = ()


def conflicts(verdicts: Iterable[VerdictByHand], runs: Sequence[str]) -> ConflictReport:
    """The contradictions among `verdicts`, by question and property, and how they lean.

    `runs` fixes the runs and their order; a run without a verdict counts 0.

    >>> hybrid = VerdictByHand("hybrid", 1, "slug:a", True)
    >>> cemara = [hybrid, VerdictByHand("api_only", 1, "slug:a", False)]
    >>> conflicts(cemara, ["hybrid", "api_only"]).favours
    {'hybrid': 1, 'api_only': 0}
    """
    by_pair: defaultdict[tuple[int, str], defaultdict[str, set[bool]]]
    by_pair = defaultdict(lambda: defaultdict(set))
    for verdict in verdicts:
        by_pair[verdict.query_id, verdict.property_id][verdict.run].add(verdict.passed)
    clear = {
        pair: {run: True in by_pair[pair][run] for run in runs if len(by_pair[pair][run]) == 1}
        for pair in sorted(by_pair)
    }
    contradictions = {
        pair: by_run for pair, by_run in clear.items() if len(set(by_run.values())) > 1
    }
    sign_tests = []
    for first, second in combinations(runs, 2):
        both = Counter((each.get(first), each.get(second)) for each in contradictions.values())
        favours = both[True, False], both[False, True]
        p = exact_p([1] * favours[0] + [-1] * favours[1])
        sign_tests.append(SignTest((first, second), *favours, p))
    return ConflictReport(
        pairs_judged_more_than_once=sum(len(by_run) > 1 for by_run in clear.values()),
        contradictions=contradictions,
        favours={
            run: sum(by_run.get(run, False) for by_run in contradictions.values()) for run in runs
        },
        sign_tests=tuple(sign_tests),
        self_contradictions=tuple(
            (run, *pair) for pair in clear for run in runs if len(by_pair[pair][run]) > 1
        ),
    )
