from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from relevansi.services.runs import source_files
from relevansi.services.runs.source_files import DiskFile, RecordedFile, SourceComparison

A, B = (RecordedFile("run %(id)s", run_id, "api/results.json", run_id * 64) for run_id in "ab")


def on_disk(path: str, content: str, *, named: bool = False) -> DiskFile:
    return DiskFile(Path(path), content * 64, named)


def test_a_file_on_the_disk_is_known_by_its_hash_then_by_its_name() -> None:
    same = on_disk("kept/elsewhere.json", "a")
    changed = on_disk("data/results.json", "c")
    windows = replace(A, name="C:\\data\\api\\results.json")
    notes, named = on_disk("data/notes.txt", "c"), on_disk("other.json", "d", named=True)

    assert source_files.compare([A], [same]) == SourceComparison((A,), (), (), ())
    assert source_files.compare([A], [changed]) == SourceComparison((), ((A, changed),), (), ())
    assert source_files.compare([windows], [changed]).differing == ((windows, changed),)
    # A file of the same name that is another run's differs from none.
    of_b = on_disk("b/results.json", "b")
    assert source_files.compare([A, B], [of_b]) == SourceComparison((B,), (), (A,), ())
    # Only files that the user named are told where nothing was made of them.
    assert source_files.compare([A], [notes, named]) == SourceComparison((), (), (A,), (named,))
