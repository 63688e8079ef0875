"""How well a machine's verdicts predict a person's: a confusion table, kappa, precision, recall.

A pair is (machine, person), true for passed. The person's verdict is taken as the truth:
precision is the share of the machine's passes that a person passes too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct

from webapp.i18n import mark
from webapp.metrics.agreement.agreement import Coefficient, cohen_kappa
from webapp.metrics.comparisons.resampling import Bootstrap


class NoShare(StrEnum):
    """Why precision or recall has no value."""

    MACHINE_PASSED_NOTHING = "machine_passed_nothing"
    PERSON_PASSED_NOTHING = "person_passed_nothing"


EXPLANATIONS = MappingProxyType(
    {
        NoShare.MACHINE_PASSED_NOTHING: mark("The machine passed none of what people judged."),
        NoShare.PERSON_PASSED_NOTHING: mark("People passed none of what they judged."),
    }
)
"""Each reason in words for the reader, as a message id."""


class BinaryAgreement(Struct, frozen=True):
    """Pairs counted: passed by both, by the machine only, by people only, by neither."""

    both: int
    machine_only: int
    people_only: int
    neither: int
    kappa: Coefficient

    @property
    def n(self) -> int:
        """The number of pairs."""
        return self.both + self.machine_only + self.people_only + self.neither

    @property
    def agreed(self) -> float | None:
        """Pairs on which both say the same / all pairs; ``None`` without any."""
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def precision(self) -> float | NoShare:
        """Passed by both / passed by the machine."""
        passed = self.both + self.machine_only
        return self.both / passed if passed else NoShare.MACHINE_PASSED_NOTHING

    @property
    def recall(self) -> float | NoShare:
        """Passed by both / passed by people."""
        passed = self.both + self.people_only
        return self.both / passed if passed else NoShare.PERSON_PASSED_NOTHING


def binary_agreement(
    pairs: Iterable[tuple[bool, bool]], *, bootstrap: Bootstrap | None = None
) -> BinaryAgreement:
    """The agreement of `pairs` of (machine, person); kappa is Cohen's, with its interval.

    >>> found = binary_agreement([(True, True), (True, False), (False, False), (True, True)])
    >>> found.both, found.machine_only, round(found.precision, 4), found.recall
    (2, 1, 0.6667, 1.0)
    >>> found.kappa.value  # (3/4 - 1/2) / (1 - 1/2)
    0.5
    """
    counts = Counter((bool(machine), bool(person)) for machine, person in pairs)
    table = [[int(machine), int(person)] for machine, person in counts.elements()]
    return BinaryAgreement(
        both=counts[True, True],
        machine_only=counts[True, False],
        people_only=counts[False, True],
        neither=counts[False, False],
        kappa=cohen_kappa(table, bootstrap=bootstrap or Bootstrap()),
    )
