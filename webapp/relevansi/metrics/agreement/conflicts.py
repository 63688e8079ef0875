"""Verdicts by hand that contradict each other from run to run, and which way they lean."""

from __future__ import annotations

from collections import ChainMap, Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from msgspec import Struct

from relevansi.metrics.comparisons.significance import exact_p
from relevansi.records import Problem


class VerdictByHand(NamedTuple):
    """One verdict by hand on one card; `property_id` is the property's identity."""

    query_id: int
    property_id: str
    passed: bool


class JudgedRun(Struct, frozen=True):
    """A run judged by hand: number and text of its questions by query id, titles by property."""

    name: str
    verdicts: tuple[VerdictByHand, ...]
    questions: Mapping[int, tuple[int, str]] = {}
    titles: Mapping[str, str] = {}
    problems: tuple[Problem, ...] = ()


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
    To be read by people it has number and text of questions by query id, titles by property (those
    of the first run, where runs differ), and the problems of the runs' files.
    """

    pairs_judged_more_than_once: int
    contradictions: Mapping[tuple[int, str], Mapping[str, bool]]
    favours: Mapping[str, int]
    sign_tests: tuple[SignTest, ...]
    self_contradictions: tuple[tuple[str, int, str], ...]
    questions: Mapping[int, tuple[int, str]]
    titles: Mapping[str, str]
    problems: tuple[Problem, ...]


def conflicts(judged: Sequence[JudgedRun]) -> ConflictReport:
    """The contradictions of runs, by question and property, and how they lean.

    Each run has a name of its own; one without a verdict counts 0.

    >>> hybrid = JudgedRun("hybrid", (VerdictByHand(1, "slug:a", True),))
    >>> api_only = JudgedRun("api_only", (VerdictByHand(1, "slug:a", False),))
    >>> conflicts([hybrid, api_only]).favours
    {'hybrid': 1, 'api_only': 0}
    """
    runs = [run.name for run in judged]
    by_pair: defaultdict[tuple[int, str], defaultdict[str, set[bool]]]
    by_pair = defaultdict(lambda: defaultdict(set))
    for run in judged:
        for query_id, property_id, passed in run.verdicts:
            by_pair[query_id, property_id][run.name].add(passed)
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
        questions=dict(ChainMap(*(dict(run.questions) for run in judged))),
        titles=dict(ChainMap(*(dict(run.titles) for run in judged))),
        problems=tuple(problem for run in judged for problem in run.problems),
    )
