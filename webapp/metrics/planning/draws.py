"""The draws that made a sample, one after the other, so that anybody can draw it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from webapp.metrics.planning.sampling import DrawnQuestion, allocation, extend

MOST_DRAWS = 1000
"""A sample that says it was drawn in more steps is not drawn again."""


class SampleDraw(Struct, frozen=True):
    """One draw of ``n`` questions beside those drawn before.

    ``stratified``: each category has its share of the sample then. ``category``: all of this one.
    """

    n: int
    stratified: bool = False
    category: str | None = None


def extended(
    before: Sequence[DrawnQuestion], categories: Mapping[int, str], wanted: SampleDraw, seed: int
) -> tuple[DrawnQuestion, ...]:
    """Return a sample after one more draw; `categories` are those of all questions.

    Strata are the categories where the draw asks for them, else all questions together.

    >>> first = extended((), {1: "a", 2: "a", 3: "b"}, SampleDraw(1), 7)
    >>> extended(first, {1: "a", 2: "a", 3: "b"}, SampleDraw(2), 7)[:1] == first
    True
    """
    by_category = wanted.stratified or wanted.category is not None
    strata = categories if by_category else dict.fromkeys(categories, "")
    had = [replace(one, stratum=strata[one.question]) for one in before]
    if wanted.category is not None:
        sizes = Counter(one.stratum for one in had)
        sizes[wanted.category] += wanted.n
        return extend(had, strata, sizes, seed)
    return extend(had, strata, allocation(Counter(strata.values()), len(had) + wanted.n), seed)


def drawn_again(
    categories: Mapping[int, str], draws: Iterable[SampleDraw], seed: int
) -> tuple[DrawnQuestion, ...]:
    """Return the sample that these draws make of all questions, by their positions."""
    found: tuple[DrawnQuestion, ...] = ()
    for one in draws:
        found = extended(found, categories, one, seed)
    return found


def to_settings(draws: Iterable[SampleDraw]) -> list[dict[str, Any]]:
    """Return draws as the settings of a rule hold them."""
    return [asdict(one) for one in draws]


def from_settings(settings: Mapping[str, Any]) -> tuple[SampleDraw, ...]:
    """Return the draws that the settings of a rule state; raises ``ValueError``.

    Settings that state a size alone are of a sample drawn at once.
    """
    alone = {"n": settings.get("size", 0), "stratified": settings.get("stratified", False)}
    listed = settings.get("draws", [alone])
    if not isinstance(listed, Sequence) or len(listed) > MOST_DRAWS:
        raise ValueError("draws")
    return tuple(map(_draw, listed))


def _draw(stated: object) -> SampleDraw:
    if not isinstance(stated, Mapping):
        raise ValueError("draws")  # noqa: TRY004 - a file's content, not a caller's mistake
    n, stratified = stated.get("n"), stated.get("stratified", False)
    category = stated.get("category")
    is_number = isinstance(n, int) and not isinstance(n, bool) and n >= 0
    if not (is_number and isinstance(stratified, bool) and isinstance(category, str | None)):
        raise ValueError("draws")
    return SampleDraw(n, stratified, category)  # type: ignore[arg-type]
