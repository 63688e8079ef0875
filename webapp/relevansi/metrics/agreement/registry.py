"""The meaning of every agreement coefficient: ``meanings.toml`` beside this file."""

from __future__ import annotations

from relevansi.i18n import mark
from relevansi.metrics.agreement.agreement import Agreement, Coefficient
from relevansi.metrics.agreement.report import ItemKind
from relevansi.metrics.judging.registry import read_groups

KIND_LABELS = {
    ItemKind.CARDS: mark("Cards"),
    ItemKind.EMPTY_LISTS: mark("Empty lists"),
    ItemKind.QUALITY: mark("Response quality"),
}
"""The name of each kind of items."""

GROUPS = tuple(read_groups(__file__).values())
COEFFICIENTS = GROUPS[0].measures
"""Every coefficient by the name it has in JSON, in the order in which they are shown."""

OF_TWO = ("cohen_kappa", "linear_kappa", "quadratic_kappa")
"""The coefficients that only two raters have."""


def coefficients(agreement: Agreement) -> dict[str, Coefficient]:
    """The coefficients that `agreement` has by their names in ``COEFFICIENTS``, in its order."""
    kappas = (agreement.cohen, agreement.linear, agreement.quadratic, agreement.fleiss)
    values = dict(
        zip(COEFFICIENTS, (agreement.raw, *kappas, agreement.alpha, agreement.ac1), strict=True)
    )
    return {name: coefficient for name, coefficient in values.items() if coefficient is not None}
