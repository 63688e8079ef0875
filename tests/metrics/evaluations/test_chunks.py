"""Chunks worked out by hand."""

from __future__ import annotations

import pytest

from webapp.metrics.evaluations.chunks import ChunkRow, ChunkSummary, score


@pytest.mark.parametrize(
    ("expected", "chunks", "figures"),
    [
        # 2 common; 3 expected, 4 retrieved, 5 of either: omega 1/2 x (2/5 + 2/3) / 2 = 4/15.
        ("rumah di cemara", ["rumah besar", "di Cemara"], (2 / 5, 2 / 3, 1 / 2, 4 / 15, 4 / 7)),
        ("a b", ["a b", "b a"], (1, 1, 1, 1, 1)),
        ("a", ["A", "a."], (0, 0, 0, 0, 0)),  # case and punctuation count
        ("", ["a"], (0, 0, 0, 0, 0)),
        ("a", [], (0, 0, 0, 0, 0)),
        ("", [], (0, 0, 0, 0, 0)),
        ("a a a b", ["a"], (1 / 2, 1 / 2, 1, 1 / 2, 2 / 3)),  # repetitions do not count
    ],
)
def test_the_figures_of_a_row(expected: str, chunks: list[str], figures: tuple[float, ...]) -> None:
    found = score(ChunkRow("1", "?", expected, tuple(chunks)))

    assert (found.iou, found.recall, found.precision, found.precision_omega, found.f1) == (
        pytest.approx(figures)
    )


def test_the_words_behind_the_figures_are_there_to_be_shown() -> None:
    found = score(ChunkRow("1", "?", "rumah di cemara", ("rumah besar", "di Cemara")))

    assert found.common == {"rumah", "di"}
    assert found.missed == {"cemara"}
    assert found.surplus == {"besar", "Cemara"}
    assert found.chunk_words == (frozenset({"rumah"}), frozenset({"di"}))


def test_strategies_stand_side_by_side() -> None:
    summary = ChunkSummary()
    for strategy, chunk in (("kecil", "a"), ("besar", "a b"), ("besar", "c"), (None, "a b")):
        summary.add(score(ChunkRow("1", "?", "a b", (chunk,), strategy)))

    assert summary.overall.figures()["recall"] == 0.625  # 1/2, 1, 0, 1
    assert {name: part.figures()["recall"] for name, part in summary.strategies.items()} == {
        "kecil": 0.5,
        "besar": 0.5,
        None: 1.0,
    }


def test_no_rows_have_no_means() -> None:
    assert set(ChunkSummary().overall.figures().values()) == {None}
