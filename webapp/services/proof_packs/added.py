"""The members that other wings add to a proof pack, and their verification.

A wing's module ``pack_part`` has ``ABOUT`` (its members and what they hold), ``SOURCES`` (what a
member is made of, where not of the verdicts), ``documents`` (their
JSON values from a study) and ``put_back`` (their rows into a study that has the pack's runs and
verdicts). What ``documents`` gives from there is what the pack must state; it sees what the pack
states, so that a method that was another one in earlier packs is used for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.exporters.proof_packs import pack
from webapp.importers.proof_packs import files as members
from webapp.importers.proof_packs.pack import ProofPack, UnreadableMember
from webapp.metrics.proof_packs import proof_files
from webapp.services.planning import pack_part
from webapp.services.proof_packs import differences as pack_differences
from webapp.services.proof_packs import packed_judgments
from webapp.services.proof_packs.differences import DifferenceKind, Differences, PackDifference
from webapp.services.proof_packs.replay import ReplayedPack
from webapp.services.runs.reports import Rule

VerdictsBefore = Callable[[int, datetime], int]


def files(
    session: Session, study: Study, found: Sequence[Run], rule: Rule
) -> Iterator[tuple[str, bytes]]:
    """Yield the members of each wing."""
    for wing in (pack_part,):
        for name, document in wing.documents(session, study, found, rule).items():
            yield name, pack.json_file(document)


def about() -> dict[str, str]:
    """Return all members that wings may add, and what they hold."""
    found: dict[str, str] = {}
    for wing in (pack_part,):
        found |= wing.ABOUT
    return found


def compare(packed: ProofPack, judged: ReplayedPack, differences: Differences) -> int:
    """Put the members of wings back, report where they differ, return how many numbers there are.

    Comparisons are made after it: a question that a wing leaves out is in no figure of theirs.
    """
    numbers = 0
    for wing in (pack_part,):
        if packed.names & wing.ABOUT.keys() and judged.rule is not None:
            stated = _stated(packed, wing.ABOUT, differences)
            if stated is not None:
                numbers += _compared(wing, packed, stated, judged, differences)
    return numbers


def _stated(
    packed: ProofPack, names: Mapping[str, str], differences: Differences
) -> dict[str, object] | None:
    """Return the members that the pack has; ``None`` if one of them cannot be read."""
    found: dict[str, object] = {}
    there = [name for name in names if name in packed.names]
    for name in there:
        try:
            found[name] = packed.json(name)
        except UnreadableMember as wrong:
            _unreadable(differences, name, wrong.why)
    return found if len(found) == len(there) else None


def _compared(
    wing: Any,
    packed: ProofPack,
    stated: Mapping[str, object],
    judged: ReplayedPack,
    differences: Differences,
) -> int:
    try:
        runs = list(dict.fromkeys(run.run for run in packed.manifest.runs))
        made = judged.with_part(wing, stated, runs, _verdicts_before(packed))
    except UnreadableMember:
        return 0  # the events, which are reported already
    except ValueError as wrong:
        # A wing's own error names its member and the place.
        _unreadable(differences, *(str(part) for part in wrong.args[:2]))
        return 0
    # As a file has it: without tuples, and every key a text.
    computed = json.loads(json.dumps(made))
    for name in computed.keys() - stated.keys() - {file.name for file in packed.manifest.files}:
        differences.add(PackDifference(DifferenceKind.MISSING, name))
    for name, document in stated.items():
        found = pack_differences.documents(document, computed.get(name))
        source = wing.SOURCES.get(name, f"{proof_files.VERDICTS}, {proof_files.EVENTS}")
        differences.add_all(DifferenceKind.FIGURE, name, source, found)
    return pack_differences.numbers(computed)


def _verdicts_before(packed: ProofPack) -> VerdictsBefore:
    events = members.events(packed).values

    def counted(question_set: int, moment: datetime) -> int:
        earlier = (event for event in events if event.received_at < moment)
        said = packed_judgments.replayed(earlier).verdicts
        return sum(thing.question_set == str(question_set) for _, thing in said)

    return counted


def _unreadable(differences: Differences, name: str, why: str) -> None:
    differences.add(PackDifference(DifferenceKind.UNREADABLE, name, (), why))
