"""Dev sets: a few questions drawn from a large evaluation set, told apart by their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from webapp.importers.evaluations.expected_json import JsonQuestionSet
from webapp.metrics.evaluations import eval_sets


class DevSet(Struct, frozen=True):
    """A drawn set as its file, its version, and how many questions each topic has in it."""

    data: bytes
    version: str
    topics: Mapping[str, int]


def make(asked: JsonQuestionSet, name: str, n: int, seed: int) -> DevSet:
    """`n` questions of `asked`, in proportion to their expected main topics, in file order.

    The file is the canonical JSON itself, so the SHA-1 of its bytes is the one in its version.
    Raises ``TooFewQuestions``.
    """
    topics = [str(q.expected.get("main_topic") or "").strip() for q in asked.questions]
    positions = eval_sets.draw(topics, n, seed=seed)
    drawn = [asked.raw[position] for position in positions]
    return DevSet(
        data=eval_sets.canonical(drawn),
        version=eval_sets.version(name, drawn),
        topics=Counter(topics[position] for position in positions),
    )
