"""The meaning of every agreement coefficient: one place for page, command line and docs.

All texts but the citations are English message ids, as in ``metrics.judging.registry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webapp.i18n import mark
from webapp.metrics.agreement.agreement import Agreement, Coefficient
from webapp.metrics.agreement.report import ItemKind
from webapp.metrics.judging.registry import Measure, MeasureGroup

KIND_LABELS = {
    ItemKind.CARDS: mark("Cards"),
    ItemKind.EMPTY_LISTS: mark("Empty lists"),
    ItemKind.QUALITY: mark("Response quality"),
}
"""The name of each kind of items."""

SHARED_ITEMS = mark("items that at least two raters decided")
CANNOT_TELL = mark('"Cannot tell" counts as missing.')
ONE_LABEL = mark("No value when only one label was used.")
BEYOND_CHANCE = mark("0 is agreement no better than chance, below 0 is worse, 1 is perfect.")

_MEASURES = (
    Measure(
        name="raw",
        query_name=None,
        label=mark("Raw agreement"),
        meaning=mark("How often two raters of the same item say the same."),
        unit="ratio",
        formula=mark("Pa = mean over items of agreeing pairs of raters / all pairs of raters"),
        denominator=SHARED_ITEMS,
        edge_cases=(mark("Agreement by chance is not taken off."), CANNOT_TELL),
        source="Fleiss, J. L. (1971). Psychological Bulletin 76(5), 378-382.",
    ),
    Measure(
        name="cohen_kappa",
        query_name=None,
        label=mark("Cohen's kappa"),
        meaning=mark("Agreement of two raters beyond what their own habits would give."),
        unit="coefficient",
        formula=mark("(Pa − Pe) / (1 − Pe), Pe = sum over labels of rater A's share × rater B's"),
        denominator=mark("items that both raters decided"),
        edge_cases=(mark("For exactly two raters."), ONE_LABEL, BEYOND_CHANCE),
        source="Cohen, J. (1960). Educational and Psychological Measurement 20(1), 37-46.",
    ),
    Measure(
        name="fleiss_kappa",
        query_name=None,
        label=mark("Fleiss' kappa"),
        meaning=mark("Agreement of any number of raters beyond the labels' overall shares."),
        unit="coefficient",
        formula=mark("(Pa − Pe) / (1 − Pe), Pe = sum over labels of their overall share squared"),
        denominator=SHARED_ITEMS,
        edge_cases=(ONE_LABEL, BEYOND_CHANCE),
        source="Fleiss, J. L. (1971). Psychological Bulletin 76(5), 378-382.",
    ),
    Measure(
        name="krippendorff_alpha",
        query_name=None,
        label=mark("Krippendorff's alpha"),
        meaning=mark("One minus observed over expected disagreement; verdicts may be missing."),
        unit="coefficient",
        formula=mark("1 − observed / expected disagreement"),
        denominator=SHARED_ITEMS,
        edge_cases=(
            mark("Verdicts are names (nominal); quality 0-5 is an order (ordinal)."),
            ONE_LABEL,
            BEYOND_CHANCE,
        ),
        source=(
            "Hayes, A. F., & Krippendorff, K. (2007). "
            "Communication Methods and Measures 1(1), 77-89."
        ),
    ),
    Measure(
        name="gwet_ac1",
        query_name=None,
        label=mark("Gwet's AC1"),
        meaning=mark("Agreement beyond chance that stays steady where one label prevails."),
        unit="coefficient",
        formula=mark("(Pa − Pe) / (1 − Pe), Pe = sum over labels of p (1 − p) / (labels − 1)"),
        denominator=SHARED_ITEMS,
        edge_cases=(mark("Defined, as 1, when only one label was used."), BEYOND_CHANCE),
        source=(
            "Gwet, K. L. (2008). British Journal of Mathematical and Statistical "
            "Psychology 61(1), 29-48."
        ),
    ),
)

COEFFICIENTS: Mapping[str, Measure] = MappingProxyType({m.name: m for m in _MEASURES})
"""Every coefficient by the name it has in JSON, in the order in which they are shown."""

GROUPS = (MeasureGroup("agreement", mark("Inter-rater agreement"), COEFFICIENTS, place=4),)


def coefficients(found: Agreement) -> dict[str, Coefficient]:
    """The coefficients of `found` by their names in ``COEFFICIENTS``, in its order."""
    values = (found.raw, found.cohen, found.fleiss, found.alpha, found.ac1)
    return dict(zip(COEFFICIENTS, values, strict=True))
