"""Evaluation sets: how one is named by its content, and how a small one is drawn from it."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from hashlib import sha1

from webapp.failures import Refused
from webapp.i18n import mark


class TooFewQuestions(Refused):
    """More questions are ``wanted`` than there are; the argument says how many there are."""

    message = mark("%(name)s questions can be used; --n asks for %(wanted)s")
    remedy = mark("Ask for fewer.")


def canonical(questions: Sequence[object]) -> bytes:
    """The canonical JSON of a set: its list of questions, keys sorted, without blanks, UTF-8.

    >>> canonical([{"id": 1, "question": "房?", "a": [1, 2]}]).decode()
    '[{"a":[1,2],"id":1,"question":"房?"}]'
    """
    text = json.dumps(questions, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def version(name: str, questions: Sequence[object]) -> str:
    """``name@<sha1>`` of a set, the SHA-1 being that of its canonical JSON.

    >>> version("dev", [])
    'dev@97d170e1550eee4afc0af065b78cda302a97674c'
    """
    return f"{name}@{sha1(canonical(questions), usedforsecurity=False).hexdigest()}"


def shares(topics: Sequence[str], n: int) -> dict[str, int]:
    """How many of `n` questions each topic gets, in proportion by the largest remainder.

    Topics with equal remainders come in the order in which they first occur.

    >>> shares(["a"] * 5 + ["b"] * 3 + ["c"] * 2, 4)  # 2.0, 1.2, 0.8
    {'a': 2, 'b': 1, 'c': 1}
    """
    sizes, total = Counter(topics), len(topics)
    if n > total:
        raise TooFewQuestions(total, wanted=n)
    given = {topic: n * size // total for topic, size in sizes.items()}
    rest = sorted(sizes, key=lambda topic: -(n * sizes[topic] % total))  # keeps the order of ties
    for topic in rest[: n - sum(given.values())]:
        given[topic] += 1
    return given


def draw(topics: Sequence[str], n: int, *, seed: int) -> list[int]:
    """The positions of `n` questions drawn from those with these topics, in their order.

    Within a topic each question is as likely as the next; the same seed draws the same.

    >>> draw(["a", "b", "a", "b"], 2, seed=42) == draw(["a", "b", "a", "b"], 2, seed=42)
    True
    """
    chance = random.Random(seed)  # noqa: S311 - a sample that can be repeated, no secret
    drawn: list[int] = []
    for topic, share in shares(topics, n).items():
        positions = [position for position, own in enumerate(topics) if own == topic]
        drawn += chance.sample(positions, share)
    return sorted(drawn)
