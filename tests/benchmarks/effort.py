"""How much is measured: all of it, or just enough to see that every benchmark still works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """Sizes and repetitions of all benchmarks.

    ``clicks`` are those of one contestant in one of the ``rounds``, all clients together, and
    ``seconds`` the longest that these may take. There are so many ``questions`` that hardly a card
    is clicked a third time, as hardly anybody does.
    """

    rounds: int = 6
    clicks: int = 200
    seconds: float = 4.0
    crowd: int = 100
    questions: int = 300
    sizes: tuple[int, ...] = (30, 300, 1_000)
    compared: tuple[int, ...] = (30, 1_000)
    cards: int = 20_000
    starts: int = 11


FULL = Effort()
QUICK = Effort(
    rounds=1,
    clicks=8,
    seconds=2.0,
    crowd=3,
    questions=6,
    sizes=(6, 12),
    compared=(6,),
    cards=200,
    starts=1,
)
