"""The figures of runs by people with a machine's help, as pages, reports and files print them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from webapp.metrics.planning.assisted import AssistedMean
from webapp.metrics.planning.chosen_rules import ChosenRule

PART = "machine_help"
"""The name of the part in the files of a comparison."""


class HelpedFigure(Struct, frozen=True):
    """One figure of a run, or with ``second`` the difference of two runs, first minus second.

    ``waiting`` counts sampled questions that people have not judged completely.
    """

    figure: str
    first: str
    second: str | None
    found: AssistedMean
    waiting: int


class MachineHelp(Struct, frozen=True):
    """The figures of runs of one question set by people with a machine's help.

    ``rule`` merges the people, ``machine`` is the judge's name, ``None`` for people alone;
    ``names`` are those of the runs. ``sampling`` is the rule that drew the sample; ``None`` where
    none did and the questions that people have judged stand for it. The machine has cards left in
    ``machine_open`` of the ``questions``.
    """

    machine: str | None
    rule: str
    names: Mapping[str, str]
    sampling: ChosenRule | None
    questions: int
    machine_open: int
    figures: tuple[HelpedFigure, ...]

    @property
    def is_valid(self) -> bool:
        """Whether the sample was drawn by a rule before people judged."""
        return self.sampling is not None and self.sampling.beforehand

    @property
    def waiting(self) -> int:
        """The most sampled questions that a figure waits for."""
        return max((one.waiting for one in self.figures), default=0)

    @property
    def worthless(self) -> tuple[HelpedFigure, ...]:
        """The figures of single runs that the machine helps nothing with."""
        alone = (one for one in self.figures if one.second is None or len(self.names) == 2)
        return tuple(one for one in alone if one.found.is_worthless)
