"""Retrieved chunks against an expected answer: which words they share.

Words are split at blanks, case and punctuation kept, and each side is a set. A zero
denominator gives 0: nothing expected or nothing retrieved shares nothing.
"""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct, field

from relevansi.metrics.numbers import Numbers

CHUNK_FIGURES = ("iou", "recall", "precision", "precision_omega", "f1")
"""The figures of an item, and the means of the summary, in the order in which they are shown."""


class ChunkRow(Struct, frozen=True):
    """One question with the chunks that were retrieved for it, by a named strategy or none."""

    row_id: str
    question: str
    expected_answer: str
    retrieved_chunks: tuple[str, ...]
    strategy: str | None = None


class ChunkScore(Struct, frozen=True):
    """One row scored, with its common, missed (expected only) and surplus (retrieved only) words.

    ``chunk_words`` holds the common words of each chunk, in the order of the chunks.
    """

    row: ChunkRow
    common: frozenset[str]
    missed: frozenset[str]
    surplus: frozenset[str]
    chunk_words: tuple[frozenset[str], ...]
    iou: float
    recall: float
    precision: float
    precision_omega: float
    f1: float


def score(row: ChunkRow) -> ChunkScore:
    """Return the score of a row: the words of its chunks against those of the expected answer.

    iou = common / union; recall = common / expected; precision = common / retrieved;
    precision_omega = precision x (iou + recall) / 2; f1 = 2 common / (expected + retrieved),
    the harmonic mean of precision and recall.

    >>> row = score(ChunkRow("1", "?", "rumah di cemara", ("rumah besar", "di Cemara")))
    >>> row.iou, round(row.recall, 4), row.precision, round(row.precision_omega, 4)
    (0.4, 0.6667, 0.5, 0.2667)
    """
    expected = frozenset(row.expected_answer.split())
    chunk_words = [frozenset(chunk.split()) for chunk in row.retrieved_chunks]
    retrieved = frozenset[str]().union(*chunk_words)
    common = expected & retrieved
    iou = _share(len(common), len(expected | retrieved))
    recall = _share(len(common), len(expected))
    precision = _share(len(common), len(retrieved))
    return ChunkScore(
        row=row,
        common=common,
        missed=expected - retrieved,
        surplus=retrieved - expected,
        chunk_words=tuple(words & expected for words in chunk_words),
        iou=iou,
        recall=recall,
        precision=precision,
        precision_omega=precision * (iou + recall) / 2,
        f1=_share(2 * len(common), len(expected) + len(retrieved)),
    )


class ChunkMeans(Struct):
    """The means over the rows added; order does not matter."""

    count: int = 0
    _scores: dict[str, Numbers] = field(default_factory=lambda: defaultdict(Numbers))

    def add(self, score: ChunkScore) -> None:
        self.count += 1
        for name in CHUNK_FIGURES:
            self._scores[name].add(getattr(score, name))

    def figures(self) -> dict[str, float | None]:
        """Return the number of rows, and every mean by name, ``None`` without rows."""
        return {"count": self.count} | {name: self._scores[name].mean for name in CHUNK_FIGURES}


def _share(part: int, total: int) -> float:
    return part / total if total else 0.0
