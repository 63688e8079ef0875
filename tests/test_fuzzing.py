"""The fuzzer would tell, and what it puts in for a moment does nothing that it must not."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.fuzzed_numbers import Numbers
from tests.fuzzing import mutations, samples
from tests.fuzzing.__main__ import KINDS, shown
from tests.fuzzing.answers import Slowness, slow
from tests.fuzzing.exploring import explore
from tests.fuzzing.files import FORMATS_READ, Files
from tests.fuzzing.kinds import Found, Kind
from tests.fuzzing.requests import Requests
from tests.fuzzing.watching import watch

SEED = 7
FEW = 6
PATIENCE = 600.0  # seconds: how many inputs there are is counted, however long they take

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits are of POSIX systems")


def found(kind: Kind[object] | Kind[int], most: int, first: int = 0) -> list[Found]:
    last = first + most
    return list(explore(kind, first, going_on=lambda number: number < last, known=set()))


def test_a_seed_makes_the_same_inputs_and_another_seed_others(tmp_path: Path) -> None:
    one, same, other = (Files("gold", seed) for seed in (1, 1, 2))
    for place, kind in enumerate((one, same, other)):
        folder = tmp_path / str(place)
        folder.mkdir()
        kind.open(folder)

    inputs = [[kind.number(number) for number in range(30)] for kind in (one, same, other)]

    assert inputs[0] == inputs[1]
    assert inputs[0] != inputs[2]
    assert len(set(inputs[0])) > 25
    for kind in (one, same, other):
        kind.close()


def test_what_is_found_is_told_once_and_with_the_smallest_input() -> None:
    first, *others = found(Numbers(1), 60, first=20)

    assert others == []
    assert first.number == 27
    assert first.smallest == b"7"
    assert first.what == "ValueError: raises"
    assert "7 bytes" not in shown(first)[0]


@pytest.mark.parametrize(
    ("how", "told", "each"), [("hangs", "hang", 5.0), ("swells", "MemoryError", 60.0)]
)
def test_an_input_that_hangs_or_takes_all_memory_is_named_and_the_others_go_on(
    how: str, told: str, each: float
) -> None:
    if how == "swells" and sys.platform != "linux":
        pytest.skip("the limit on memory is Linux's")
    make = partial(Numbers, how=how)

    result = watch("numbers", make, 1, seconds=PATIENCE, first=6, most=3, seconds_each=each)

    assert [(one.number, one.what.partition(":")[0]) for one in result.found] == [(7, told)]
    assert result.inputs == 3


@pytest.mark.parametrize(("power", "ratio"), [(1, None), (2, 4.0), (3, 8.0)])
def test_time_that_grows_faster_than_the_text_is_seen(
    monkeypatch: pytest.MonkeyPatch, power: int, ratio: float | None
) -> None:
    """The clock goes as fast as the text that is read is long."""
    clock = [0.0]

    def read(text: str) -> None:
        clock[0] += (len(text) / 10_000) ** power

    monkeypatch.setattr("tests.fuzzing.answers.time.process_time", lambda: clock[0])

    told = slow(read, "x")

    assert bool(told) == (ratio is not None)
    assert told == pytest.approx((ratio, ratio) if ratio else (), rel=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["cards", *FORMATS_READ])
def test_files_and_answers_for_a_moment(name: str, tmp_path: Path) -> None:
    kind = KINDS[name](SEED)
    kind.open(tmp_path)

    assert found(kind, FEW) == []
    kind.close()


@pytest.mark.thorough
def test_requests_for_a_moment() -> None:
    """In a process of their own: they draw its tokens from the seed."""
    make = partial(Requests, most_pages=10)

    result = watch("requests", make, SEED, seconds=PATIENCE, most=FEW)

    assert result.found == []
    assert result.inputs == FEW


@pytest.mark.thorough
def test_command_lines_for_a_moment() -> None:
    result = watch("commands", KINDS["commands"], SEED, seconds=PATIENCE, most=FEW)

    assert result.found == []
    assert result.inputs == FEW


def test_spoiled_files_differ_and_are_sometimes_still_read() -> None:
    random = Random(SEED)
    spoil = mutations.by_structure_or_bytes(mutations.spoiled_json)
    made = [spoil(samples.questions(), random) for _ in range(40)]

    assert len(set(made)) > 35
    assert any(data.startswith(b"[") and data.endswith(b"]") for data in made)


def test_pieces_are_made_to_be_repeated() -> None:
    assert len({Slowness(SEED).number(number).piece for number in range(20)}) > 10
