"""Runs judged by hand apart from one another, side by side, for the command and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.importers.agreement import manual_input
from webapp.importers.runs import json_runs
from webapp.importers.runs.property_identity import identity
from webapp.metrics.agreement.contradictions import ConflictReport, VerdictByHand, conflicts
from webapp.records import Problem

RUN_FILE = "results.json"
MANUAL_FILE = "manual_input.json"


class SameFolderTwice(Refused):
    """Two runs cannot be told apart: they come from one and the same folder."""

    message = mark("The same folder is named twice")
    remedy = mark("Name the folder of each run once.")


class HandJudgedRun(Struct, frozen=True):
    """The two files of a run judged by hand: its answers and the verdicts on them."""

    name: str
    run_file: bytes
    manual_file: bytes


class NumberedQuestion(Struct, frozen=True):
    """A question as the report names it."""

    number: int
    text: str


class JudgedRun(Struct, frozen=True):
    """A run with the verdicts by hand on its cards, and the problems of its files.

    ``questions`` are by the query id of the verdicts, ``titles`` by a property's identity.
    """

    name: str
    verdicts: tuple[VerdictByHand, ...]
    questions: Mapping[int, NumberedQuestion]
    titles: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


class ConflictsOfRuns(Struct, frozen=True):
    """The conflict report of some runs, with the texts that make it readable.

    ``questions`` has each question by query id, ``titles`` each property's by identity, both as
    the first run that has one puts it.
    """

    report: ConflictReport
    questions: Mapping[int, NumberedQuestion]
    titles: Mapping[str, str]
    problems: tuple[Problem, ...]


def judged_runs(pairs: Sequence[HandJudgedRun]) -> list[JudgedRun]:
    """Return the runs that pairs of a results.json (V2) and a manual_input.json make.

    Runs of one name are told apart by a number. Raises ``ImportRefused`` for a file of which
    nothing can be used.
    """
    names = _distinct([pair.name for pair in pairs])
    return [_judged_run(name, pair) for name, pair in zip(names, pairs, strict=True)]


def in_folders(files: Mapping[str, bytes]) -> tuple[list[HandJudgedRun], list[str]]:
    """Return the pairs among `files` (by path, slashes between), and the incomplete folders.

    Other files are not looked at.

    >>> found, incomplete = in_folders({f"s/a/{RUN_FILE}": b"1", f"s/a/{MANUAL_FILE}": b"2"})
    >>> found, incomplete
    ([HandJudgedRun(name='a', run_file=b'1', manual_file=b'2')], [])
    """
    folders: dict[tuple[str, ...], dict[str, bytes]] = {}
    for path, data in files.items():
        *folder, name = path.split("/")
        if name in {RUN_FILE, MANUAL_FILE}:
            folders.setdefault(tuple(folder), {})[name] = data
    names = dict(zip(folders, run_names(list(folders)), strict=True))
    complete = [folder for folder, held in folders.items() if len(held) == 2]
    pairs = [
        HandJudgedRun(names[at], folders[at][RUN_FILE], folders[at][MANUAL_FILE]) for at in complete
    ]
    return pairs, [names[folder] for folder in folders if folder not in complete]


def compare(judged: Sequence[JudgedRun]) -> ConflictsOfRuns:
    """Return where the verdicts on the same property of the same question contradict."""
    verdicts = [verdict for run in judged for verdict in run.verdicts]
    return ConflictsOfRuns(
        report=conflicts(verdicts, [run.name for run in judged]),
        questions={key: one for run in reversed(judged) for key, one in run.questions.items()},
        titles={key: title for run in reversed(judged) for key, title in run.titles.items()},
        problems=tuple(problem for run in judged for problem in run.problems),
    )


def in_study(session: Session, study: Study) -> ConflictsOfRuns | None:
    """Return the report on the study's own runs; ``None`` if fewer than two are judged by hand.

    They are the runs on whose cards people decided one run at a time, beside gold questions.
    """
    from webapp.services.gold import judged_by_hand

    judged = list(judged_by_hand.runs(session, study))
    names = _distinct([run.name for run in judged])
    named = [_named(run, name) for run, name in zip(judged, names, strict=True)]
    return compare(named) if len(named) > 1 else None


def run_names(folders: Sequence[tuple[str, ...]]) -> list[str]:
    """Return each folder's own name, with as many of its parents' as tell it from the others.

    A folder is the parts of its path. Raises ``SameFolderTwice``.

    >>> run_names([("a", "hybrid"), ("b", "hybrid"), ("b", "api_only")])
    ['a/hybrid', 'b/hybrid', 'api_only']
    """
    if len(set(folders)) < len(folders):
        raise SameFolderTwice
    return [_shortest_tail(own, [other for other in folders if other != own]) for own in folders]


def _judged_run(name: str, pair: HandJudgedRun) -> JudgedRun:
    read = json_runs.read(f"{name}/{RUN_FILE}", pair.run_file)
    manual = manual_input.read(f"{name}/{MANUAL_FILE}", pair.manual_file)
    cards = (card for query in read.queries for card in query.cards)
    return JudgedRun(
        name=name,
        verdicts=manual_input.verdicts(manual, read, name),
        questions={q.query_id: NumberedQuestion(q.query_id, q.question) for q in read.queries},
        titles={identity(card): card.title for card in cards},
        problems=(*manual.problems, *manual_input.check_places(manual, read)),
    )


def _named(run: JudgedRun, name: str) -> JudgedRun:
    return replace(run, name=name, verdicts=tuple(replace(one, run=name) for one in run.verdicts))


def _distinct(names: Sequence[str]) -> list[str]:
    """Return `names`, each repetition with a number that no other name has."""
    found: list[str] = []
    for name in names:
        candidates = (name, *(f"{name} ({number})" for number in range(2, len(names) + 2)))
        found.append(next(free for free in candidates if free not in found))
    return found


def _shortest_tail(own: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> str:
    depth = 1
    while any(other[-depth:] == own[-depth:] for other in others):
        depth += 1
    return "/".join(own[-depth:])
