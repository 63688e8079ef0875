"""(f) The figures themselves, beside ir_measures and ranx on the same judgments."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.comparing import comparing
from tests.benchmarks.effort import Effort
from tests.benchmarks.races import Race, expect, measured
from tests.benchmarks.results import Section
from webapp.importers.runs import property_cards

CARDS = 1_000

CARD = (
    "{n}. **[Rumah Cemara Asri {n}](https://example.org/listing/rumah-{n})**\n"
    "   - 📍 Cemara, Medan\n"
    "   - 💰 Rp 1.670.000.000\n"
    "   - 🏠 4 Kamar Tidur, 3 Kamar Mandi, LT 105.0m², LB 150m²\n"
)
HOW = """\
In one process, each done about five times. Before anything is timed the yardstick must give
the same figures to 9 decimals, else the benchmark ends. The yardsticks do less than we do: ours
carries the bounds that an unfinished rating can still reach, and a comparison has intervals,
stability and every figure, where ranx has three figures with one test each."""


def figures(effort: Effort, _folder: Path) -> Section:
    """Return what reading cards, summing up and comparing cost."""
    races = (parsing(), *comparing(effort.compared))
    return Section("f. Figures", HOW, [row for race in races for row in measured(race)])


def parsing() -> Race:
    """Cards out of one long answer, against twenty times the answer of a twentieth."""
    long, short = answer(CARDS), answer(CARDS // 20)
    expect((len(property_cards.parse(long)),), (CARDS,))
    return Race(
        f"read {CARDS} cards in one answer (linear: about 1)",
        lambda: property_cards.parse(long),
        f"20 answers of {CARDS // 20} cards",
        lambda: [property_cards.parse(short) for _ in range(20)],
    )


def answer(cards: int) -> str:
    """A chatbot answer that lists `cards` properties."""
    return "\n".join(CARD.format(n=n) for n in range(1, cards + 1))
