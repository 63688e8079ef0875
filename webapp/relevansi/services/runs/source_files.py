"""The source files of a database, compared by their hashes with files on the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import file_digest
from pathlib import Path, PureWindowsPath

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.evaluations import Evaluation
from relevansi.db.tables.runs import RunFile
from relevansi.i18n import mark


class RecordedFile(Struct, frozen=True):
    """A source file as recorded; the message ``origin`` with its ``id`` says what came of it."""

    origin: str
    id: str
    name: str
    sha256: str

    @property
    def base(self) -> str:
        """The name without the folders that were stated with it."""
        return PureWindowsPath(self.name).name  # which has either slash between folders


class DiskFile(Struct, frozen=True):
    """A file on the disk; ``is_named`` where the user named the file itself, not its folder."""

    path: Path
    sha256: str
    is_named: bool


class SourceComparison(Struct, frozen=True):
    """The files on the disk beside the recorded ones.

    ``differing`` have the name of a recorded file and other contents, ``absent`` are recorded
    files that were not found, ``unknown`` were named by the user and are no recorded file.
    """

    equal: tuple[RecordedFile, ...]
    differing: tuple[tuple[RecordedFile, DiskFile], ...]
    absent: tuple[RecordedFile, ...]
    unknown: tuple[DiskFile, ...]


def recorded(session: Session) -> list[RecordedFile]:
    """Return every source file of the database: those of runs, then of evaluations."""
    runs = session.execute(
        select(RunFile.run_id, RunFile.name, RunFile.sha256).order_by(RunFile.id)
    )
    sources = [RecordedFile(mark("run %(id)s"), *row) for row in runs]
    evaluations = session.execute(
        select(Evaluation.id, Evaluation.files).order_by(Evaluation.created_at, Evaluation.id)
    )
    for evaluation_id, files in evaluations:
        origin = mark("evaluation %(id)s")
        sources += [
            RecordedFile(origin, evaluation_id, file["name"], file["sha256"]) for file in files
        ]
    return sources


def files_below(paths: Iterable[Path]) -> Iterator[DiskFile]:
    """The files among `paths` and those in the folders among them."""
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in filter(Path.is_file, inside):
            with file.open("rb") as opened:
                yield DiskFile(file, file_digest(opened, "sha256").hexdigest(), file == path)


def compare(recorded: Sequence[RecordedFile], on_disk: Sequence[DiskFile]) -> SourceComparison:
    """Return which of the files on the disk are the recorded ones, by their SHA-256.

    A file with the name of a recorded one differs only where that one is nowhere else and the
    file is not another recorded one: every run has a ``test_results_latest.json``.
    """
    hashes_on_disk = {file.sha256 for file in on_disk}
    hashes = {file.sha256 for file in recorded}
    missed = [file for file in recorded if file.sha256 not in hashes_on_disk]
    strange = [file for file in on_disk if file.sha256 not in hashes]
    pairs = [(file, copy) for file in missed for copy in strange if copy.path.name == file.base]
    changed, copies = [file for file, _ in pairs], [copy for _, copy in pairs]
    return SourceComparison(
        equal=tuple(file for file in recorded if file.sha256 in hashes_on_disk),
        differing=tuple(pairs),
        absent=tuple(file for file in missed if file not in changed),
        unknown=tuple(file for file in strange if file.is_named and file not in copies),
    )
