from __future__ import annotations

import pytest

from relevansi.metrics.evaluations.answers import AnswerSummary
from relevansi.metrics.evaluations.chunks import CHUNK_FIGURES, ChunkRow, score
from relevansi.metrics.evaluations.json_answers import CLASSES, WEIGHTS
from relevansi.metrics.evaluations.registry import (
    ANSWER_MEASURES,
    CHUNK_MEASURES,
    EVALUATIONS,
    JSON_MEASURES,
)


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
    scores = score(ChunkRow("1", "?", expected, tuple(chunks)))

    assert (scores.iou, scores.recall, scores.precision, scores.precision_omega, scores.f1) == (
        pytest.approx(figures)
    )


def test_a_score_has_the_words_behind_its_figures() -> None:
    scores = score(ChunkRow("1", "?", "rumah di cemara", ("rumah besar", "di Cemara")))

    assert scores.common == {"rumah", "di"}
    assert scores.missed == {"cemara"}
    assert scores.surplus == {"besar", "Cemara"}
    assert scores.chunk_words == (frozenset({"rumah"}), frozenset({"di"}))


def test_no_figure_is_without_its_explanation() -> None:
    assert list(ANSWER_MEASURES) == [figure["name"] for figure in AnswerSummary().figures()]
    assert tuple(CHUNK_MEASURES) == CHUNK_FIGURES
    for group in EVALUATIONS.values():
        assert {name for figure in group.advice for name in figure.figures} <= set(group.measures)
    assert set(WEIGHTS) - set(CLASSES) < set(JSON_MEASURES)
    assert {"eval_score_avg", "schema_pass_rate", "gate_passed", "classes"} < set(JSON_MEASURES)
