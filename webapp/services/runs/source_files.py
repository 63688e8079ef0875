"""The files that runs and automatic evaluations came from, beside their recorded SHA-256.

The database keeps no source file, only its name and SHA-256: a person keeps the file and has it
compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import file_digest
from pathlib import Path, PureWindowsPath

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import Evaluation
from webapp.db.tables.runs import RunFile
from webapp.i18n import mark


class RecordedFile(Struct, frozen=True):
    """A source file as it was recorded, with the id of what was made from it.

    ``made`` is the message that names it: "run %(id)s".
    """

    made: str
    id: str
    name: str
    sha256: str

    @property
    def base(self) -> str:
        """The name without the folders that were stated with it."""
        return PureWindowsPath(self.name).name  # which has either slash between folders


class FoundFile(Struct, frozen=True):
    """A file on the disk; ``named`` where the user named the file itself, not its folder."""

    path: Path
    sha256: str
    named: bool


class SourceComparison(Struct, frozen=True):
    """The files on the disk beside the recorded ones.

    ``differing`` are files with the name of a recorded file and other contents. ``absent`` are
    recorded files of which no file was found, ``unknown`` files that the user named and from
    which nothing was made.
    """

    equal: tuple[RecordedFile, ...]
    differing: tuple[tuple[RecordedFile, FoundFile], ...]
    absent: tuple[RecordedFile, ...]
    unknown: tuple[FoundFile, ...]


def recorded(session: Session) -> list[RecordedFile]:
    """Return every source file of the database: those of runs, then of evaluations."""
    runs = session.execute(
        select(RunFile.run_id, RunFile.name, RunFile.sha256).order_by(RunFile.id)
    )
    found = [RecordedFile(mark("run %(id)s"), *row) for row in runs]
    evaluations = session.execute(
        select(Evaluation.id, Evaluation.files).order_by(Evaluation.created_at, Evaluation.id)
    )
    for evaluation_id, files in evaluations:
        made = mark("evaluation %(id)s")
        found += [RecordedFile(made, evaluation_id, file["name"], file["sha256"]) for file in files]
    return found


def found(paths: Iterable[Path]) -> Iterator[FoundFile]:
    """Yield the files among `paths` and those in the folders among them."""
    for path in paths:
        if path.is_dir():
            inside = (one for one in sorted(path.rglob("*")) if one.is_file())
            yield from (FoundFile(one, _sha256(one), named=False) for one in inside)
        else:
            yield FoundFile(path, _sha256(path), named=True)


def compare(recorded: Sequence[RecordedFile], found: Sequence[FoundFile]) -> SourceComparison:
    """Return which of the files on the disk are the recorded ones, by their SHA-256.

    A file under another name is still the same file. A file with the name of a recorded one
    differs only where the recorded one is nowhere else and the file is not another recorded one:
    every run of the original scripts has a ``test_results_latest.json``.
    """
    on_disk = {file.sha256 for file in found}
    known = {file.sha256 for file in recorded}
    equal = tuple(file for file in recorded if file.sha256 in on_disk)
    missed = [file for file in recorded if file.sha256 not in on_disk]
    strange = [file for file in found if file.sha256 not in known]
    differing = [
        (file, other) for file in missed for other in strange if other.path.name == file.base
    ]
    told = {file for file, _ in differing}, {other for _, other in differing}
    return SourceComparison(
        equal=equal,
        differing=tuple(differing),
        absent=tuple(file for file in missed if file not in told[0]),
        unknown=tuple(other for other in strange if other.named and other not in told[1]),
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
